"""Writing a run and reading it back, in every kind of store."""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from measurand.core.errors import StoreError, UsageError
from measurand.core.result import passed
from measurand.run.store import ERROR, NOT_APPLICABLE, NOT_STORED, OK, RunInfo, RunMetric, RunStart, Store, StoredRun, open_store
from measurand.run.store.plain_text import from_column, to_column

same_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)


def sample(ordinal: int, sample_id: str | None = None, task: str = "t", trial: int = 0, cluster: str | None = None, row: str | None = None) -> Any:
    return (ordinal, sample_id if sample_id is not None else f"id{ordinal}", task, trial, cluster, "{}", None, None, row)


def test_a_run_comes_back_as_it_was(store: Store, make_run: Callable[..., RunStart]) -> None:
    start = make_run(
        "r1",
        name="nightly",
        git_commit="abc",
        versions={"python": "3.11"},
        command=["run", "--limit", "3"],
        mapping=[{"field": "input", "how": "exact"}],
        has_trials=True,
    )
    writer = store.begin(start)
    writer.add([sample(0)], [(0, 0, 0, 0.1 + 0.2, '{"details": {"x": [1, null]}}')])
    writer.finish("complete", elapsed_s=2.5, counts={"rows": 1}, usage={"calls": 0})
    info = store.resolve("r1").info
    for key in ("run_id", "name", "project", "dataset", "config", "plan_id", "metrics", "git_commit", "versions", "command", "mapping", "has_trials"):
        assert getattr(info, key) == getattr(start, key)
    assert info.started_at == "2026-11-30T21:10:05.000000+00:00"
    assert (info.status, info.reason, info.elapsed_s, info.counts, info.usage, info.removed_rows) == ("complete", None, 2.5, {"rows": 1}, {"calls": 0}, 0)


def test_rows_and_results_come_back_as_they_were(store: Store, fill: Callable[..., StoredRun]) -> None:
    run = fill(store)
    assert len(run) == 3
    assert run.result_count() == 9
    first = next(run.samples())
    assert first == (0, "id0", "task0", 0, None, {"input": "abcd"}, ["a"], None, {"output": "text 0 of r1"})
    assert run.row("id2").row == {"output": "text 2 of r1"}
    assert [tuple(result[:8]) for result in run.results(sample_id="id1")] == [
        (1, "id1", "task1", 0, 0, OK, 1 / 3, {"details": {"reference": 0}}),
        (1, "id1", "task1", 0, 1, OK, 1.0, {}),
        (1, "id1", "task1", 0, 2, NOT_APPLICABLE, None, {"error": {"code": "undefined", "message": "0/0"}}),
    ]


def test_a_store_without_content_has_rows_without_texts(store: Store, make_run: Callable[..., RunStart]) -> None:
    store.begin(make_run("r1")).add([sample(0), sample(1, row='{"output": "x"}')], [])
    run = store.resolve("r1")
    assert [one.row for one in run.samples()] == [None, {"output": "x"}]


def test_a_run_is_incomplete_until_it_is_finished(store: Store, make_run: Callable[..., RunStart]) -> None:
    writer = store.begin(make_run("r1"))
    writer.add([sample(0)], [(0, 0, 0, 1.0, None)])
    info = store.runs("p")[0]
    assert (info.status, info.reason, info.elapsed_s) == ("incomplete", None, None)
    writer.finish("incomplete", "budget exceeded", elapsed_s=1.0)
    assert (store.runs("p")[0].status, store.runs("p")[0].reason) == ("incomplete", "budget exceeded")


def test_a_run_id_is_never_written_over(store: Store, fill: Callable[..., StoredRun], make_run: Callable[..., RunStart]) -> None:
    fill(store, "r1")
    with pytest.raises(StoreError, match="already has a run r1; a run is never written over"):
        store.begin(make_run("r1"))
    assert len(store.resolve("r1")) == 3


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_finite_number_is_refused(store: Store, make_run: Callable[..., RunStart], score: float) -> None:
    writer = store.begin(make_run("r1"))
    with pytest.raises(StoreError):
        writer.add([sample(0)], [(0, 0, 0, score, None)])
    assert len(store.resolve("r1")) == 0


@pytest.mark.parametrize("result", [(0, 0, OK, None, None), (0, 0, ERROR, 0.0, None), (0, 0, 3, None, None)])
def test_a_result_has_a_score_exactly_when_it_is_ok(store: Store, make_run: Callable[..., RunStart], result: Any) -> None:
    writer = store.begin(make_run("r1"))
    with pytest.raises(StoreError):
        writer.add([sample(0)], [result])


def test_the_ends_of_the_number_line_are_kept(store: Store, make_run: Callable[..., RunStart]) -> None:
    scores = [1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 0.1, 1 / 3]
    store.begin(make_run("r1")).add([sample(i) for i in range(5)], [(i, 0, 0, score, None) for i, score in enumerate(scores)])
    run = store.resolve("r1")
    assert [result.score for result in run.results()] == scores
    assert run.score_columns(0).score.tolist() == scores


def test_a_group_is_stored_whole_or_not_at_all(store: Store, make_run: Callable[..., RunStart]) -> None:
    writer = store.begin(make_run("r1"))
    writer.add([sample(0)], [(0, 0, 0, 1.0, None)])
    with pytest.raises(StoreError):
        writer.add([sample(1), sample(2)], [(1, 0, 0, 1.0, None), (1, 0, 0, 0.5, None)])
    writer.add([sample(1)], [(1, 0, 0, 0.25, None)])
    assert [(result.ordinal, result.score) for result in store.resolve("r1").results()] == [(0, 1.0), (1, 0.25)]


def test_an_integer_too_large_for_a_column_is_one_sentence(store: Store, make_run: Callable[..., RunStart]) -> None:
    writer = store.begin(make_run("r1"))
    with pytest.raises(StoreError, match=r"the (temporary )?store"):
        writer.add([sample(0, trial=2**70)], [])


NAMES = [
    "org/model:free v1.2",
    "org-model-free v1.2",
    "../../escape",
    "/abs",
    "C:\\x",
    "CON",
    "a\0b",
    ".",
    "\ud800",
    "\x1a",
    '\x1a"x"',
    "日本語",
    " ",
    "'; DROP TABLE runs; --",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_kept_and_found(store: Store, fill: Callable[..., StoredRun], name: str) -> None:
    fill(store, "r1", name=name, project=name)
    fill(store, "r2", name=name + "x", project=name)
    assert store.resolve(name, name).info.run_id == "r1"
    assert store.runs(name)[1].name == name
    assert store.find_incomplete(name, "plan") is None


def test_any_id_task_and_cluster_is_kept_and_found(store: Store, make_run: Callable[..., RunStart]) -> None:
    store.begin(make_run("r1", has_trials=True)).add([(i, name, name, 0, name, "{}", None, None, None) for i, name in enumerate(NAMES)], [])
    run = store.resolve("r1")
    assert [(one.id, one.task, one.cluster) for one in run.samples()] == [(name, name, name) for name in NAMES]
    for ordinal, name in enumerate(NAMES):
        assert run.row(name).ordinal == ordinal
        assert store.delete_row(name, dry_run=True).rows == 1
    tasks, clusters = run.unit_codes()
    assert tasks is not None
    assert clusters is not None
    assert len(set(tasks.tolist())) == len(set(clusters.tolist())) == len(NAMES)


@given(st.text(st.characters()))
def test_every_text_survives_its_column(text: str) -> None:
    stored = to_column(text)
    assert "\0" not in stored
    assert from_column(stored.encode().decode()) == text


def test_texts_that_utf_8_cannot_carry_are_kept(store: Store, make_run: Callable[..., RunStart]) -> None:
    texts = ["lone \ud83d here", "nul \0 here", "pair \U0001f600"]
    rows = [json.dumps({"output": text}, ensure_ascii=False) for text in texts]
    rest = [json.dumps({"details": {"said": text}}, ensure_ascii=False) for text in texts]
    store.begin(make_run("r1", config={"x": texts})).add(
        [sample(i, row=row) for i, row in enumerate(rows)], [(i, 0, 0, 0.0, text) for i, text in enumerate(rest)]
    )
    run = store.resolve("r1")
    assert [one.row["output"] for one in run.samples()] == texts
    assert [result.rest["details"]["said"] for result in run.results()] == texts
    assert run.info.config == {"x": texts}


def test_results_are_chosen_by_status_and_verdict(store: Store, fill: Callable[..., StoredRun]) -> None:
    run = fill(store, rows=4)

    def found(**chosen: Any) -> list[tuple[int, int]]:
        return [(result.ordinal, result.metric) for result in run.results(**chosen)]

    assert found(metric="code_f1", status="failed") == [(0, 0), (1, 0)]  # 0, 0.25; 0.5 is on the good side
    assert found(metric=1, status="failed") == [(1, 1), (2, 1), (3, 1)]  # lower is better: 1 ≥ 0.5 fails
    assert found(metric="code_length", status="failed") == []
    assert found(status="error") == [(0, 1)]
    assert found(status=["error", "not_applicable"]) == [(0, 1), (0, 2), (1, 2), (2, 2), (3, 2)]
    assert found(status="ok", metric="code_leak", limit=2) == [(1, 1), (2, 1)]
    assert found(status=["failed", "error"], sample_id="id0") == [(0, 0), (0, 1)]
    with pytest.raises(ValueError, match="'wrong' is no status of a result; allowed: ok, failed, not_applicable, error"):
        run.results(status="wrong")  # type: ignore[arg-type]


@same_store
@given(
    threshold=st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    direction=st.sampled_from(["higher", "lower", "none"]),
    scores=st.lists(st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=8),
)
def test_failed_means_not_passed(threshold: float | None, direction: str, scores: list[float | None]) -> None:
    metric = RunMetric(0, "m", "m", "1", "m|v:1", {}, threshold, direction, "proportion", 0.0, 1.0, [])
    with open_store("sqlite://") as store:
        start = RunStart(run_id="r", project="p", started_at="2026-01-01T00:00:00Z", dataset={}, config={}, plan_id="x", metrics=(metric,))
        store.begin(start).add([sample(i) for i in range(len(scores))], [(i, 0, int(score is None), score, None) for i, score in enumerate(scores)])
        failed = [result.ordinal for result in store.resolve("r").results(status="failed")]
    assert failed == [i for i, score in enumerate(scores) if passed(score, threshold, direction) is False]


def test_results_sort_by_score_with_the_unscored_last(store: Store, fill: Callable[..., StoredRun]) -> None:
    run = fill(store, rows=3)
    assert [result.score for result in run.results(sort="score")] == [0.0, 1 / 3, 2 / 3, 1.0, 1.0, None, None, None, None]
    assert [result.score for result in run.results("code_f1", sort="score", limit=2)] == [0.0, 1 / 3]


@pytest.mark.parametrize("sort", [None, "score"])
def test_pages_put_together_are_the_whole(store: Store, fill: Callable[..., StoredRun], sort: Any) -> None:
    run = fill(store, rows=5)
    whole = list(run.results(sort=sort))
    for size in (1, 2, 7):
        pages = list(run.results(sort=sort, limit=size))
        while page := list(run.results(sort=sort, limit=size, after=(pages[-1].ordinal, pages[-1].metric))):
            pages += page
        assert pages == whole
    assert [one.ordinal for one in run.samples(after=1, limit=2)] == [2, 3]


def test_an_unknown_metric_or_row_is_answered_with_what_there_is(store: Store, fill: Callable[..., StoredRun]) -> None:
    run = fill(store)
    with pytest.raises(UsageError, match=r"^--metric: run r1 has no metric 'code_lenght'; did you mean code_length"):
        run.results("code_lenght")
    with pytest.raises(UsageError, match=r"^--metric: run r1 has no metric 'zzz'; it has code_f1, code_leak, code_length$"):
        run.results("zzz")
    with pytest.raises(UsageError, match=r"^--id: run r1 has no row 'id9'; `metrics results RUN` lists the ids$"):
        run.row("id9")


def test_reading_while_reading_and_writing(store: Store, fill: Callable[..., StoredRun], make_run: Callable[..., RunStart]) -> None:
    run = fill(store, rows=3)
    writer = store.begin(make_run("r2"))
    for result in run.results():
        assert run.row(result.sample_id).ordinal == result.ordinal
        writer.add([sample(result.ordinal * 3 + result.metric)], [])
    assert len(store.resolve("r2")) == 9


def test_scores_as_arrays(store: Store, fill: Callable[..., StoredRun]) -> None:
    run = fill(store, rows=4)
    columns = {metric.name: column for metric, column in run.all_score_columns()}
    np.testing.assert_array_equal(columns["code_f1"].score, [0, 0.25, 0.5, 0.75])
    np.testing.assert_array_equal(columns["code_leak"].score, [np.nan, 1, 1, 1])
    np.testing.assert_array_equal(columns["code_leak"].status, [ERROR, OK, OK, OK])
    np.testing.assert_array_equal(columns["code_length"].status, [NOT_APPLICABLE] * 4)
    assert columns["code_f1"].status.nbytes + columns["code_f1"].score.nbytes == 9 * 4
    for metric, column in run.all_score_columns():
        alone = run.score_columns(metric.index)
        np.testing.assert_array_equal(alone.score, column.score)
        np.testing.assert_array_equal(alone.status, column.status)


def test_arrays_follow_the_rows_where_ordinals_have_gaps_and_results_are_missing(store: Store, make_run: Callable[..., RunStart]) -> None:
    writer = store.begin(make_run("r1", has_trials=True))
    writer.add([sample(70, task="b", cluster="y"), sample(5, task="a"), sample(9, task="b", cluster="x")], [(70, 0, 0, 0.7, None), (5, 0, 0, 0.5, None)])
    run = store.resolve("r1")
    column = run.score_columns(0)
    np.testing.assert_array_equal(column.score, [0.5, np.nan, 0.7])
    np.testing.assert_array_equal(column.status, [OK, NOT_STORED, OK])
    np.testing.assert_array_equal(run.score_columns(1).status, [NOT_STORED] * 3)
    tasks, clusters = run.unit_codes()
    assert tasks is not None
    assert clusters is not None
    assert tasks.dtype == clusters.dtype == np.int32
    assert (tasks[0] != tasks[1], tasks[1] == tasks[2]) == (True, True)
    assert len(set(clusters.tolist())) == 3  # a row without a cluster is one of its own


def test_an_empty_run_has_empty_arrays(store: Store, make_run: Callable[..., RunStart]) -> None:
    store.begin(make_run("r1", has_trials=True))
    run = store.resolve("r1")
    assert [len(column.score) for _, column in run.all_score_columns()] == [0, 0, 0]
    tasks, clusters = run.unit_codes()
    assert tasks is not None
    assert (len(tasks), clusters) == (0, None)
    assert list(run.results()) == []
    assert list(run.samples()) == []


def test_runs_and_writers_keep_their_store_open(make_run: Callable[..., RunStart], fill: Callable[..., StoredRun]) -> None:
    run = fill(open_store("sqlite://"))
    gc.collect()
    assert len(list(run.results())) == 9
    writer = open_store("sqlite://").begin(make_run("r1"))
    gc.collect()
    writer.add([sample(0)], [])
    writer.finish("complete")


def test_without_trials_and_clusters_there_are_no_unit_codes(store: Store, fill: Callable[..., StoredRun]) -> None:
    assert fill(store).unit_codes() == (None, None)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "B", "ä", "", "a "]), st.none() | st.sampled_from(["x", "y"])), min_size=1, max_size=12))
def test_codes_are_equal_exactly_where_the_texts_are(units: list[tuple[str, str | None]]) -> None:
    with open_store("sqlite://") as store:
        start = RunStart(run_id="r", project="p", started_at="2026-01-01T00:00:00Z", dataset={}, config={}, plan_id="x", metrics=(), has_trials=True)
        store.begin(start).add([sample(i, task=task, cluster=cluster) for i, (task, cluster) in enumerate(units)], [])
        tasks, clusters = store.resolve("r").unit_codes()
    assert tasks is not None
    assert (clusters is None) == all(cluster is None for _, cluster in units)
    for i, (task, cluster) in enumerate(units):
        for j, (other_task, other_cluster) in enumerate(units):
            assert (tasks[i] == tasks[j]) == (task == other_task)
            if clusters is not None:
                assert (clusters[i] == clusters[j]) == (i == j or (cluster is not None and cluster == other_cluster))


def test_an_incomplete_run_is_found_by_its_plan_and_continued(store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(store, "old", status="incomplete", started_at="2026-11-01T00:00:00Z")
    fill(store, "new", rows=2, status="incomplete", started_at="2026-11-02T00:00:00Z")
    fill(store, "other", status="incomplete", project="q", started_at="2026-11-03T00:00:00Z")
    fill(store, "done", started_at="2026-11-04T00:00:00Z")
    found = store.find_incomplete("p", "plan")
    assert found is not None
    assert found.run_id == "new"
    assert store.find_incomplete("p", "another plan") is None
    writer, ordinals = store.continue_("new")
    assert ordinals.tolist() == [1]  # row 0 timed out: it is scored again
    writer.add([sample(0), sample(2)], [(2, 0, 0, 1.0, None)])
    writer.finish("complete")
    assert len(store.resolve("new")) == 3
    assert store.find_incomplete("p", "plan") == store.resolve("old").info
    with pytest.raises(UsageError, match="no incomplete run has the id 'new'"):
        store.continue_("new")


def test_runs_are_listed_newest_first_and_in_pages(store: Store, fill: Callable[..., StoredRun]) -> None:
    for day in (3, 1, 2):
        fill(store, f"day{day}", started_at=f"2026-11-0{day}T00:00:00+00:00")
    fill(store, "same", started_at="2026-11-02T01:00:00+01:00", status="incomplete")  # the moment of day2, stored later
    fill(store, "q", project="q")

    def ids(runs: list[RunInfo]) -> list[str]:
        return [info.run_id for info in runs]

    assert ids(store.runs("p")) == ["day3", "same", "day2", "day1"]
    assert ids(store.runs("p", incomplete=False)) == ["day3", "day2", "day1"]
    assert ids(store.runs(limit=2)) == ["q", "day3"]
    assert ids(store.runs("p", limit=2, after="same")) == ["day2", "day1"]
    assert store.runs("nobody's") == []
    assert len(store.runs()[0].metrics) == 3
    with pytest.raises(UsageError, match="no run has the id 'zzz'"):
        store.runs(after="zzz")
    now = datetime(2026, 11, 4, tzinfo=UTC)
    assert ids(store.runs_older_than(2, now=now)) == ["day1"]
    assert ids(store.runs_older_than(1.5, "p", now=now)) == ["same", "day2", "day1"]


def test_a_moment_without_a_time_zone_is_refused(make_run: Callable[..., RunStart]) -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        make_run("r1", started_at="2026-11-30T22:10:05")


def test_metrics_are_numbered_in_their_order(make_run: Callable[..., RunStart]) -> None:
    metrics = make_run("r1").metrics
    with pytest.raises(ValueError, match="numbered 0, 1, 2"):
        make_run("r1", metrics=metrics[::-1])


def test_what_is_no_json_is_refused_before_anything_is_stored(store: Store, make_run: Callable[..., RunStart]) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.begin(make_run("r1", config={"x": math.nan}))
    assert store.runs() == []


@pytest.mark.slow
def test_a_million_rows_are_written_and_read_in_flat_memory() -> None:
    import resource
    import time

    rows, group = 1_000_000, 2_000
    metrics = tuple(RunMetric(i, f"m{i}", f"m{i}", "1", f"m{i}|v:1", {}, None, "higher", "proportion", 0.0, 1.0, []) for i in range(3))
    peak = []
    seconds = 0.0
    with open_store("sqlite://") as store:
        start = RunStart(run_id="r", project="p", started_at="2026-01-01T00:00:00Z", dataset={}, config={}, plan_id="x", metrics=metrics, has_trials=True)
        writer = store.begin(start)
        for first in range(0, rows, group):
            samples = [sample(i, task=f"task {i // 4}", cluster=f"c{i % 1000}") for i in range(first, first + group)]
            results: list[Any] = [(i, m, 0, i / rows, None) for i in range(first, first + group) for m in range(3)]
            before = time.process_time()
            writer.add(samples, results)
            seconds += time.process_time() - before
            if first == 100_000:
                peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        run = store.resolve("r")
        for _, column in run.all_score_columns():
            assert column.score[-1] == (rows - 1) / rows
            assert (column.status == OK).all()
        tasks, clusters = run.unit_codes()
        peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert tasks is not None
    assert clusters is not None
    assert (int(tasks.max()), int(clusters.max())) == (249_999, 999)
    print(f"{seconds / rows * 1e6:.1f} µs a row; peak KB at 100 000, 1 000 000 rows, after reading: {peak}")
    assert peak[1] - peak[0] < 10_000
    assert peak[2] - peak[1] < 3 * 9_000 + 2 * 4_000 + 15_000  # three metrics at 9 bytes, two codes at 4, chunks
