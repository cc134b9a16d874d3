"""Quantiles of unbounded scores (latency, cost, counts) with intervals that assume nothing of their shape."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from measurand.stats.arrays import Codes, Floats, same_length
from measurand.stats.clusters import cr2
from measurand.stats.distributions import first_at_or_above, most_at_or_below
from measurand.stats.intervals import FEW_CLUSTERS, NO_INTERVAL, NOTHING, ONE_CLUSTER
from measurand.stats.proportions import effective_n
from measurand.stats.statistic import Statistic, undefined

_TAIL: Final = 0.025
NO_UPPER: Final = "n too small for an upper end"
NO_LOWER: Final = "n too small for a lower end"


def quantile_interval(values: Floats, q: float, *, name: str, clusters: Codes | None = None) -> Statistic:
    """The sample quantile with a 95 % interval between two order statistics.

    The value interpolates between neighbours (Hyndman & Fan 1996, type 7). The ends are the order statistics whose ranks cut off 2.5 % of
    the binomial(n, q) on either side (David & Nagaraja 2003, Order Statistics, §7.1); where no rank does, that end is None: p95 has an upper
    end from n = 72. Clustered rows: the ranks of n* rows, spread over n, with n* of the indicator x ≤ q̂ (Woodruff 1952, JASA 47(260),
    635-646; Korn & Graubard 1998).

    Args:
        values: finite scores, one a row.
        q: between 0 and 1.
        name: the statistic's name.
        clusters: one code a row; negative: in no cluster.

    Raises:
        ValueError: arrays of different length.
    """
    same_length(values, clusters=clusters)
    n = values.size
    if n == 0:
        return undefined(name, 0, NOTHING)
    ordered = np.sort(values)
    value = _interpolated(ordered, q)
    rows, method, notes = _worth(values, value, clusters)
    if rows is None:
        return Statistic(name, value, None, None, NO_INTERVAL, n, "; ".join(notes))
    low, high = _ends(ordered, q, rows)
    low, high = (low if low is None else min(low, value)), (high if high is None else max(high, value))  # a value between two rows may lie outside
    notes += (NO_LOWER,) * (low is None) + (NO_UPPER,) * (high is None)
    return Statistic(name, value, low, high, NO_INTERVAL if low is None and high is None else method, n, "; ".join(notes))


def _interpolated(ordered: Floats, q: float) -> float:
    position = (ordered.size - 1) * q
    below = math.floor(position)
    part = position - below
    left, right = float(ordered[below]), float(ordered[min(below + 1, ordered.size - 1)])
    return min(max(left * (1.0 - part) + right * part, left), right)


def _worth(values: Floats, value: float, clusters: Codes | None) -> tuple[int | None, str, tuple[str, ...]]:
    """How many independent rows these are worth at the quantile (None: no interval), the method's name, and what to note."""
    n = values.size
    if clusters is None:
        return n, "order statistics", ()
    below = (values <= value).astype(np.float64)
    spread = cr2(below, clusters)
    if spread.n_clusters == n:
        return n, "order statistics", ()
    if spread.variance is None or spread.df is None:
        return None, NO_INTERVAL, (ONE_CLUSTER,)
    worth = effective_n(float(below.mean()), n, spread.variance, spread.df, spread.n_clusters)
    few = (FEW_CLUSTERS,) if spread.n_clusters < 10 or spread.df < 5 else ()
    return max(math.floor(worth), 1), "order statistics, clustered", few


def _ends(ordered: Floats, q: float, rows: int) -> tuple[float | None, float | None]:
    n = ordered.size
    below = most_at_or_below(_TAIL, rows, q)  # the rank of the lower end among `rows`; 0: there is none
    above = first_at_or_above(1.0 - _TAIL, rows, q)
    low = float(ordered[math.floor((below - 1) * n / rows)]) if below else None
    high = float(ordered[n - 1 - math.floor((rows - 1 - above) * n / rows)]) if above is not None else None
    return low, high
