"""Guarded ends: what the t interval would be if one more row had come out as badly, or as well, as the range allows.

Rows piled at one value say little about the rare others; a t interval of them is far too narrow (coverage 0.53 at n = 30 where 97 % are
at the top). One pseudo-row, or pseudo-cluster of mean size, at the end of the range makes it wide enough. Chosen by simulation
(tests/simulation), not from a paper; the idea of adding pseudo-observations is Agresti & Coull's (1998, The American Statistician 52(2), 119-126).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from measurand.stats.arrays import Floats, blocks
from measurand.stats.clusters import ClusterTotals, cluster_variance, degrees_of_freedom
from measurand.stats.student import t_quantile

FEW_ROWS: Final = 20
"""Fewer rows than this off the most common value: the interval is guarded."""

_SAME = 12  # decimals of the range within which values count as equal


def few_off_the_mode(values: Floats, low: float, high: float) -> bool:
    """Whether fewer than 20 of the values, all within the finite range low … high, differ from the most common one."""
    n = values.size
    # A value that all but 19 rows have is the commonest of the first 39 rows, too.
    first = _shares(values[: 2 * FEW_ROWS - 1], low, high)
    distinct, counts = np.unique(first, return_counts=True)
    commonest = distinct[counts.argmax()]
    same = sum(int(np.count_nonzero(_shares(block, low, high) == commonest)) for block in blocks(values))
    return n - same < FEW_ROWS


def _shares(values: Floats, low: float, high: float) -> Floats:
    return np.round((values - low) / (high - low), _SAME)


def guarded_rows(mean: float, std_error: float, n: int, low: float, high: float) -> tuple[float, float]:
    """The guarded 95 % ends of the mean of n independent rows (n ≥ 2); not clipped."""
    squares = std_error * std_error * n * (n - 1)

    def end(pseudo: float, side: float) -> float:
        shift = (pseudo - mean) / (n + 1)
        variance = (squares + shift * (pseudo - mean) * n) / n / (n + 1)
        return mean + shift + side * t_quantile(0.975, n) * math.sqrt(variance)

    return end(low, -1.0), end(high, 1.0)


def guarded_clusters(mean: float, totals: ClusterTotals, low: float, high: float) -> tuple[float, float]:
    """The guarded 95 % ends of the mean of clustered rows (2 clusters or more); not clipped."""
    n = float(totals.sizes.sum())
    size = n / totals.sizes.size

    def end(pseudo: float, side: float) -> float:
        shift = size * (pseudo - mean) / (n + size)
        moved = totals.residuals - totals.sizes * shift
        added = size * (pseudo - mean - shift)
        longer = ClusterTotals(np.append(totals.sizes, size), np.append(moved, added))
        return mean + shift + side * t_quantile(0.975, degrees_of_freedom(longer.sizes)) * math.sqrt(cluster_variance(longer))

    return end(low, -1.0), end(high, 1.0)
