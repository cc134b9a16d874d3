from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.stats.means import group_means, mean, unit_exponent, zero_or_one

ORDINARY_FLOATS = st.floats(-1e6, 1e6)


def exact_mean(values: list[float]) -> float:
    return float(sum((Fraction(value) for value in values), Fraction(0)) / len(values))


@given(st.lists(ORDINARY_FLOATS, min_size=1, max_size=30))
def test_the_mean_is_the_exact_one_but_for_two_roundings(values: list[float]) -> None:
    exact = exact_mean(values)
    assert abs(mean(np.array(values)) - exact) <= 2 * math.ulp(exact)


@given(ORDINARY_FLOATS, st.integers(1, 50))
def test_the_mean_of_equal_values_is_that_value(value: float, n: int) -> None:
    assert mean(np.full(n, value)) == value


def test_three_tenths_do_not_gain_a_digit() -> None:
    assert math.fsum([0.1, 0.1, 0.1]) / 3 != 0.1  # even an exact sum does, once it is rounded
    assert mean(np.array([0.1, 0.1, 0.1])) == 0.1
    assert abs(mean(np.array([0.0, 0.0, 0.3])) - 0.1) < 1e-12


@given(st.lists(ORDINARY_FLOATS, min_size=2, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert mean(np.array(values)) == mean(np.array(shuffled))


def test_huge_values_neither_overflow_nor_cancel() -> None:
    assert mean(np.array([1.7e308, 1.7e308])) == 1.7e308
    assert mean(np.array([1.7e308, -1.7e308, 3e292])) == pytest.approx(1e292, rel=1e-12)


def test_no_values_have_no_mean() -> None:
    with pytest.raises(ValueError, match="mean of no values"):
        mean(np.array([]))


def test_group_means_are_each_groups_mean() -> None:
    values = np.array([0.1, 0.2, 0.1, 0.4, 0.1])
    found = group_means(values, np.array([0, 2, 0, 2, 0]), np.array([3.0, 0.0, 2.0]))
    assert found[0] == 0.1
    assert found[1] == 0.0
    assert found[2] == pytest.approx(0.3, abs=1e-16)


def test_ordinary_values_keep_their_unit_and_extreme_ones_do_not() -> None:
    assert unit_exponent(np.array([0.0, 1.0, -250.0])) == 0
    assert unit_exponent(np.array([])) == 0
    assert unit_exponent(np.array([2.0**600])) == 601
    assert unit_exponent(np.array([0.0, -(2.0**-600)])) == -599


@pytest.mark.parametrize(("values", "expected"), [([0.0, 1.0], True), ([1.0], True), ([0.0, 0.5], False), ([1.0 + 2**-52], False)])
def test_only_exact_zeros_and_ones_are_binary(values: list[float], expected: bool) -> None:
    assert zero_or_one(np.array(values)) is expected
