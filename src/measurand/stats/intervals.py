"""The mean of one column of scores with its interval: which interval belongs to which data."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from attrs import evolve, frozen

from measurand.stats.arrays import Codes, Floats, same_length
from measurand.stats.clusters import Clustered, ClusterTotals, cluster_totals, clustered_error, in_units, naive_variance
from measurand.stats.guarded import few_off_the_mode, guarded_clusters, guarded_rows
from measurand.stats.means import ORDINARY, mean, unit_exponent, zero_or_one
from measurand.stats.proportions import effective_n, wilson
from measurand.stats.student import t_quantile

NO_INTERVAL: Final = "none"
FEW_CLUSTERS: Final = "few clusters"
FEW_ROWS_CARRY: Final = "few rows carry information"
NOTHING: Final = "nothing scored"
ONE_ROW: Final = "n < 2"
ONE_CLUSTER: Final = "fewer than 2 clusters"
TOO_LARGE: Final = "an end is beyond the largest float"
_TOLERANCE = 1e-9  # how far rounding may carry a score over an end of its range


@frozen
class MeanEstimate:
    """A mean and what is known of it. None where there is nothing to say; `notes` says why."""

    mean: float | None
    std_error: float | None
    """√V, also beside a Wilson interval."""
    low: float | None
    high: float | None
    """The 95 % interval, within the range of the scores."""
    interval: str
    """Its method: "wilson", "wilson, clustered", "t", "t, guarded", "t CR2", "t CR2, guarded" or "none"."""
    n: int
    """How many values the mean is of."""
    df: float | None = None
    """Degrees of freedom of `std_error`."""
    notes: tuple[str, ...] = ()
    clustered: Clustered | None = None


class _Ends(NamedTuple):
    low: float
    high: float
    interval: str
    notes: tuple[str, ...] = ()


def t_interval(mean: float, std_error: float, df: float, low: float = -math.inf, high: float = math.inf) -> tuple[float, float]:
    """The 95 % interval mean ± t·SE, clipped to the range low … high.

    Source: Student 1908, The probable error of a mean, Biometrika 6(1), 1-25.
    """
    half = t_quantile(0.975, df) * std_error
    return max(mean - half, low), min(mean + half, high)


def mean_interval(scores: Floats, *, low: float, high: float, clusters: Codes | None = None) -> MeanEstimate:
    """The mean of the scores with the 95 % interval that fits them.

    All values 0 or 1, whatever the metric's declared type: Wilson (clustered: with the effective n). Else mean ± t·SE, clipped to the
    range `low` … `high` (infinite where there is no end), with CR2 and its degrees of freedom where rows are clustered. All values equal,
    or fewer than 20 off the most common value in a range with two ends: guarded ends (`guarded.py`). Fewer than 2 rows or clusters: no
    interval. Fewer than 10 clusters or ν < 5: the note "few clusters".
    A negative cluster code is a row in no cluster; where no two rows share a cluster there is nothing to correct.
    `scores` holds no NaN: leave out the unscored rows and count them.

    Raises:
        ValueError: NaN, infinite or out-of-range scores, arrays of different length, low ≥ high.
    """
    same_length(scores, clusters=clusters)
    check_scores(scores, low, high)
    low, high = float(low), float(high)
    exponent = 0 if zero_or_one(scores) else unit_exponent(scores)
    if not exponent or (exponent < 0 and _has_two_ends(low, high)):  # next to such a range tiny values are 0
        return _mean_interval(scores, low, high, clusters)
    found = _mean_interval(np.ldexp(scores, -exponent), _moved(low, -exponent), _moved(high, -exponent), clusters)
    return _in_units(found, exponent)


def check_scores(scores: Floats, low: float, high: float) -> None:
    """Raise ValueError when a score is NaN, infinite or outside low … high by more than rounding, or the range is empty."""
    if not low < high:
        raise ValueError(f"the range {low} … {high} is empty")
    if not np.isfinite(scores).all():
        raise ValueError("a score is NaN or infinite; rows without a score are to be left out")
    outside = np.flatnonzero((scores < low - _TOLERANCE * max(1.0, abs(low))) | (scores > high + _TOLERANCE * max(1.0, abs(high))))
    if outside.size:
        raise ValueError(f"score {float(scores[outside[0]])} of row {int(outside[0])} is outside the range {low} … {high}")


def _mean_interval(scores: Floats, low: float, high: float, clusters: Codes | None) -> MeanEstimate:
    n = scores.size
    if n == 0:
        return MeanEstimate(None, None, None, None, NO_INTERVAL, 0, notes=(NOTHING,))
    centre = mean(scores)
    naive = naive_variance(scores, centre)
    totals = None if clusters is None else cluster_totals(scores, clusters, centre)
    if totals is not None:
        spread = clustered_error(totals, naive)
        if totals.sizes.size < n or n == 1:
            return _of_clusters(scores, centre, totals, spread, low, high)
        return evolve(_of_rows(scores, centre, naive, low, high), clustered=spread)
    return _of_rows(scores, centre, naive, low, high)


def _of_rows(scores: Floats, centre: float, naive: float | None, low: float, high: float) -> MeanEstimate:
    n = scores.size
    if naive is None:
        return MeanEstimate(centre, None, None, None, NO_INTERVAL, n, notes=(ONE_ROW,))
    std_error = math.sqrt(naive)
    if zero_or_one(scores):
        ends = _Ends(*wilson(float(np.count_nonzero(scores)), n), "wilson")
    elif _guards(scores, low, high):
        ends = _Ends(*guarded_rows(centre, std_error, n, low, high), "t, guarded", (FEW_ROWS_CARRY,))
    else:
        ends = _Ends(*t_interval(centre, std_error, n - 1), "t", _constant(scores))
    return _estimate(centre, std_error, n - 1, n, ends, low, high)


def _of_clusters(scores: Floats, centre: float, totals: ClusterTotals, spread: Clustered, low: float, high: float) -> MeanEstimate:
    n = scores.size
    if spread.std_error is None or spread.df is None:
        reason = ONE_ROW if n < 2 else ONE_CLUSTER
        return MeanEstimate(centre, None, None, None, NO_INTERVAL, n, notes=(reason,), clustered=spread)
    if zero_or_one(scores):
        rows = effective_n(centre, n, spread.std_error**2, spread.df, spread.n_clusters)
        ends = _Ends(*wilson(centre * rows, rows), "wilson, clustered")
    elif _guards(scores, low, high):
        ends = _Ends(*guarded_clusters(centre, totals, low, high), "t CR2, guarded", (FEW_ROWS_CARRY,))
    else:
        ends = _Ends(*t_interval(centre, spread.std_error, spread.df), "t CR2", _constant(scores))
    few = (FEW_CLUSTERS,) if spread.n_clusters < 10 or spread.df < 5 else ()
    found = _estimate(centre, spread.std_error, spread.df, n, ends, low, high)
    return evolve(found, notes=few + found.notes, clustered=spread)


def _guards(scores: Floats, low: float, high: float) -> bool:
    return _has_two_ends(low, high) and few_off_the_mode(scores, low, high)


def _has_two_ends(low: float, high: float) -> bool:
    return high - low < math.ldexp(1.0, ORDINARY)


def _constant(scores: Floats) -> tuple[str, ...]:
    # A range without an end gives no pseudo-row to guard with: the interval is a point, and the note says what it is worth.
    return (FEW_ROWS_CARRY,) if scores.min() == scores.max() else ()


def _estimate(centre: float, std_error: float, df: float, n: int, ends: _Ends, low: float, high: float) -> MeanEstimate:
    """The interval within the range; the mean is inside it, whatever the last digit of an end."""
    return MeanEstimate(
        mean=centre,
        std_error=std_error,
        low=min(max(ends.low, low), centre),
        high=max(min(ends.high, high), centre),
        interval=ends.interval,
        n=n,
        df=df,
        notes=ends.notes,
    )


def _moved(end: float, exponent: int) -> float:
    try:
        return math.ldexp(end, exponent)
    except OverflowError:
        return math.copysign(math.inf, end)


def _in_units(found: MeanEstimate, exponent: int) -> MeanEstimate:
    def back(value: float | None) -> float | None:
        moved = None if value is None else _moved(value, exponent)
        return moved if moved is None or math.isfinite(moved) else None

    low, high = back(found.low), back(found.high)
    lost = (TOO_LARGE,) if (low is None) != (found.low is None) or (high is None) != (found.high is None) else ()
    spread = None if found.clustered is None else in_units(found.clustered, exponent)
    return evolve(found, mean=back(found.mean), std_error=back(found.std_error), low=low, high=high, notes=found.notes + lost, clustered=spread)
