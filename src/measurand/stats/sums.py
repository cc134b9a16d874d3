"""A statistic of sums over rows (a corpus score: counts are summed, then scored once), with its bootstrap interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from measurand.stats.arrays import Codes, Floats, dense
from measurand.stats.intervals import NO_INTERVAL
from measurand.stats.statistic import Statistic, undefined

RESAMPLES: Final = 1_000
_SEED: Final = 20_240_229
_FEWEST_ROWS: Final = 20
_FEWEST_GROUPS: Final = 10
_MOST_UNITS: Final = 5_000  # beyond, units are pooled in groups: the interval is the same, the time is bounded


def of_sums(name: str, counts: Floats, statistic: Callable[[Sequence[float]], float | None], units: Codes | None = None) -> Statistic:
    """The statistic of the column sums, with a seeded percentile bootstrap over rows (over `units`, tasks or clusters, where given).

    Args:
        name: what it is called.
        counts: one row of additive counts for each scored row, shape [n, d].
        statistic: from d summed counts to the value; None where it is undefined.
        units: a code for each row; rows of one unit are drawn together.

    No interval with fewer than 20 rows or 10 units (Efron & Tibshirani 1993, ch. 13, for the percentile interval; Koehn 2004 for corpus scores).
    """
    n = counts.shape[0]
    value = statistic(counts.sum(axis=0).tolist()) if n else None
    if value is None:
        return undefined(name, n, "nothing scored")
    sums = counts if units is None else _pooled(counts, dense(units))
    if n < _FEWEST_ROWS or sums.shape[0] < _FEWEST_GROUPS:
        return Statistic(name, value, None, None, NO_INTERVAL, n, f"fewer than {_FEWEST_ROWS} rows or {_FEWEST_GROUPS} groups")
    if sums.shape[0] > _MOST_UNITS:
        sums = _pooled(sums, np.arange(sums.shape[0]) % _MOST_UNITS)
    drawn = [statistic(one.tolist()) for one in _resampled(sums)]
    known = np.array([one for one in drawn if one is not None])
    low, high = np.quantile(known, (0.025, 0.975)).tolist()
    return Statistic(name, value, low, high, "bootstrap", sums.shape[0] if units is not None else n)


def _pooled(counts: Floats, codes: Codes) -> Floats:
    total = int(codes.max()) + 1
    return np.stack([np.bincount(codes, counts[:, column], total) for column in range(counts.shape[1])], axis=1)


def _resampled(sums: Floats) -> Floats:
    random = np.random.default_rng(_SEED)
    n = sums.shape[0]
    return np.stack([np.bincount(random.integers(n, size=n), minlength=n) @ sums for _ in range(RESAMPLES)])
