from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.stats.icc import icc1


def test_shrout_and_fleiss() -> None:
    # Shrout & Fleiss 1979, table 2: six targets, four judges; ICC(1,1) = .17 (table 4); MSB 11.24, MSW 6.26
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7.0]])
    found = icc1(ratings.ravel(), np.repeat(np.arange(6), 4))
    assert found == pytest.approx(0.17, abs=0.005)
    assert found == pytest.approx((11.2417 - 6.2639) / (11.2417 + 3 * 6.2639), abs=1e-4)


def test_unequal_groups_by_hand() -> None:
    # groups {1, 0} and {1, 1, 0, 1}: N = 6, x̄ = 2/3, MSB = 2/36 + 4/144 = 1/12, MSW = (1/2 + 3/4)/4 = 5/16, k0 = 6 − 20/6 = 8/3
    found = icc1(np.array([1.0, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 1, 1]))
    assert found == pytest.approx((1 / 12 - 5 / 16) / (1 / 12 + 5 / 3 * 5 / 16))


@given(st.integers(2, 8), st.integers(2, 5))
def test_trials_that_never_differ_are_wholly_alike(tasks: int, trials: int) -> None:
    values = np.repeat(np.arange(tasks) / tasks, trials)
    assert icc1(values, np.repeat(np.arange(tasks), trials)) == pytest.approx(1.0)


def test_it_is_shown_as_computed_when_negative() -> None:
    # every task once right and once wrong: MSB = 0, so −1/(k0−1) = −1
    assert icc1(np.array([0.0, 1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("scores", "groups"),
    [([], []), ([1.0], [0]), ([0.5, 0.5, 0.5, 0.5], [0, 0, 1, 1]), ([0.0, 1.0], [0, 0]), ([0.0, 1.0, 1.0], [0, 1, 2])],
)
def test_null_where_nothing_varies_or_there_is_nothing_to_compare(scores: list[float], groups: list[int]) -> None:
    assert icc1(np.array(scores, np.float64), np.array(groups, np.int64)) is None


def test_huge_values_are_no_nan() -> None:
    x = np.array([1.0, 2, 4, 3, 7, 9])
    groups = np.array([0, 0, 1, 1, 2, 2])
    assert icc1(x * 2.0**1000, groups) == pytest.approx(icc1(x, groups))
