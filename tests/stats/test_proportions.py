from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.stats.distributions import Z95
from measurand.stats.proportions import effective_n, wilson
from measurand.stats.student import t_quantile


def test_published_example() -> None:
    # Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3 (score): 81/263, 15/148, 0/20, 1/29
    published = {(81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605), (0, 20): (0.0, 0.1611), (1, 29): (0.0061, 0.1718)}
    for (successes, n), ends in published.items():
        assert wilson(successes, n) == pytest.approx(ends, abs=5e-5)


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_equals_scipy(case: tuple[int, int]) -> None:
    successes, n = case
    theirs = stats.binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson(successes, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(st.floats(0.5, 1e6), st.floats(0, 1))
def test_the_share_lies_inside_and_each_end_solves_the_score_equation(n: float, share: float) -> None:
    low, high = wilson(share * n, n)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    for end in (low, high):
        assert abs(share - end) == pytest.approx(Z95 * math.sqrt(end * (1 - end) / n), abs=1e-9)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(2, 9))
def test_more_rows_of_the_same_share_narrow_it(case: tuple[int, int], times: int) -> None:
    successes, n = case
    low, high = wilson(successes, n)
    narrower_low, narrower_high = wilson(times * successes, times * n)
    assert low <= narrower_low + 1e-15
    assert narrower_high <= high + 1e-15
    assert narrower_high - narrower_low < high - low


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_failures_are_the_mirror_image(case: tuple[int, int]) -> None:
    successes, n = case
    low, high = wilson(successes, n)
    assert wilson(n - successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-15)


def test_the_ends_of_the_range_are_exact() -> None:
    assert wilson(0, 7)[0] == 0.0
    assert wilson(7, 7)[1] == 1.0


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (1, 0), (-1, 5), (6, 5), (1, -5), (math.nan, 5), (1, math.nan)])
def test_impossible_counts_are_refused(successes: float, n: float) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        wilson(successes, n)


def test_effective_n_by_hand() -> None:
    # p(1-p)/V = 0.25/0.01 = 25 rows of 100, times (t_99/t_9)² = (1.98422/2.26216)² = 0.76937
    assert effective_n(0.5, 100, 0.01, 9.0, 10) == pytest.approx(25 * 0.76937, rel=1e-4)
    # never worth more rows than there are
    assert effective_n(0.5, 100, 1e-9, 99.0, 100) == 100.0
    # no variance between clusters: the clusters are what there is
    assert effective_n(1.0, 100, 0.0, 9.0, 10) == pytest.approx(10 * (t_quantile(0.975, 99) / t_quantile(0.975, 9)) ** 2, rel=1e-12)
