"""A run from its plan to its end: complete, incomplete, continued."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import ProblemsError
from measurand.core.metric import metric
from measurand.core.taxonomy import MetricCategory
from measurand.run.start import start_run
from measurand.run.store import Store

from .planning import FOUR, known, plan, run, started  # noqa: TID252  # tests are imported by path, there is no package to name

MANY = [{"id": f"r{at}", "output": "x" * (at % 7), "expected": "xxx"} for at in range(5_000)]


@pytest.fixture
def interrupting() -> Iterator[dict[str, int]]:
    """A metric that is interrupted, as by Ctrl-C, at the row of this number, once; the number -1: never."""
    state = {"at": -1, "scored": 0}

    @metric("test.interrupting", categories=MetricCategory.Correctness, version="1")
    def interrupts(output: str) -> float:
        """Half, or the end."""
        state["scored"] += 1
        if state["scored"] == state["at"]:
            raise KeyboardInterrupt
        return 0.5

    with known(interrupts):
        yield state


def slots(store: Store, run_id: str) -> tuple[int, int, int]:
    """How many results there are, how many different slots, how many rows."""
    with store.resolve(run_id) as stored:
        results = [(one.ordinal, one.metric) for one in stored.results()]
        return len(results), len(set(results)), len(stored)


def test_a_run_stores_what_it_was_and_how_it_ended(file_store: Store) -> None:
    stored = run(file_store, plan(FOUR, "code_output_length", name="first", tables={"project": "p"}))
    info = stored.info
    assert (info.name, info.project, info.status, info.reason) == ("first", "p", "complete", None)
    assert info.counts == {"rows": 4, "errors": 0, "cells": 4}
    assert info.config["run"]["metrics"] == ["code_output_length"]
    assert info.dataset["rows"] == 4
    assert info.command == ["test"]
    assert info.elapsed_s is not None
    assert [entry["field"] for entry in info.mapping] == ["id", "input", "output", "expected", "metadata"]


def test_a_plan_with_problems_is_not_run(file_store: Store) -> None:
    with pytest.raises(ProblemsError, match="code_token_f1 needs expected"):
        start_run(plan(FOUR, "code_token_f1"), file_store, command=[])
    assert file_store.runs() == []


def test_progress_is_told_by_rows(file_store: Store) -> None:
    told: list[tuple[int, int]] = []
    start_run(plan(MANY, "code_output_length"), file_store, command=[], progress=lambda done: told.append((done.rows, done.errors)))
    assert told == [(2_000, 0), (4_000, 0), (5_000, 0)]


def test_too_many_errors_leave_the_run_incomplete_with_all_its_results(file_store: Store) -> None:
    rows = [{"id": f"r{at}", "output": {"a": 1} if at < 3 else "x", "expected": "x"} for at in range(10)]
    ended = started(file_store, plan(rows, "code_exact_match"))
    assert (ended.status, ended.interrupted) == ("incomplete", False)
    assert ended.reason == "3 of 10 results are errors (30.0 %), more than max_error_rate = 0.05; metrics results RUN --errors shows them"
    assert slots(file_store, ended.run_id) == (10, 10, 10)


def test_as_many_errors_as_are_allowed_are_allowed(file_store: Store) -> None:
    rows = [{"id": f"r{at}", "output": {"a": 1} if at < 3 else "x", "expected": "x"} for at in range(10)]
    assert started(file_store, plan(rows, "code_exact_match", tables={"run": {"max_error_rate": 0.3}})).status == "complete"


def test_an_interrupted_run_continues_under_its_id_with_each_slot_filled_once(file_store: Store, interrupting: dict[str, int]) -> None:
    interrupting["at"] = 4_500
    first = started(file_store, plan(MANY, "test.interrupting"))
    assert (first.status, first.reason, first.interrupted, first.found_done) == ("incomplete", "interrupted", True, 0)
    assert slots(file_store, first.run_id) == (4_000, 4_000, 4_000)
    interrupting.update(at=-1, scored=0)
    second = started(file_store, plan(MANY, "test.interrupting"))
    assert (second.run_id, second.status, second.found_done) == (first.run_id, "complete", 4_000)
    assert interrupting["scored"] == 1_000
    assert slots(file_store, first.run_id) == (5_000, 5_000, 5_000)
    info = file_store.resolve(first.run_id).info
    assert info.counts == {"rows": 5_000, "errors": 0, "cells": 5_000}
    third = started(file_store, plan(MANY, "test.interrupting"))
    assert third.run_id != first.run_id


def test_time_is_counted_over_all_attempts(file_store: Store, interrupting: dict[str, int]) -> None:
    interrupting["at"] = 2_500
    first = started(file_store, plan(MANY, "test.interrupting"))
    spent = file_store.resolve(first.run_id).info.elapsed_s
    interrupting.update(at=-1, scored=0)
    started(file_store, plan(MANY, "test.interrupting"))
    total = file_store.resolve(first.run_id).info.elapsed_s
    assert spent is not None
    assert total is not None
    assert total > spent


@pytest.mark.parametrize(
    "other",
    [
        {"rows": MANY[:-1]},
        {"columns": {"output": "expected"}},
        {"tables": {"project": "another"}},
        {"tables": {"metrics": {"test.interrupting": {"threshold": 0.1}}}},
    ],
)
def test_another_plan_or_project_begins_a_run_of_its_own(file_store: Store, interrupting: dict[str, int], other: dict[str, Any]) -> None:
    interrupting["at"] = 2_500
    first = started(file_store, plan(MANY, "test.interrupting"))
    interrupting.update(at=-1, scored=0)
    assert started(file_store, plan(other.pop("rows", MANY), "test.interrupting", **other)).run_id != first.run_id


def test_a_run_that_another_living_process_is_writing_is_not_continued(
    file_store: Store, interrupting: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    interrupting["at"] = 2_500
    monkeypatch.setattr("measurand.run.start.versions", lambda: {"process": f"{socket.gethostname()}:{os.getppid()}"})
    first = started(file_store, plan(MANY, "test.interrupting"))
    monkeypatch.undo()
    interrupting.update(at=-1, scored=0)
    assert started(file_store, plan(MANY, "test.interrupting")).run_id != first.run_id


def test_data_that_changes_under_a_run_leaves_it_incomplete(file_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in FOUR))
    made = plan(path, "code_output_length")
    path.write_text(path.read_text().replace("Paris", "Parma"))
    ended = started(file_store, made)
    assert ended.status == "incomplete"
    assert str(ended.reason).startswith("data changed: ")


@pytest.mark.parametrize("content", ["masked", "none"])
def test_no_text_reaches_the_file_of_a_store_that_keeps_none(tmp_path: Path, content: str) -> None:
    from measurand.run.store import open_store

    rows = [
        {
            "id": f"r{at}",
            "input": "PLANTED in",
            "output": "PLANTED out",
            "expected": "PLANTED exp",
            "contexts": ["PLANTED ctx"],
            "tags": ["PLANTED tag"],
            "x": "PLANTED x",
        }
        for at in range(20)
    ]
    names = ("code_token_f1", "code_json_match", "code_chrf", "code_rouge_l", "code_quoted_spans", "code_context_redundancy")
    with open_store(f"sqlite:///{tmp_path / 'kept' / 's.db'}") as store:
        ended = started(store, plan(rows, *names, tables={"run": {"content": content, "max_error_rate": 1.0}}))
        assert slots(store, ended.run_id) == (120, 120, 20)
    found = b"".join(path.read_bytes() for path in (tmp_path / "kept").iterdir())
    assert b"code_token_f1" in found
    assert b"PLANTED" not in found
