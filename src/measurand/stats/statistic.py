"""One named number beside a mean, with its interval."""

from __future__ import annotations

from attrs import frozen

from measurand.stats.intervals import NO_INTERVAL, MeanEstimate


@frozen
class Statistic:
    """A named number with its 95 % interval. `value` is None where it is not defined; `reason` says why, or why an end is missing."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    interval: str
    n: int
    reason: str = ""


def undefined(name: str, n: int, reason: str) -> Statistic:
    """A statistic without a value, and why."""
    return Statistic(name, None, None, None, NO_INTERVAL, n, reason)


def of_mean(name: str, found: MeanEstimate) -> Statistic:
    """A mean as a statistic of that name."""
    return Statistic(name, found.mean, found.low, found.high, found.interval, found.n, "; ".join(found.notes))
