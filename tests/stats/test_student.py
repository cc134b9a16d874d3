"""Quantiles of Student's t against scipy and against printed tables."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from measurand.stats.student import t_quantile


@given(st.floats(0.51, 0.99999), st.floats(0.5, 5_000.0))
def test_as_scipy(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(float(special.stdtrit(df, p)), rel=1e-9)


@pytest.mark.parametrize("df", [0.3, 1, 2, 14.2, 99.5, 999.9, 1_000, 1e4, 1e7])
def test_at_95_percent_to_ten_digits(df: float) -> None:
    assert t_quantile(0.975, df) == pytest.approx(float(special.stdtrit(df, 0.975)), rel=1e-11)


def test_printed_values() -> None:
    """Student's table as every textbook has it."""
    table = {1: 12.706, 5: 2.571, 10: 2.228, 30: 2.042, 120: 1.980}
    assert {df: round(t_quantile(0.975, df), 3) for df in table} == table
    assert t_quantile(0.975, 1) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-13)  # Cauchy
    assert t_quantile(0.975, math.inf) == pytest.approx(1.959963984540054, rel=1e-13)


def test_symmetric() -> None:
    assert t_quantile(0.025, 7.5) == -t_quantile(0.975, 7.5)
    assert t_quantile(0.5, 3) == 0


@pytest.mark.parametrize(("p", "df"), [(0, 3), (1, 3), (0.9, 0), (0.9, -1), (math.nan, 3)])
def test_outside(p: float, df: float) -> None:
    with pytest.raises(ValueError, match="takes 0 < p < 1"):
        t_quantile(p, df)
