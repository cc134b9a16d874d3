"""Scoring as a filter: row by row, nothing known of those that come later."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import DataError, ProblemsError
from measurand.run.stream import ScoreStream, score_stream

from .planning import FOUR, settings  # noqa: TID252  # tests are imported by path, there is no package to name


def scored(rows: Any, *metrics: str, columns: dict[str, str] | None = None, tables: dict[str, Any] | None = None) -> ScoreStream:
    return score_stream(settings(tables), metrics, rows, columns or {})


def test_rows_and_metrics_in_their_order() -> None:
    found = [(one.sample_id, one.metric, one.score, one.status) for one in scored(FOUR[2:], "code_token_f1", "code_output_length")]
    assert found == [
        ("c", "code_token_f1", 0.0, "ok"),
        ("c", "code_output_length", 0.0, "ok"),
        ("d", "code_token_f1", None, "not_applicable"),
        ("d", "code_output_length", 1.0, "ok"),
    ]


def test_a_result_is_there_before_the_next_row_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "output": "x"}\n{broken\n')
    stream = iter(scored(str(path), "code_output_length"))
    assert next(stream).sample_id == "a"
    with pytest.raises(DataError, match=r"rows\.jsonl:2: no JSON"):
        next(stream)


def test_bad_rows_can_be_skipped(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{broken\n{"id": "a", "output": "x"}\n')
    assert [one.sample_id for one in scored(str(path), "code_output_length", tables={"data": {"on_bad_row": "skip"}})] == ["a"]


def test_everything_wrong_is_told_before_a_row_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("{broken\n")
    with pytest.raises(ProblemsError) as caught:
        scored(str(path), "nope_a", "category:ragg", "code_context_recall(q=1)")
    assert [problem.code for problem in caught.value.problems] == ["unknown_category", "unknown_metric", "bad_option"]


def test_a_bare_quantity_is_its_code_metric_at_once() -> None:
    assert [one.metric for one in scored(FOUR[:1], "token_f1")] == ["code_token_f1"]


def test_columns_thresholds_and_options() -> None:
    tables = {"metrics": {"code_token_f1": {"threshold": 0.9}, "code_context_recall": {"k": 1}}, "data": {"columns": {"expected": "input"}}}
    rows = [{"id": "a", "input": "x", "lang": "x y", "contexts": ["p", "q"], "reference_contexts": ["q"]}]
    first, second = scored(rows, "code_token_f1", "code_context_recall", columns={"output": "lang"}, tables=tables)
    assert first.score == pytest.approx(2 / 3)
    assert first.passed is False
    assert second.score == 0.0
    assert "opt:k=1" in second.signature


@pytest.mark.parametrize(("most", "complete"), [(0.05, False), (0.49, False), (0.5, True), (1.0, True)])
def test_complete_up_to_the_error_rate(most: float, complete: bool) -> None:
    stream = scored([{"id": "a", "output": {"a": 1}, "expected": "x"}, {"id": "b", "output": "x", "expected": "x"}], "code_exact_match")
    assert [one.status for one in stream] == ["error", "ok"]
    assert stream.complete(most) is complete


def test_no_row_is_no_success(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("")
    stream = scored(str(path), "code_output_length")
    assert list(stream) == []
    with pytest.raises(DataError, match=r"rows\.jsonl: 0 rows: nothing was scored"):
        stream.refuse_nothing()


def test_memory_does_not_grow_with_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"

    def peak(count: int) -> int:
        path.write_text("".join(f'{{"id": "{at}", "output": "{"x" * 200}"}}\n' for at in range(count)))
        tracemalloc.start()
        for _ in scored(str(path), "code_output_length"):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(100)  # what is loaded once
    assert peak(5_000) < 2 * peak(500)
