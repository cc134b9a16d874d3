"""Repetitions: the task is the unit, its trials are not independent rows."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from measurand.stats.arrays import Codes, Floats, dense, same_length
from measurand.stats.means import group_means


@frozen
class TaskMeans:
    """One mean per task that has a scored trial, in order of the task codes."""

    means: Floats
    rows: Codes
    """For each of them a row that belongs to it."""
    unscored: int
    """Tasks none of whose trials has a score."""


def task_means(scores: Floats, tasks: Codes) -> TaskMeans:
    """The mean of each task's scored trials (NaN: unscored), so that a task counts once however often it was tried.

    Raises:
        ValueError: arrays of different length, or a negative task code.
    """
    same_length(scores, tasks=tasks)
    if tasks.min(initial=0) < 0:
        raise ValueError("a task code is negative; every row belongs to a task")
    codes = dense(tasks)
    total = int(codes.max(initial=-1)) + 1
    planned = np.bincount(codes, minlength=total)
    scored = ~np.isnan(scores)
    counts = np.bincount(codes[scored], minlength=total)
    values, groups = (scores, codes) if scored.all() else (scores[scored], codes[scored])
    means = group_means(values, groups, counts.astype(np.float64))
    row_of = np.zeros(total, np.int64)
    row_of[codes] = np.arange(codes.size)
    shown = counts > 0
    return TaskMeans(means[shown], row_of[shown], int(np.count_nonzero((planned > 0) & ~shown)))


def clusters_of_tasks(found: TaskMeans, tasks: Codes, clusters: Codes | None) -> Codes | None:
    """The cluster of each task of `found`.

    Raises:
        ValueError: the rows of one task lie in different clusters.
    """
    if clusters is None:
        return None
    same_length(tasks, clusters=clusters)
    codes = dense(tasks)
    of_task = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    of_task[codes] = clusters
    split = np.flatnonzero(of_task[codes] != clusters)
    if split.size:
        row = int(split[0])
        raise ValueError(f"the rows of task {int(tasks[row])} lie in clusters {int(clusters[row])} and {int(of_task[codes[row]])}; a task lies in one")
    return clusters[found.rows]
