"""`metrics results`: the rows of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from .here import Here, house, valid  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    made = house(Here(tmp_path, monkeypatch, capsys))
    assert made("run", "--set", "metrics.code_token_f1.threshold=0.9").code == 0
    return made


def test_all_of_them(here: Here) -> None:
    ran = here("results", "latest")
    lines = ran.out.splitlines()
    assert (ran.code, ran.err, len(lines)) == (0, "", 10)
    assert lines[0].split() == ["ROW", "METRIC", "SCORE", "STATUS", "PASSED", "WHY"]
    assert lines[-1] == "8 results. One row in full: metrics results latest --id a"


def test_as_lines_of_json(here: Here) -> None:
    lines = here("results", "latest", "--json").lines
    assert len(lines) == 8
    for line in lines:
        valid(line, "result")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--failed"], [("b", "code_token_f1"), ("c", "code_token_f1")]),
        (["--na"], [("d", "code_token_f1")]),
        (["--errors"], []),
        (["--failed", "--na"], [("b", "code_token_f1"), ("c", "code_token_f1"), ("d", "code_token_f1")]),
        (["--metric", "code_output_length", "--sort", "score", "--limit", "2"], [("c", "code_output_length"), ("d", "code_output_length")]),
        (["--id", "a"], [("a", "code_token_f1"), ("a", "code_output_length")]),
    ],
)
def test_some_of_them(here: Here, words: list[str], found: list[tuple[str, str]]) -> None:
    assert [(line["sample_id"], line["metric"]) for line in here("results", "latest", *words, "--json").lines] == found


def test_none_of_them(here: Here) -> None:
    assert here("results", "latest", "--errors").out == "no such results\n"


def test_one_row_in_full(here: Here) -> None:
    lines = here("results", "latest", "--id", "b").out.splitlines()
    assert lines[0] == "row b · task b · trial 0"
    assert "output: Rome, Italy" in lines
    assert "code_token_f1  0.667, failed" in lines


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nope"], "RUN: no run has the id, the name or an id beginning 'nope'; newest: "),
        (["latest", "--metric", "code_token_f2"], "--metric: run {id} has no metric 'code_token_f2'; did you mean code_token_f1?"),
        (["latest", "--id", "zzz"], "--id: run {id} has no row 'zzz'"),
        (["latest", "--sort", "name"], "metrics results --sort: 'name' is not 'score'"),
    ],
)
def test_what_is_not_there(here: Here, words: list[str], told: str) -> None:
    run_id = here("runs", "--json").document[0]["run_id"]
    ran = here("results", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.sentence.startswith(told.format(id=run_id))
    assert valid(here("results", *words, "--json").document, "problems")
