"""Means of exact sums, and the units in which sums of squares neither overflow nor vanish."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from measurand.stats.arrays import Codes, Floats, blocks

ORDINARY: Final = 400
"""Values between 2**-400 and 2**400 can be squared and summed as they are."""


def unit_exponent(values: Floats) -> int:
    """The e for which values / 2**e can be squared and summed: 0 for ordinary values, so that those are left alone.

    Dividing by a power of two changes no digit.
    """
    peak = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    exponent = math.frexp(peak)[1]
    return exponent if abs(exponent) > ORDINARY else 0


def mean(values: Floats) -> float:
    """The arithmetic mean of the exact sum: equal values give that value, and the order of the rows does not matter.

    Raises:
        ValueError: there are no values.
    """
    n = values.size
    if n == 0:
        raise ValueError("the mean of no values is not defined")
    exponent = unit_exponent(values)
    if exponent:
        return math.ldexp(mean(np.ldexp(values, -exponent)), exponent)
    return min(max(math.fsum(values) / n, float(values.min())), float(values.max()))  # an exact sum, divided, may still leave 0.1, 0.1, 0.1


def group_means(values: Floats, codes: Codes, counts: Floats) -> Floats:
    """The mean of the values of each code, corrected once for rounding; `counts` is the number of rows of each code (0 gives 0)."""
    exponent = unit_exponent(values)
    if exponent:
        return np.ldexp(group_means(np.ldexp(values, -exponent), codes, counts), exponent)
    divisor = np.maximum(counts, 1.0)
    first = np.bincount(codes, values, counts.size) / divisor
    first += np.bincount(codes, deviations(values, first, codes), counts.size) / divisor
    return first


def deviations(values: Floats, means: Floats, codes: Codes) -> Floats:
    """Each value less the mean of its code."""
    found = means[codes]
    return np.subtract(values, found, out=found)


def sum_of_squares(values: Floats, centre: float) -> float:
    """Σ (x − centre)², for values in ordinary units."""
    return math.fsum(float(np.dot(away, away)) for away in (block - centre for block in blocks(values)))


def zero_or_one(values: Floats) -> bool:
    """Whether every value is exactly 0 or 1 (true of no values)."""
    return bool(np.all((values == 0.0) | (values == 1.0)))
