"""Everything one run says about one metric."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Final

import numpy as np
from attrs import frozen

from measurand.stats.arrays import Codes, Floats, dense, same_length
from measurand.stats.clusters import Clustered
from measurand.stats.icc import icc1
from measurand.stats.intervals import NO_INTERVAL, check_scores, mean_interval
from measurand.stats.pass_rate import Direction, PassRate, on_good_side, pass_rate
from measurand.stats.quantiles import quantile_interval
from measurand.stats.reliability import FLAKE, FLIP, TaskCounts, Type, count_trials, flake_statistic, flip_statistic, pass_curve, successes
from measurand.stats.statistic import Statistic, undefined
from measurand.stats.trials import TaskMeans, clusters_of_tasks, task_means

ICC: Final = "icc1"
ALL_STATISTICS: Final = ("pass@k", "pass^k", FLIP, FLAKE, ICC, "p50", "p95")

_MEAN_ROUNDING = 1e-12  # how far rounding may carry a task's mean from the threshold it equals


@frozen
class Trials:
    """How often tasks were tried, as the reliability statistics count them."""

    tasks: int
    """Tasks these statistics are over."""
    fewest: int
    """Scored trials of the task with the fewest: k runs up to it."""
    most: int
    left_out: int
    """Tasks with fewer scored trials than `min_trials`."""
    unscored: int
    """Tasks without any scored trial: in no figure at all."""


@frozen
class MetricSummary:
    """One metric of one run. None where there is nothing to say; never NaN."""

    n: int
    """Units of the interval: tasks where rows carry trials, else rows."""
    rows_scored: int
    mean: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    interval: str
    notes: tuple[str, ...]
    pass_rate: PassRate | None
    clustered: Clustered | None
    statistics: tuple[Statistic, ...]
    trials: Trials | None

    @property
    def interval_and_notes(self) -> str:
        """The method with what must be printed beside it: "t CR2, guarded; few clusters; few rows carry information"."""
        return "; ".join((self.interval, *self.notes))


@frozen
class _Rows:
    """The scored rows of one metric, and how many trials tasks were to have."""

    scores: Floats
    tasks: Codes | None
    clusters: Codes | None
    planned: int


@frozen
class _Rule:
    """What of a metric decides about success and range."""

    type: Type
    direction: Direction
    low: float
    high: float
    threshold: float | None


def summarise_metric(
    scores: Floats,
    *,
    type: Type,
    direction: Direction,
    low: float = -math.inf,
    high: float = math.inf,
    threshold: float | None = None,
    tasks: Codes | None = None,
    clusters: Codes | None = None,
    k_max: int | None = None,
    min_trials: int | None = None,
    statistics: Collection[str] = ALL_STATISTICS,
) -> MetricSummary:
    """The mean of one metric with its interval, its pass rate and the statistics that apply.

    Where rows carry trials (`tasks` given) the mean is of task means and tasks are the n. Which interval: see `intervals.mean_interval`.

    Args:
        scores: one a row; NaN: the row has none (error, not applicable). Such a row is in no figure and never a 0.
        type: the metric's; a success of "binary" is the score 1.
        direction: "none" has no pass rate and no pass@k.
        low: the lower end of the metric's range, in its unit; -inf where there is none.
        high: the upper end; inf where there is none.
        threshold: what a score must reach to pass.
        tasks: a code ≥ 0 a row, given where rows carry `trial`.
        clusters: a code a row, negative: in no cluster; given where rows carry `cluster`. A task lies in one cluster.
        k_max: pass@k up to this k; default: the most trials, scored or not, of a task.
        min_trials: leave tasks with fewer scored trials out of the reliability statistics (never out of the mean), and count them.
        statistics: which to give, of `ALL_STATISTICS`. p50 and p95: of metrics without a finite range, over rows (clustered by task where
            rows carry trials); the others: where rows carry trials.

    Raises:
        ValueError: arrays of different length, a score infinite or out of range, an unknown statistic, a task in two clusters.
    """
    same_length(scores, tasks=tasks, clusters=clusters)
    unknown = sorted(set(statistics) - set(ALL_STATISTICS))
    if unknown:
        raise ValueError(f"unknown statistics {', '.join(unknown)}; known are {', '.join(ALL_STATISTICS)}")
    rule = _Rule(type, direction, low, high, threshold)
    rows = _scored(scores, tasks, clusters)
    check_scores(rows.scores, low, high)
    quantiles = _quantiles(rows, rule, statistics)
    if tasks is None or rows.tasks is None:
        return _summary(rows, rows.scores, rows.clusters, rule, quantiles, None)
    by_task = task_means(scores, tasks)
    repeated, trials = _repetitions(rows, rows.tasks, by_task, rule, k_max, min_trials, statistics)
    return _summary(rows, by_task.means, clusters_of_tasks(by_task, tasks, clusters), rule, repeated + quantiles, trials)


def _scored(scores: Floats, tasks: Codes | None, clusters: Codes | None) -> _Rows:
    scored = ~np.isnan(scores)
    planned = int(np.bincount(dense(tasks)).max(initial=0)) if tasks is not None else 0
    if scored.all():
        return _Rows(scores, tasks, clusters, planned)
    return _Rows(scores[scored], None if tasks is None else tasks[scored], None if clusters is None else clusters[scored], planned)


def _summary(rows: _Rows, units: Floats, clusters: Codes | None, rule: _Rule, statistics: list[Statistic], trials: Trials | None) -> MetricSummary:
    found = mean_interval(units, low=rule.low, high=rule.high, clusters=clusters)
    passed = None
    if rule.threshold is not None and rule.direction != "none":
        slack = 0.0 if trials is None else _MEAN_ROUNDING
        passed = pass_rate(on_good_side(units, rule.threshold, rule.direction, slack), clusters)
    return MetricSummary(
        n=found.n,
        rows_scored=rows.scores.size,
        mean=found.mean,
        std_error=found.std_error,
        ci_low=found.low,
        ci_high=found.high,
        interval=found.interval,
        notes=found.notes,
        pass_rate=passed,
        clustered=found.clustered,
        statistics=tuple(statistics),
        trials=trials,
    )


def _repetitions(
    rows: _Rows, tasks: Codes, by_task: TaskMeans, rule: _Rule, k_max: int | None, min_trials: int | None, wanted: Collection[str]
) -> tuple[list[Statistic], Trials]:
    won = successes(rows.scores, type=rule.type, direction=rule.direction, threshold=rule.threshold)
    known = np.zeros(rows.scores.size, np.bool_) if won is None else won
    counts = count_trials(known, tasks, clusters=rows.clusters, min_trials=min_trials)
    found = [] if won is None else _reliability(counts, k_max or rows.planned, wanted)
    if ICC in wanted:
        found.append(_alikeness(rows.scores, tasks, by_task.means.size))
    return found, Trials(counts.trials.size, counts.fewest, counts.most, counts.left_out, by_task.unscored)


def _reliability(counts: TaskCounts, k_max: int, wanted: Collection[str]) -> list[Statistic]:
    found: list[Statistic] = []
    if "pass@k" in wanted:
        found += pass_curve("pass@", counts, k_max)
    if "pass^k" in wanted:
        found += pass_curve("pass^", counts, k_max)
    if FLIP in wanted:
        found.append(flip_statistic(counts))
    if FLAKE in wanted:
        found.append(flake_statistic(counts))
    return found


def _alikeness(scores: Floats, tasks: Codes, n: int) -> Statistic:
    value = icc1(scores, tasks)
    if value is None:
        return undefined(ICC, n, "nothing varies, or fewer than 2 tasks, or no task has 2 scored trials")
    return Statistic(ICC, value, None, None, NO_INTERVAL, n)


def _quantiles(rows: _Rows, rule: _Rule, wanted: Collection[str]) -> list[Statistic]:
    if math.isfinite(rule.low) and math.isfinite(rule.high):
        return []
    clusters = rows.tasks if rows.clusters is None else rows.clusters
    return [quantile_interval(rows.scores, q, name=name, clusters=clusters) for name, q in (("p50", 0.5), ("p95", 0.95)) if name in wanted]
