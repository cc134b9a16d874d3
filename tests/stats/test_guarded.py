from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.stats.clusters import cluster_totals, cr2
from measurand.stats.guarded import few_off_the_mode, guarded_clusters, guarded_rows
from measurand.stats.student import t_quantile


def test_by_hand() -> None:
    # 0.5 four times and a 0: mean 0.4, s² = (4·0.01 + 0.16)/4 = 0.05, SE = √(0.05/5) = 0.1, t_4 = 2.7764; the upper end is its mirror image
    assert guarded_rows(0.5, 0.0, 4, 0.0, 1.0) == pytest.approx((0.4 - 0.27764, 0.6 + 0.27764), abs=1e-5)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_it_is_the_t_interval_of_the_rows_and_one_more(x: list[float]) -> None:
    n = len(x)
    found = guarded_rows(float(np.mean(x)), float(np.std(x, ddof=1) / math.sqrt(n)), n, 0.0, 1.0)
    for end, pseudo, side in ((found[0], 0.0, -1.0), (found[1], 1.0, 1.0)):
        longer = np.array([*x, pseudo])
        assert end == pytest.approx(longer.mean() + side * t_quantile(0.975, n) * longer.std(ddof=1) / math.sqrt(n + 1), abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_singletons_are_guarded_as_rows_are(x: list[float]) -> None:
    n, mean = len(x), float(np.mean(x))
    totals = cluster_totals(np.array(x), np.arange(n), mean)
    rows = guarded_rows(mean, float(np.std(x, ddof=1) / math.sqrt(n)), n, 0.0, 1.0)
    assert guarded_clusters(mean, totals, 0.0, 1.0) == pytest.approx(rows, abs=1e-7)


def test_the_pseudo_cluster_has_the_mean_size() -> None:
    # sizes 2 and 4, so the pseudo-cluster has 3 rows at the end: exactly cr2 of the longer data
    x, codes = np.array([0.5, 0.75, 1, 1, 0.5, 1.0]), np.array([0, 0, 1, 1, 1, 1])
    mean = float(x.mean())
    low, high = guarded_clusters(mean, cluster_totals(x, codes, mean), 0.0, 1.0)
    for end, pseudo, side in ((low, 0.0, -1.0), (high, 1.0, 1.0)):
        longer = np.append(x, [pseudo] * 3)
        spread = cr2(longer, np.append(codes, [2] * 3))
        assert spread.df is not None
        assert spread.std_error is not None
        assert end == pytest.approx(longer.mean() + side * t_quantile(0.975, spread.df) * spread.std_error, rel=1e-12)


def test_equal_clusters_are_guarded_too() -> None:
    wide = guarded_clusters(0.5, cluster_totals(np.array([0.5, 0.5]), np.array([0, 1]), 0.5), 0.0, 1.0)
    assert wide[0] < 0.5 < wide[1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0] * 100 + [0.5] * 19, True),
        ([1.0] * 100 + [0.5] * 20, False),
        ([0.25] * 10 + [0.75] * 10 + [0.5] * 19, False),
        ([0.25] * 19 + [0.75] * 19, True),
        ([0.25] * 20 + [0.75] * 20, False),
        ([0.1 + 0.2] * 21 + [0.3] * 21, True),  # the same value but for rounding
        (list(np.linspace(0, 1, 19)), True),
        (list(np.linspace(0, 1, 21)), False),
        (list(np.linspace(0, 1, 200)), False),
    ],
)
def test_rows_off_the_most_common_value(values: list[float], expected: bool) -> None:
    assert few_off_the_mode(np.array(values), 0.0, 1.0) is expected
    assert few_off_the_mode(np.array(values) * 4 - 2, -2.0, 2.0) is expected


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=90))
def test_counting_by_the_middle_value_is_counting_by_the_mode(values: list[float]) -> None:
    common = max(values.count(value) for value in values)
    assert few_off_the_mode(np.array(values), 0.0, 1.0) is (len(values) - common < 20)
