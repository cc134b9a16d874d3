from __future__ import annotations

import numpy as np
import pytest

from measurand.stats.reliability import TaskCounts, count_trials, flake_statistic, flip_statistic, pass_curve, successes


def counts(trials: list[int], won: list[int]) -> TaskCounts:
    return TaskCounts(np.array(trials), np.array(won), None, 0)


def test_fractional_rewards_are_no_successes() -> None:
    # 0.4 + 0.6 is not one success
    rewards = np.array([0.4, 0.6, 1.0, 0.9999999])
    found = successes(rewards, type="continuous", direction="higher", threshold=1.0)
    assert found is not None
    assert found.tolist() == [False, False, True, True]
    by_task = count_trials(found, np.array([0, 0, 1, 1]))
    assert by_task.successes.tolist() == [0, 2]
    assert pass_curve("pass^", by_task, 1)[0].value == 0.5


def test_a_binary_success_is_the_score_one_and_the_threshold_has_no_say() -> None:
    found = successes(np.array([0.0, 0.5, 1.0]), type="binary", direction="higher", threshold=0.5)
    assert found is not None
    assert found.tolist() == [False, False, True]


def test_where_lower_is_better_success_is_the_other_side() -> None:
    leaks = successes(np.array([0.0, 1.0]), type="binary", direction="lower", threshold=0.5)
    assert leaks is not None
    assert leaks.tolist() == [True, False]
    toxicity = successes(np.array([0.2, 0.5, 0.8]), type="proportion", direction="lower", threshold=0.5)
    assert toxicity is not None
    assert toxicity.tolist() == [True, False, False]


def test_a_metric_that_knows_no_success() -> None:
    assert successes(np.array([0.5]), type="proportion", direction="higher", threshold=None) is None
    assert successes(np.array([1.0]), type="binary", direction="none", threshold=None) is None


def test_real_trajectories() -> None:
    # 32 airline tasks of 4 trials (tau-bench, gpt-4o): counted from the published trajectories; the averages by hand from 5, 3, 8, 7, 9 tasks
    # with 4, 3, 2, 1, 0 successes: pass^2 = (5 + 3·3/6 + 8/6)/32, pass@2 = 1 − (9 + 7·3/6 + 8/6)/32, …
    found = counts([4] * 32, [4] * 5 + [3] * 3 + [2] * 8 + [1] * 7 + [0] * 9)
    hat = [one.value for one in pass_curve("pass^", found, 4)]
    at = [one.value for one in pass_curve("pass@", found, 4)]
    assert hat == pytest.approx([0.40625, 0.24479166666666666, 0.1796875, 0.15625], abs=1e-15)
    assert at == pytest.approx([0.40625, 0.5677083333333334, 0.6640625, 0.71875], abs=1e-15)
    assert flip_statistic(found).value == pytest.approx(2 * (3 * 3 + 8 * 4 + 7 * 3) / 12 / 32, abs=1e-15)
    flake = flake_statistic(found)
    assert flake.value == 18 / 32
    assert flake.interval == "wilson"
    assert [one.interval for one in pass_curve("pass^", found, 4)] == ["t", "t, guarded", "t, guarded", "wilson"]


def test_k_beyond_the_fewest_trials_is_null_with_the_reason() -> None:
    found = counts([4, 3, 4], [4, 0, 2])
    names = [(one.name, one.value is None) for one in pass_curve("pass^", found, 4)]
    assert names == [("pass^1", False), ("pass^2", False), ("pass^3", False), ("pass^4", True)]
    last = pass_curve("pass^", found, 4)[-1]
    assert (last.low, last.high, last.interval, last.n) == (None, None, "none", 3)
    assert last.reason == "needs 4 scored trials of every task; they have 3-4"


def test_flips_need_two_trials() -> None:
    once = counts([1, 1], [1, 0])
    for statistic in (flip_statistic(once), flake_statistic(once)):
        assert statistic.value is None
        assert statistic.reason == "needs 2 scored trials of every task; they have 1"


def test_tasks_with_fewer_trials_are_left_out_only_when_asked_and_counted() -> None:
    won, tasks = np.array([True, True, True, False, True]), np.array([0, 0, 0, 1, 1])
    everything = count_trials(won, tasks)
    assert (everything.trials.tolist(), everything.left_out, everything.trials_range) == ([3, 2], 0, "2-3")
    asked = count_trials(won, tasks, min_trials=3)
    assert (asked.trials.tolist(), asked.successes.tolist(), asked.left_out, asked.trials_range) == ([3], [3], 1, "3")
    nothing = count_trials(won, tasks, min_trials=4)
    assert (nothing.fewest, nothing.most, nothing.left_out) == (0, 0, 2)
    assert pass_curve("pass@", nothing, 1)[0].reason == "no task has enough scored trials"


def test_clusters_lie_above_tasks() -> None:
    rng = np.random.default_rng(3)
    tasks = np.repeat(np.arange(40), 4)
    won = rng.random(160) < np.repeat(rng.random(8), 20)
    plain = pass_curve("pass^", count_trials(won, tasks), 1)[0]
    clustered = pass_curve("pass^", count_trials(won, tasks, clusters=tasks // 5), 1)[0]
    assert clustered.value == plain.value
    assert clustered.low is not None
    assert plain.low is not None
    assert clustered.low < plain.low
    assert clustered.reason.startswith("few clusters")
