"""How many passed: the share of units on the good side of a metric's threshold."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from attrs import frozen

from measurand.stats.arrays import Bools, Codes, Floats
from measurand.stats.intervals import mean_interval
from measurand.stats.proportions import wilson

Direction: TypeAlias = Literal["higher", "lower", "none"]


@frozen
class PassRate:
    """The share of rows (of tasks, by their mean, where rows carry trials) that passed, with its Wilson interval."""

    value: float
    low: float | None
    high: float | None
    n: int
    interval: str
    notes: tuple[str, ...] = ()


def pass_rate(passed: Bools, clusters: Codes | None = None) -> PassRate | None:
    """The share of units that passed, with its Wilson interval (clustered: with the effective n); None of no units.

    One entry a row; where rows carry trials one a task: pass `on_good_side` of `trials.task_means`.
    """
    if clusters is None and passed.size > 1:
        count, n = int(np.count_nonzero(passed)), passed.size
        low, high = wilson(count, n)
        return PassRate(count / n, min(low, count / n), max(high, count / n), n, "wilson")
    found = mean_interval(passed.astype(np.float64), low=0.0, high=1.0, clusters=clusters)
    return None if found.mean is None else PassRate(found.mean, found.low, found.high, found.n, found.interval, found.notes)


def on_good_side(values: Floats, threshold: float, direction: Direction, slack: float = 0.0) -> Bools:
    """Which values pass: ≥ threshold where higher is better, < threshold where lower is. `slack` is for values that are rounded means.

    Raises:
        ValueError: direction "none", which has no good side.
    """
    if direction == "none":
        raise ValueError("a metric of direction 'none' has no good side; nothing passes or fails")
    return values >= threshold - slack if direction == "higher" else values < threshold - slack
