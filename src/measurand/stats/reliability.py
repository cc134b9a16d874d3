"""What repetitions of a task tell, as means over tasks: pass@k, pass^k, how often a task flips, how many tasks are flaky."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import numpy as np
from attrs import frozen

from measurand.stats.arrays import Bools, Codes, Floats, dense, same_length
from measurand.stats.intervals import mean_interval
from measurand.stats.pass_rate import Direction
from measurand.stats.repeats import flaky, flip_probability, pass_at_k, pass_hat_k
from measurand.stats.statistic import Statistic, of_mean, undefined

Type: TypeAlias = Literal["binary", "proportion", "continuous", "count"]

PerTask: TypeAlias = Callable[[Codes, Codes], Floats]
"""Trials and successes by task → one value in [0, 1] by task."""

FLIP: Final = "flip_probability"
FLAKE: Final = "flake_rate"

_CLOSE = 1e-6  # a success within rounding is one


@frozen
class TaskCounts:
    """Per task that has a scored trial: how many trials were scored, how many of these succeeded, and its cluster."""

    trials: Codes
    successes: Codes
    clusters: Codes | None
    left_out: int
    """Tasks left out because they have fewer scored trials than was asked for."""

    @property
    def fewest(self) -> int:
        """K, the smallest number of scored trials of the tasks shown; 0 when there is none."""
        return int(self.trials.min()) if self.trials.size else 0

    @property
    def most(self) -> int:
        """The largest number of scored trials of the tasks shown; 0 when there is none."""
        return int(self.trials.max(initial=0))

    @property
    def trials_range(self) -> str:
        """Scored trials per task as printed: "4" or "3-4"."""
        return str(self.most) if self.fewest == self.most else f"{self.fewest}-{self.most}"


def successes(scores: Floats, *, type: Type, direction: Direction, threshold: float | None) -> Bools | None:
    """Which scores are a success; None where the metric knows no success (no threshold and not binary, or no good side).

    Binary: score = 1. Else: score ≥ threshold. Within 1e-6. Where lower is better the good side is the other one: 0, and below the threshold.
    """
    if direction == "none":
        return None
    if type == "binary":
        return np.abs(scores - (1.0 if direction == "higher" else 0.0)) <= _CLOSE
    if threshold is None:
        return None
    return scores >= threshold - _CLOSE if direction == "higher" else scores < threshold - _CLOSE


def count_trials(success: Bools, tasks: Codes, *, clusters: Codes | None = None, min_trials: int | None = None) -> TaskCounts:
    """Trials and successes by task, of the scored rows alone: an unscored trial is no failure, it lowers its task's number of trials.

    `clusters`: one code a row, the same for all rows of a task. `min_trials`: tasks with fewer scored trials are left out, and counted.
    """
    same_length(success, tasks=tasks, clusters=clusters)
    codes = dense(tasks)
    trials = np.bincount(codes)
    shown = trials >= max(min_trials or 1, 1)
    left_out = int(np.count_nonzero((trials > 0) & ~shown))
    of_task = None
    if clusters is not None:
        of_task = np.zeros(trials.size, np.int64)
        of_task[codes] = clusters
        of_task = of_task[shown]
    won = np.bincount(codes, success, trials.size).astype(np.int64)
    return TaskCounts(trials[shown].astype(np.int64), won[shown], of_task, left_out)


def pass_curve(sign: Literal["pass@", "pass^"], counts: TaskCounts, k_max: int) -> list[Statistic]:
    """pass@1 … pass@k_max (or pass^): k beyond the fewest scored trials of a task has no value, and says why."""
    formula = pass_at_k if sign == "pass@" else pass_hat_k

    def one(k: int) -> Statistic:
        return over_tasks(f"{sign}{k}", lambda trials, won: formula(trials, won, k), counts, k)

    return [one(k) for k in range(1, k_max + 1)]


def flip_statistic(counts: TaskCounts) -> Statistic:
    """The mean over tasks of the chance that two trials of the task differ."""
    return over_tasks(FLIP, flip_probability, counts, 2)


def flake_statistic(counts: TaskCounts) -> Statistic:
    """The share of tasks that both succeeded and failed."""
    return over_tasks(FLAKE, flaky, counts, 2)


def over_tasks(name: str, by_task: PerTask, counts: TaskCounts, needed: int) -> Statistic:
    """The mean over tasks of a value in [0, 1], its interval over tasks (clusters); no value where a task has fewer than `needed` scored trials."""
    tasks = counts.trials.size
    if not tasks:
        return undefined(name, 0, "no task has enough scored trials")
    if counts.fewest < needed:
        return undefined(name, tasks, f"needs {needed} scored trials of every task; they have {counts.trials_range}")
    return of_mean(name, mean_interval(by_task(counts.trials, counts.successes), low=0.0, high=1.0, clusters=counts.clusters))
