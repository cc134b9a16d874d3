"""`metrics score`: a filter."""

from __future__ import annotations

from pathlib import Path

import pytest

from .here import Here, house, valid  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return house(Here(tmp_path, monkeypatch, capsys))


def test_one_line_a_row_and_metric_in_the_order_of_the_rows(here: Here) -> None:
    ran = here("score", "code_token_f1", "code_output_length", "--data", "rows.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert [(line["sample_id"], line["metric"], line["score"]) for line in ran.lines[:3]] == [
        ("a", "code_token_f1", 1.0),
        ("a", "code_output_length", 5.0),
        ("b", "code_token_f1", pytest.approx(2 / 3)),
    ]
    for line in ran.lines:
        valid(line, "result")


def test_with_json_the_same(here: Here) -> None:
    words = ("score", "code_token_f1", "--data", "rows.jsonl")
    assert here(*words, "--json") == here(*words)


def test_the_lines_of_a_run_of_the_same_rows(here: Here) -> None:
    here("run")
    assert here("results", "latest", "--json").lines == here("score", "code_token_f1", "code_output_length", "--data", "rows.jsonl").lines


def test_a_cell_that_cannot_be_fed_does_not_apply(here: Here) -> None:
    last = here("score", "code_token_f1", "--data", "rows.jsonl").lines[-1]
    assert (last["status"], last["error"]) == ("not_applicable", {"code": "missing_field", "message": "the row has no expected", "field": "expected"})


def test_options_and_thresholds(here: Here) -> None:
    here.rows("passages.jsonl", [{"id": "a", "contexts": ["p", "q"], "reference_contexts": ["q"]}])
    words = ("score", "code_context_recall", "--data", "passages.jsonl", "--set", "code_context_recall.threshold=0.5")
    (one,) = here(*words).lines
    (at_one,) = here(*words, "--set", "code_context_recall.k=1").lines
    assert (one["score"], one["passed"], at_one["score"], at_one["passed"]) == (1.0, True, 0.0, False)


def test_another_pattern_is_another_score(here: Here) -> None:
    here.rows("apple.jsonl", [{"id": "a", "output": "Apple"}])
    scores = [
        here("score", "code_regex_match", "--data", "apple.jsonl", "--set", f'code_regex_match.pattern="{one}"').lines[0]["score"] for one in ("^A", "^B")
    ]
    assert scores == [1.0, 0.0]


def test_the_calls_of_a_row_are_what_is_scored(here: Here) -> None:
    rows = [{"id": name, "output": "done", "tool_calls": [{"name": name}], "expected_tool_calls": [{"name": "a"}]} for name in "ab"]
    assert [line["score"] for line in here("score", "code_tool_call_match", "--data", here.rows("calls.jsonl", rows)).lines] == [1.0, 0.0]


def test_more_errors_than_allowed_end_with_3(here: Here) -> None:
    here.rows("bad.jsonl", [{"id": "a", "output": {"a": 1}, "expected": "x"}])
    assert here("score", "code_exact_match", "--data", "bad.jsonl").code == 3
    assert here("score", "code_exact_match", "--data", "bad.jsonl", "--set", "run.max_error_rate=1.0").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["code_token_f2"], "metrics score: no metric is called 'code_token_f2'; did you mean code_token_f1"),
        (["code_token_f1", "--data", "nope.jsonl"], "nope.jsonl: there is no such file"),
        (["code_token_f1", "--data", "empty.jsonl"], "empty.jsonl: 0 rows: nothing was scored"),
        (
            ["code_context_recall", "--set", "code_context_recall.kk=3"],
            "--set metrics.code_context_recall.kk: code_context_recall has no option 'kk'; did you mean k?",
        ),
        (["code_token_f1", "--column", "output=nope"], "column output: no column is called 'nope'"),
        ([], "metrics score: METRIC... is missing"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(here: Here, words: list[str], told: str) -> None:
    here.text("empty.jsonl", "")
    data = [] if "--data" in words else ["--data", "rows.jsonl"]
    ran = here("score", *words, *data)
    assert ran.code == 2
    assert ran.sentence.startswith(told)


def test_a_bad_row_in_the_middle_is_told_after_the_results_before_it(here: Here) -> None:
    here.text("torn.jsonl", '{"id": "a", "output": "x"}\n{"id": "b", "out')
    ran = here("score", "code_output_length", "--data", "torn.jsonl")
    assert (ran.code, len(ran.lines)) == (2, 1)
    assert ran.err.startswith("torn.jsonl:2: ")


def test_under_json_that_problem_is_the_last_line(here: Here) -> None:
    here.text("torn.jsonl", '{"id": "a", "output": "x"}\n{"id": "b", "out')
    ran = here("score", "code_output_length", "--data", "torn.jsonl", "--json")
    assert (ran.code, ran.err) == (2, "")
    first, last = ran.lines
    valid(first, "result")
    assert valid(last, "problems")["problems"][0]["where"] == "torn.jsonl:2"
