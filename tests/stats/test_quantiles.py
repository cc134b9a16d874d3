from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.stats.quantiles import quantile_interval


def test_ranks_by_the_binomial_table() -> None:
    # n = 100, q = 0.95: P(X ≤ 89) = .0115 ≤ .025 < P(X ≤ 90) = .0282, so from the 90th; P(X ≤ 98) = .963 < .975 ≤ P(X ≤ 99) = .994, so to the 100th
    found = quantile_interval(np.arange(1.0, 101), 0.95, name="p95")
    assert (found.low, found.high, found.interval, found.n, found.reason) == (90.0, 100.0, "order statistics", 100, "")
    # n = 100, q = 0.5: P(X ≤ 39) = .0176, P(X ≤ 40) = .0284: from the 40th to, by symmetry, the 61st
    found = quantile_interval(np.arange(1.0, 101), 0.5, name="p50")
    assert (found.low, found.high) == (40.0, 61.0)


@pytest.mark.parametrize(("n", "high"), [(71, None), (72, 72.0)])
def test_p95_has_an_upper_end_from_72_rows(n: int, high: float | None) -> None:
    found = quantile_interval(np.arange(1.0, n + 1), 0.95, name="p95")
    assert found.high == high
    assert found.low is not None
    assert found.reason == ("" if high else "n too small for an upper end")


def test_a_median_of_five_has_no_ends_and_of_six_all_of_them() -> None:
    five = quantile_interval(np.arange(1.0, 6), 0.5, name="p50")
    assert (five.value, five.low, five.high, five.interval) == (3.0, None, None, "none")
    assert five.reason == "n too small for a lower end; n too small for an upper end"
    six = quantile_interval(np.arange(1.0, 7), 0.5, name="p50")  # 2·0.5⁶ = 0.031
    assert (six.low, six.high) == (1.0, 6.0)


@given(st.integers(2, 300), st.sampled_from([0.5, 0.9, 0.95]))
def test_the_ends_cover_at_least_95_percent_exactly(n: int, q: float) -> None:
    found = quantile_interval(np.arange(1.0, n + 1), q, name="q")
    below = 0.0 if found.low is None else stats.binom.cdf(found.low - 1, n, q)
    above = 0.0 if found.high is None else stats.binom.sf(found.high - 1, n, q)
    assert below <= 0.025 + 1e-12
    assert above <= 0.025 + 1e-12
    # and no narrower ranks would do
    if found.low is not None:
        assert stats.binom.cdf(found.low, n, q) > 0.025
    if found.high is not None:
        assert stats.binom.sf(found.high - 2, n, q) > 0.025


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50), st.floats(0, 1))
def test_the_value_is_numpys_and_lies_inside(values: list[float], q: float) -> None:
    found = quantile_interval(np.array(values), q, name="q")
    assert found.value == pytest.approx(float(np.quantile(values, q)), rel=1e-9, abs=1e-9)
    assert found.value is not None
    assert found.low is None or found.low <= found.value
    assert found.high is None or found.value <= found.high


def test_huge_neighbours_are_interpolated_without_overflow() -> None:
    found = quantile_interval(np.array([-1.7e308, 1.7e308]), 0.5, name="p50")
    assert found.value == 0.0


def test_copies_of_a_row_carry_no_more_than_the_row() -> None:
    x = np.random.default_rng(5).lognormal(size=100)
    once = quantile_interval(x, 0.95, name="p95", clusters=np.arange(100))
    assert once == quantile_interval(x, 0.95, name="p95")
    copied = quantile_interval(np.repeat(x, 6), 0.95, name="p95", clusters=np.repeat(np.arange(100), 6))
    assert copied.interval == "order statistics, clustered"
    assert copied.n == 600
    assert copied.low is not None
    assert once.low is not None
    assert copied.high is not None
    assert once.high is not None
    as_if_independent = quantile_interval(np.repeat(x, 6), 0.95, name="p95")
    assert as_if_independent.low is not None
    assert copied.low <= once.low < as_if_independent.low  # 6 copies of 100 rows are worth no more than 100 rows
    assert copied.high == once.high


def test_too_few_clusters() -> None:
    x = np.arange(1.0, 101)
    one = quantile_interval(x, 0.5, name="p50", clusters=np.zeros(100, np.int64))
    assert (one.value, one.low, one.high, one.interval, one.reason) == (50.5, None, None, "none", "fewer than 2 clusters")
    few = quantile_interval(np.tile(np.arange(1.0, 11), 9), 0.5, name="p50", clusters=np.repeat(np.arange(9), 10))
    assert few.reason == "few clusters"
    assert few.low is not None
    assert few.high is not None
    assert few.low < 5.5 < few.high


def test_nothing_scored() -> None:
    found = quantile_interval(np.array([]), 0.95, name="p95")
    assert (found.value, found.n, found.reason) == (None, 0, "nothing scored")


def test_two_rows_are_no_nan() -> None:
    found = quantile_interval(np.array([1.0, 3.0]), 0.95, name="p95")
    assert found.value == pytest.approx(2.9)
    assert not any(isinstance(one, float) and math.isnan(one) for one in (found.value, found.low))
