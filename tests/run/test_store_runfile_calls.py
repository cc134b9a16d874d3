"""Recorded calls in a run file: lossless there and back, read in place, left out without content."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import DataError
from measurand.run.record import OF_THE_RUN, Ledger
from measurand.run.results import stored_results
from measurand.run.store import Store, StoredRun, export_run, open_run_file

from .recording import a_call, a_run, claimed, recorded, rows, within  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def judged(store: Store) -> StoredRun:
    return a_judged_run(store)


@pytest.fixture
def exported(file_store: Store, tmp_path: Path) -> Path:
    path = tmp_path / "r.run"
    export_run(a_judged_run(file_store), path)
    return path


def a_judged_run(store: Store) -> StoredRun:
    """A run with a probe, shared calls, one found recorded, an imported one, and hostile texts."""
    for run_id in ("earlier", "r"):
        a_run(store, run_id)
    with Ledger(store, "earlier") as ledger:
        recorded(ledger, ("found", a_call("found"), (0, 0)))
    store.import_calls([("imported", a_call("imported"))])
    with Ledger(store, "r", trust_imported=True) as ledger:
        assert claimed(ledger, "imported", (2, 0)) is not None
        recorded(ledger, ("z", a_call("half \ud83d nul \0"), (1, 1)), ("probe", a_call(kind="probe"), OF_THE_RUN))
        recorded(ledger, ("y", a_call(served=None, request=None, usage={"cost_usd": None}), (0, 1)))
        within(20, lambda: ledger.use("z", (0, 0)))
        assert claimed(ledger, "found", (1, 0)) is not None
    return rows(store.resolve("r"), store, 3)


def everything(run: StoredRun) -> tuple[Any, ...]:
    results = [one.to_dict() for one in stored_results(run)]
    return run.info, results, list(run.all_calls()), [run.calls(f"id{i}") for i in range(3)], run.call_totals(), run.usage_by_metric(), run.served_models()


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def rewrite(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


def test_a_judged_run_is_the_same_out_of_its_file(judged: StoredRun, tmp_path: Path) -> None:
    export_run(judged, tmp_path / "one.run")
    with open_run_file(tmp_path / "one.run") as back:
        assert everything(back) == everything(judged)
        assert back.call_totals().cached_calls == 2
        assert back.imported_calls() == judged.imported_calls() == 1
        export_run(back, tmp_path / "two.run")
    assert (tmp_path / "two.run").read_bytes() == (tmp_path / "one.run").read_bytes()


def test_calls_stand_after_the_rows_in_the_order_they_were_made(judged: StoredRun, tmp_path: Path) -> None:
    export_run(judged, tmp_path / "r.run")
    manifest, *others = lines_of(tmp_path / "r.run")
    assert (manifest["measurand_run"], manifest["stored"]) == (2, {"rows": 3, "results": 6, "calls": 5, "uses": 6})
    calls = others[3:]
    assert [(one["call"]["key"], one["uses"]) for one in calls] == [
        ("found", [[1, 0]]),
        ("imported", [[2, 0]]),
        ("z", [[0, 0], [1, 1]]),
        ("probe", [[-1, -1]]),
        ("y", [[0, 1]]),
    ]
    assert [one["call"]["paid"] for one in calls] == [False, False, True, True, True]
    assert [one.key for one in judged.all_calls(by_first_use=True)] == ["probe", "z", "y", "found", "imported"]


def test_without_content_neither_request_nor_reply_is_written(judged: StoredRun, tmp_path: Path) -> None:
    export_run(judged, tmp_path / "r.run", content=False)
    unpacked = gzip.decompress((tmp_path / "r.run").read_bytes())
    assert b"asked for" not in unpacked
    assert b'imported"}' not in unpacked
    with open_run_file(tmp_path / "r.run") as back:
        assert [one.usage for one in back.results()] == [one.usage for one in judged.results()]
        assert {(one.request, one.reply is None) for one in back.all_calls()} == {(None, True)}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"call": {}}, "this line is no call of a run"),
        ({"call": 5}, "this line is no call of a run"),
        ({"uses": [[0]]}, "this line is no call of a run"),
        ({"uses": [[0, 9]]}, "a use names the ordinal of a row and a metric of the manifest"),
        ({"uses": [["0", 0]]}, "a use names the ordinal of a row and a metric of the manifest"),
        ({"uses": [[0, 1], [2, 1]]}, "and 7 uses, its manifest says 3 and 6 and 5 and 6"),
        ({"uses": None}, "this line is no call of a run"),
    ],
)
def test_a_line_that_is_no_call_is_named(exported: Path, changes: dict[str, Any], sentence: str) -> None:
    lines = lines_of(exported)
    lines[-1].update(changes)
    rewrite(exported, lines)
    with pytest.raises(DataError) as caught:
        open_run_file(exported)
    assert sentence in str(caught.value)
    assert f"r.run:{len(lines)}: " in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("key", 5), ("usage", []), ("reply", "x"), ("served", 1), ("recorded_at", None), ("model", None)])
def test_a_call_with_a_value_of_another_type_is_named(exported: Path, name: str, value: Any) -> None:
    lines = lines_of(exported)
    lines[-1]["call"][name] = value
    rewrite(exported, lines)
    with pytest.raises(DataError, match="this line is no call of a run: key, kind, model"):
        open_run_file(exported)


def test_a_call_that_is_missing_or_too_many_is_noticed(exported: Path) -> None:
    lines = lines_of(exported)
    for changed in (lines[:-1], [*lines, {**lines[-1], "uses": [[2, 1]]}]):
        rewrite(exported, changed)
        with pytest.raises(DataError, match="its manifest says 3 and 6 and 5 and 6"):
            open_run_file(exported)
