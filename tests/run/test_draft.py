"""A first config for some data: it reads as TOML, and check and run accept it as it is."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
import tomli

from measurand.config import load
from measurand.core.errors import DataError
from measurand.run.draft import draft_config
from measurand.run.plan import RunOptions, make_plan
from measurand.run.start import start_run
from measurand.run.store import open_store

ROWS = [{"question": f"q{at}", "answer": f"the answer {at}", "reference": f"answer {at}", "team": "ab"[at % 2], "nr": str(at)} for at in range(20)]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, rows: list[dict[str, Any]] = ROWS) -> str:
    if name.endswith(".csv"):
        with open(name, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif name.endswith(".parquet"):
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), name)
    else:
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def runs(text: str, path: str = "metrics.toml") -> str:
    """How a run by this config ends."""
    Path(path).write_text(text, encoding="utf-8")
    made = make_plan(load(Path(path), environ={}), RunOptions())
    assert made.ok, made.problems
    with open_store("sqlite://") as store:
        return start_run(made, store, command=[]).status


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_it_runs_as_it_is(name: str) -> None:
    draft = draft_config(write(name), Path.cwd())
    assert tomli.loads(draft.text)["data"]["path"] == name
    assert tomli.loads(draft.text)["run"]["metrics"] == list(draft.metrics)
    assert "code_token_f1" in draft.metrics
    assert runs(draft.text) == "complete"


def test_it_says_which_column_feeds_which_field_with_three_values() -> None:
    text = draft_config(write("rows.csv"), Path.cwd()).text
    assert '# output ← "answer": the answer 0 | the answer 1 | the answer 2\n' in text
    assert '# slices = ["metadata.team"]' in text


def test_metrics_that_fail_on_the_rows_are_not_chosen() -> None:
    draft = draft_config(write("rows.jsonl", [{"id": str(at), "output": {"a": at}, "expected": {"a": at}} for at in range(5)]), Path.cwd())
    assert draft.metrics
    assert not {"code_token_f1", "code_exact_match"} & set(draft.metrics)
    assert runs(draft.text) == "complete"


def test_metrics_that_score_no_row_are_not_chosen() -> None:
    rows = [{"id": str(at), "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]} for at in range(5)]
    draft = draft_config(write("rows.jsonl", rows), Path.cwd())
    assert "code_redundant_calls" not in draft.metrics
    assert runs(draft.text) == "complete"


def test_rows_that_nothing_tells_apart_are_numbered() -> None:
    draft = draft_config(write("rows.csv", [{"answer": f"a{at % 2}"} for at in range(4)]), Path.cwd())
    assert tomli.loads(draft.text)["data"]["id"] == "order"
    assert runs(draft.text) == "complete"


def test_data_that_no_metric_can_score_is_refused() -> None:
    with pytest.raises(DataError, match=r"rows\.jsonl: no metric scores these rows: they have id, metadata; metrics list --for FILE"):
        draft_config(write("rows.jsonl", [{"id": "a", "colour": "red"}]), Path.cwd())


def test_data_that_cannot_be_read_is_told_as_by_check() -> None:
    with pytest.raises(DataError, match="there is no such file"):
        draft_config("nowhere.jsonl", Path.cwd())


def test_a_config_elsewhere_finds_the_rows() -> None:
    os.mkdir("configs")
    draft = draft_config(write("rows.jsonl"), Path.cwd() / "configs")
    assert tomli.loads(draft.text)["data"]["path"] == "../rows.jsonl"
    assert runs(draft.text, "configs/metrics.toml") == "complete"


def test_a_pattern_stays_a_pattern() -> None:
    write("one.jsonl", ROWS[:10])
    write("two.jsonl", ROWS[10:])
    draft = draft_config("*.jsonl", Path.cwd())
    assert tomli.loads(draft.text)["data"]["path"] == "*.jsonl"
    assert runs(draft.text) == "complete"


def test_hostile_names_and_values_stay_in_their_comment() -> None:
    hostile = {'x"]\n[run]\nmetrics = ["y': "v\n[data]", "\x7f\u2028\u202e": "\x1b[2J", "answer": "line\r\n[x]", "reference": "z", "question": "\x00"}
    draft = draft_config(write("rows.jsonl", [{**hostile, "id": str(at)} for at in range(3)]), Path.cwd())
    assert set(tomli.loads(draft.text)) == {"data", "run"}
    assert all(line.isprintable() for line in draft.text.splitlines())
    assert runs(draft.text) == "complete"


@pytest.mark.parametrize("name", ['we"ird \\ name.jsonl', "tab\tname.jsonl", "del\x7f.jsonl", "ünïcode 漢.jsonl"])
def test_any_name_of_a_file_is_written_as_toml(name: str) -> None:
    draft = draft_config(write(name), Path.cwd())
    assert tomli.loads(draft.text)["data"]["path"] == name
    assert runs(draft.text) == "complete"


def test_without_data_it_is_an_example_to_change() -> None:
    draft = draft_config(None, Path.cwd())
    table = tomli.loads(draft.text)
    assert table["data"]["path"] == "rows.jsonl"
    assert table["run"]["metrics"] == ["code_token_f1"]
    Path("metrics.toml").write_text(draft.text, encoding="utf-8")
    load(Path("metrics.toml"), environ={})
