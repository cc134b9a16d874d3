"""The few distribution functions the intervals need. The only file that touches scipy, and only where a run has quantiles to bound (see `student.py`)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

Z95: Final = 1.959963984540054
"""The 0.975 quantile of the normal distribution."""


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X ≤ k), X binomial with n trials and probability p."""
    from scipy import special

    return float(special.bdtr(float(k), n, p))


def most_at_or_below(tail: float, n: int, p: float) -> int:
    """How many of 0, 1, … n have P(X ≤ k) ≤ tail, X binomial(n, p)."""
    return bisect_right(range(n), tail, key=lambda k: binomial_cdf(k, n, p))


def first_at_or_above(level: float, n: int, p: float) -> int | None:
    """The least k < n with P(X ≤ k) ≥ level, X binomial(n, p); None when only k = n has it."""
    k = bisect_left(range(n), level, key=lambda k: binomial_cdf(k, n, p))
    return k if k < n else None
