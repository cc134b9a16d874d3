from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.stats.trials import clusters_of_tasks, task_means

NAN = math.nan


def test_a_task_counts_once_however_often_it_was_tried() -> None:
    found = task_means(np.array([1.0, 0, 1, 0.5]), np.array([7, 7, 7, 2]))
    assert found.means.tolist() == pytest.approx([0.5, 2 / 3])
    assert found.unscored == 0


def test_an_unscored_trial_is_no_zero() -> None:
    found = task_means(np.array([1.0, NAN, NAN, NAN, 0.0]), np.array([0, 0, 1, 1, 2]))
    assert found.means.tolist() == [1.0, 0.0]
    assert found.unscored == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 10**9)), min_size=1, max_size=40))
def test_equals_a_loop(pairs: list[tuple[float, int]]) -> None:
    tasks = sorted({task for _, task in pairs})
    found = task_means(np.array([score for score, _ in pairs]), np.array([task for _, task in pairs]))
    expected = [np.mean([score for score, other in pairs if other == task]) for task in tasks]
    assert found.means.tolist() == pytest.approx(expected, abs=1e-15)
    assert [pairs[row][1] for row in found.rows] == tasks


def test_equal_trials_are_their_mean_to_the_last_digit() -> None:
    assert task_means(np.full(7, 0.1), np.zeros(7, np.int64)).means.tolist() == [0.1]


def test_no_rows_no_tasks() -> None:
    found = task_means(np.array([]), np.array([], np.int64))
    assert found.means.size == 0
    assert found.unscored == 0


def test_a_row_without_a_task_is_refused() -> None:
    with pytest.raises(ValueError, match="a task code is negative"):
        task_means(np.array([1.0]), np.array([-1]))


def test_clusters_lie_above_tasks() -> None:
    tasks, clusters = np.array([5, 5, 9, 9, 1]), np.array([3, 3, 4, 4, -1])
    found = task_means(np.array([1.0, 1, 0, NAN, 0]), tasks)
    of_task = clusters_of_tasks(found, tasks, clusters)
    assert of_task is not None
    assert of_task.tolist() == [-1, 3, 4]
    assert clusters_of_tasks(found, tasks, None) is None


def test_a_task_in_two_clusters_is_refused() -> None:
    tasks = np.array([5, 5])
    with pytest.raises(ValueError, match="the rows of task 5 lie in clusters 0 and 1"):
        clusters_of_tasks(task_means(np.zeros(2), tasks), tasks, np.array([0, 1]))
