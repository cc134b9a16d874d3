from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.stats.intervals import mean_interval
from measurand.stats.quantiles import quantile_interval
from measurand.stats.student import t_quantile
from measurand.stats.summary import ALL_STATISTICS, MetricSummary, summarise_metric

NAN = math.nan
PROPORTION: dict[str, Any] = {"type": "proportion", "direction": "higher", "low": 0.0, "high": 1.0}
BINARY: dict[str, Any] = {"type": "binary", "direction": "higher", "low": 0.0, "high": 1.0, "threshold": 0.5}
LATENCY: dict[str, Any] = {"type": "continuous", "direction": "lower", "low": 0.0, "high": math.inf}


def statistic(summary: MetricSummary, name: str) -> float | None:
    return next(one.value for one in summary.statistics if one.name == name)


def test_an_unscored_row_is_neither_zero_nor_failed() -> None:
    found = summarise_metric(np.array([0.9, NAN, 0.8]), threshold=0.5, **PROPORTION)
    assert found.mean == pytest.approx(0.85, abs=1e-15)
    assert (found.n, found.rows_scored) == (2, 2)
    assert found.pass_rate is not None
    assert (found.pass_rate.value, found.pass_rate.n) == (1.0, 2)


@pytest.mark.parametrize("tasks", [None, []])
@pytest.mark.parametrize("clusters", [None, []])
def test_no_rows(tasks: list[int] | None, clusters: list[int] | None) -> None:
    found = summarise_metric(
        np.array([]),
        tasks=None if tasks is None else np.array(tasks, np.int64),
        clusters=None if clusters is None else np.array(clusters, np.int64),
        **BINARY,
    )
    assert (found.mean, found.ci_low, found.ci_high, found.std_error, found.n, found.rows_scored) == (None, None, None, None, 0, 0)
    assert found.pass_rate is None
    assert found.interval_and_notes == "none; nothing scored"


def test_rows_without_any_score_have_no_mean() -> None:
    found = summarise_metric(np.full(4, NAN), tasks=np.array([0, 0, 1, 1]), **BINARY)
    assert (found.mean, found.n, found.rows_scored) == (None, 0, 0)
    assert found.trials is not None
    assert found.trials.unscored == 2
    assert statistic(found, "pass^1") is None


def test_repeats_are_not_independent_rows() -> None:
    # four tasks of ten equal repeats: √(var(1, 0, 1, 1)/4) = 0.25, not s/√40
    found = summarise_metric(np.repeat([1.0, 0, 1, 1], 10), tasks=np.repeat(np.arange(4), 10), **BINARY)
    assert found.std_error == pytest.approx(0.25)
    assert (found.n, found.rows_scored, found.mean, found.interval) == (4, 40, 0.75, "wilson")
    assert found.trials is not None
    assert (found.trials.tasks, found.trials.fewest, found.trials.most) == (4, 10, 10)


def test_questions_of_one_document_are_not_independent() -> None:
    found = summarise_metric(np.array([1.0, 1, 1, 1, 0, 0, 0, 0]), clusters=np.repeat([0, 1], 4), **BINARY)
    assert found.clustered is not None
    assert found.std_error == found.clustered.std_error == pytest.approx(0.5)
    assert found.clustered.naive_std_error is not None
    assert found.clustered.naive_std_error < 0.5
    assert found.clustered.n_clusters == 2
    assert found.interval_and_notes == "wilson, clustered; few clusters"
    assert found.n == 8


def test_equal_scores_are_no_certainty() -> None:
    found = summarise_metric(np.ones(5), **BINARY)
    assert (found.mean, found.std_error) == (1.0, 0.0)
    assert found.ci_low == pytest.approx(0.5655, abs=5e-5)


def test_real_trajectories_over_tasks() -> None:
    # tau-bench airline, gpt-4o: see test_reliability; SE = √(CR0² · 32/31) as the tasks have equal sizes
    won = [4] * 5 + [3] * 3 + [2] * 8 + [1] * 7 + [0] * 9
    scores = np.concatenate([np.repeat([1.0, 0.0], [c, 4 - c]) for c in won])
    found = summarise_metric(scores, type="continuous", direction="higher", low=0, high=1, threshold=1.0, tasks=np.repeat(np.arange(32), 4))
    error = 0.061267137270930166 * math.sqrt(32 / 31)
    assert (found.n, found.rows_scored, found.mean, found.interval) == (32, 128, 0.40625, "t")
    assert found.std_error == pytest.approx(error, rel=1e-12)
    assert found.ci_low == pytest.approx(0.40625 - t_quantile(0.975, 31) * error, rel=1e-12)
    assert found.pass_rate is not None
    assert found.pass_rate.value == 5 / 32  # tasks whose mean reaches the full reward
    assert [one.name for one in found.statistics] == [
        *(f"pass@{k}" for k in (1, 2, 3, 4)),
        *(f"pass^{k}" for k in (1, 2, 3, 4)),
        "flip_probability",
        "flake_rate",
        "icc1",
    ]
    assert statistic(found, "pass^4") == 0.15625


def test_an_errored_trial_lowers_its_tasks_number_of_trials() -> None:
    scores = np.array([1.0, 1, 1, 1, NAN, 1, 0, 0, 0])
    found = summarise_metric(scores, tasks=np.repeat([0, 1, 2], 3), **BINARY)
    assert found.trials is not None
    assert (found.trials.fewest, found.trials.most, found.trials.unscored) == (2, 3, 0)
    by_name = {one.name: one for one in found.statistics}
    assert by_name["pass^2"].value == pytest.approx(2 / 3)
    assert by_name["pass^3"].value is None
    assert by_name["pass^3"].reason == "needs 3 scored trials of every task; they have 2-3"


def test_min_trials_narrows_reliability_and_never_the_mean() -> None:
    scores, tasks = np.array([1.0, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 2])
    found = summarise_metric(scores, tasks=tasks, min_trials=2, **BINARY)
    assert found.n == 3
    assert found.mean == pytest.approx(2 / 3)
    assert found.trials is not None
    assert (found.trials.tasks, found.trials.left_out) == (2, 1)
    assert statistic(found, "pass^2") == 0.5


def test_a_task_passes_by_its_mean() -> None:
    scores = np.array([0.7, 0.8, 0.9, 0.7, 0.8, 0.8])
    found = summarise_metric(scores, tasks=np.repeat([0, 1], 3), threshold=0.8, **PROPORTION)
    assert found.pass_rate is not None
    assert (found.pass_rate.value, found.pass_rate.n) == (0.5, 2)


def test_a_descriptive_metric_has_no_pass_rate_and_no_pass_at_k() -> None:
    found = summarise_metric(np.array([1.0, 0, 1, 1]), type="binary", direction="none", low=0, high=1, threshold=0.5, tasks=np.array([0, 0, 1, 1]))
    assert found.pass_rate is None
    assert [one.name for one in found.statistics] == ["icc1"]


def test_a_metric_without_threshold_has_neither_pass_rate_nor_pass_at_k() -> None:
    found = summarise_metric(np.array([0.25, 0.5]), **PROPORTION)
    assert found.pass_rate is None
    assert found.statistics == ()
    assert found.trials is None


def test_unbounded_metrics_have_quantiles() -> None:
    x = np.random.default_rng(1).lognormal(size=200)
    found = summarise_metric(x, **LATENCY)
    assert [one.name for one in found.statistics] == ["p50", "p95"]
    assert found.statistics[1] == quantile_interval(x, 0.95, name="p95")


def test_quantiles_are_over_rows_and_trials_of_a_task_are_clustered() -> None:
    x, tasks = np.random.default_rng(1).lognormal(size=400), np.repeat(np.arange(100), 4)
    found = {one.name: one for one in summarise_metric(x, tasks=tasks, **LATENCY).statistics}
    assert found["p95"] == quantile_interval(x, 0.95, name="p95", clusters=tasks)
    assert found["p95"].n == 400
    by_cluster = {one.name: one for one in summarise_metric(x, tasks=tasks, clusters=tasks // 5, **LATENCY).statistics}
    assert by_cluster["p95"] == quantile_interval(x, 0.95, name="p95", clusters=tasks // 5)


def test_clusters_above_tasks() -> None:
    scores = np.random.default_rng(2).random(120)
    tasks = np.repeat(np.arange(40), 3)
    found = summarise_metric(scores, tasks=tasks, clusters=tasks // 4, **PROPORTION)
    means = scores.reshape(40, 3).mean(axis=1)
    expected = mean_interval(means, low=0, high=1, clusters=np.arange(40) // 4)
    assert (found.n, found.interval) == (40, expected.interval)
    assert found.ci_low == pytest.approx(expected.low)
    assert found.clustered is not None
    assert found.clustered.n_clusters == 10


def test_statistics_can_be_chosen_and_misspelt() -> None:
    tasks = np.array([0, 0, 1, 1])
    found = summarise_metric(np.array([1.0, 0, 1, 1]), tasks=tasks, statistics=("pass^k",), k_max=1, **BINARY)
    assert [one.name for one in found.statistics] == ["pass^1"]
    with pytest.raises(ValueError, match=r"unknown statistics pass\^1; known are pass@k"):
        summarise_metric(np.array([1.0]), statistics=("pass^1",), **BINARY)


def test_k_max_beyond_the_trials_gives_the_reason() -> None:
    found = summarise_metric(np.array([1.0, 0, 1, 1]), tasks=np.array([0, 0, 1, 1]), k_max=3, statistics=("pass@k",), **BINARY)
    assert [(one.name, one.value is None) for one in found.statistics] == [("pass@1", False), ("pass@2", False), ("pass@3", True)]


@pytest.mark.parametrize("bad", [math.inf, -math.inf, 2.0])
def test_what_is_no_score_is_refused(bad: float) -> None:
    for tasks in (None, np.array([0, 1])):
        with pytest.raises(ValueError, match=r"infinite|outside the range"):
            summarise_metric(np.array([0.5, bad]), tasks=tasks, **PROPORTION)


CELLS = st.lists(st.tuples(st.one_of(st.just(NAN), st.sampled_from([0.0, 0.3, 1.0]), st.floats(0, 1)), st.integers(0, 5)), max_size=40)


@given(CELLS, st.booleans(), st.booleans(), st.sampled_from(["binary", "proportion"]), st.sampled_from(["higher", "lower", "none"]))
def test_there_is_never_a_nan(cells: list[tuple[float, int]], trials: bool, clustered: bool, type: Any, direction: Any) -> None:
    scores = np.array([score for score, _ in cells])
    tasks = np.array([task for _, task in cells], np.int64)
    for high in (1.0, math.inf):
        found = summarise_metric(
            scores,
            type=type,
            direction=direction,
            low=0.0,
            high=high,
            threshold=0.5,
            tasks=tasks if trials else None,
            clusters=tasks // 2 if clustered else None,
        )
        numbers = [found.mean, found.std_error, found.ci_low, found.ci_high]
        numbers += [end for one in found.statistics for end in (one.value, one.low, one.high)]
        if found.pass_rate:
            numbers += [found.pass_rate.value, found.pass_rate.low, found.pass_rate.high]
        if found.clustered:
            spread = found.clustered
            numbers += [spread.std_error, spread.df, spread.naive_std_error, spread.cr0, spread.design_effect]
        assert all(number is None or (type_is_float(number) and math.isfinite(number)) for number in numbers)
        assert (found.mean is None) is (found.rows_scored == 0)


def type_is_float(number: object) -> bool:
    return type(number) is float  # numpy's scalars do not go into JSON


@given(CELLS.filter(len), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(cells: list[tuple[float, int]], random: object) -> None:
    shuffled = list(cells)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    def summary(rows: list[tuple[float, int]]) -> MetricSummary:
        return summarise_metric(np.array([score for score, _ in rows]), tasks=np.array([task for _, task in rows]), threshold=0.3, **PROPORTION)

    one, other = summary(cells), summary(shuffled)
    assert (one.n, one.rows_scored, one.interval, one.trials) == (other.n, other.rows_scored, other.interval, other.trials)
    assert one.mean == (None if other.mean is None else pytest.approx(other.mean, abs=1e-12))
    assert [(a.name, a.value is None) for a in one.statistics] == [(b.name, b.value is None) for b in other.statistics]


def test_all_statistics_are_named_once() -> None:
    assert len(set(ALL_STATISTICS)) == len(ALL_STATISTICS)


def test_memory_is_a_few_arrays_of_the_rows() -> None:
    n = 200_000
    rng = np.random.default_rng(0)
    scores, tasks = rng.random(n), rng.integers(0, n // 4, n)
    ways: tuple[dict[str, Any], ...] = ({}, {"tasks": tasks}, {"clusters": tasks})
    for options in ways:
        tracemalloc.start()
        summarise_metric(scores, threshold=0.5, **PROPORTION, **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * 8 * n
