from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import DataError, RunIncompleteError
from measurand.data import dataset as module
from measurand.data.dataset import Selection, survey
from measurand.data.source import open_source

from .files import Survey, Write, fields, identities  # noqa: TID252  # tests are imported by path, there is no package to name

ROWS = [{"id": f"r{n}", "input": f"q{n}", "output": "a", "lang": "en"} for n in range(5)]


def test_what_is_known_after_the_first_pass(surveyed: Survey) -> None:
    seen: list[tuple[dict[str, Any], str]] = []
    dataset = surveyed([*ROWS, {"input": "without id", "cluster": "c"}], observe=lambda: lambda fields, name: seen.append((dict(fields), name)))
    assert (dataset.label, dataset.files) == ("rows.jsonl", ("rows.jsonl",))
    assert (dataset.rows, dataset.filtered, dataset.skipped) == (6, 0, 0)
    assert dataset.available == {"id": 5, "input": 6, "output": 5, "cluster": 1, "metadata": 5}
    assert (dataset.has_trials, dataset.has_clusters) == (False, True)
    assert [name for _, name in seen] == ["r0", "r1", "r2", "r3", "r4", "line 6"]
    assert seen[0][0] == {"id": "r0", "input": "q0", "output": "a", "metadata": {"lang": "en"}}


def test_records_in_order_with_their_place(surveyed: Survey) -> None:
    rows = list(surveyed(ROWS, where=[("id", "r3")]).records())
    assert [(row.ordinal, row.where, row.record.id, row.row.values) for row in rows] == [(0, "rows.jsonl:4", "r3", ROWS[3])]
    assert set(rows[0].task_hashes) == {"input"}


def test_a_frame_and_standard_input_are_datasets() -> None:
    data = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    piped = survey(open_source("-", stdin=io.BytesIO(data)))
    held = survey(open_source(ROWS))
    assert identities(piped) == identities(held)
    assert fields(piped) == fields(held)


def test_the_fingerprint_is_that_of_the_selected_rows(surveyed: Survey) -> None:
    whole = surveyed(ROWS).fingerprint
    assert len(whole) == 32
    assert surveyed(ROWS).fingerprint == whole
    assert surveyed([*ROWS, {"id": "x"}], limit=5).fingerprint == whole
    assert surveyed(ROWS[:4]).fingerprint != whole
    assert surveyed([*ROWS[1:], ROWS[0]]).fingerprint != whole
    assert surveyed("\n".join(json.dumps(row) for row in ROWS) + "\r\n\r\n").fingerprint == whole


def swapped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [rows[1], rows[0], *rows[2:]]


CHANGES: dict[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = {
    "a row less": lambda rows: rows[:-1],
    "a row more": lambda rows: [*rows, {"id": "new"}],
    "another value": lambda rows: [*rows[:-1], {**rows[-1], "output": "b"}],
    "another order": swapped,
    "another column": lambda rows: [*rows[:-1], {**rows[-1], "expected": "b"}],
    "nothing": lambda rows: [],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_data_that_changed_between_the_passes_is_noticed(surveyed: Survey, write: Write, change: Callable[[Any], Any]) -> None:
    dataset = surveyed(ROWS)
    write("rows.jsonl", change(ROWS))
    with pytest.raises(RunIncompleteError, match=r"data changed: rows.jsonl"):
        list(dataset.records())


def test_data_that_became_bad_or_went_away_is_noticed(surveyed: Survey, write: Write, tmp_path: Path) -> None:
    dataset = surveyed(ROWS)
    write("rows.jsonl", b'{"id": \n')
    with pytest.raises(RunIncompleteError, match=r"data changed"):
        list(dataset.records())
    (tmp_path / "rows.jsonl").unlink()
    with pytest.raises(RunIncompleteError, match=r"data changed: rows.jsonl: it cannot be read: No such file or directory"):
        list(dataset.records())


def test_rows_beyond_the_limit_may_change(surveyed: Survey, write: Write) -> None:
    dataset = surveyed(ROWS, limit=2)
    write("rows.jsonl", [*ROWS[:2], {"id": "new"}])
    assert len(identities(dataset)) == 2


def test_every_problem_at_once(surveyed: Survey) -> None:
    content = '{"id": 1\n{"id": "a", "output": NaN}\n{"output": "x"}\n{"id": "ok"}\n'
    with pytest.raises(DataError) as told:
        surveyed(content, columns={"input": "Question"}, where=[("zzz", "1")])
    assert [str(problem) for problem in told.value.problems] == [
        "rows.jsonl:1: no JSON: expecting ',' delimiter, character 9",
        "rows.jsonl:2: NaN is no JSON number; a value that is not there is null",
        "column input: no column is called 'Question'; the data has output, id",
        "--where zzz=1: nothing in the data is called 'zzz'; a condition names a field, metadata.NAME or a column: output, id",
        (
            "rows.jsonl: 1 row has no id, no task, and nothing that says what was asked (rows.jsonl:3); "
            'name the column that tells rows apart: --column id=COLUMN; or number them: [data] id = "order"'
        ),
    ]


def test_bad_rows_can_be_left_out(surveyed: Survey) -> None:
    dataset = surveyed('nope\n{"id": "a"}\n[]\n', on_bad_row="skip")
    assert (dataset.rows, dataset.skipped) == (1, 2)
    assert dataset.notes == ('2 bad rows were left out (on_bad_row = "skip")',)
    assert identities(dataset) == [("a", "a", 0)]
    with pytest.raises(DataError, match=r'rows.jsonl: 0 rows: all 2 are bad rows, left out; on_bad_row = "stop" says what is wrong with them'):
        surveyed("nope\n[]\n", on_bad_row="skip")


@pytest.mark.parametrize(("bad", "last"), [(25, "and 5 more bad rows"), (3_000, "and at least 980 more bad rows")])
def test_very_many_bad_rows_are_told_in_short(surveyed: Survey, bad: int, last: str) -> None:
    with pytest.raises(DataError) as told:
        surveyed("nope\n" * bad)
    assert len(told.value.problems) == 21
    assert str(told.value.problems[-1]) == f'rows.jsonl: {last}; to leave them out, counted: [data] on_bad_row = "skip"'


@pytest.mark.parametrize(("name", "content"), [("t.jsonl", ""), ("t.jsonl", "\n \n"), ("t.json", "[]"), ("t.csv", "input,output\n")])
def test_an_empty_dataset(surveyed: Survey, name: str, content: str) -> None:
    with pytest.raises(DataError, match=rf"{name}: 0 rows: the dataset is empty"):
        surveyed(content, name)


def test_what_is_wrong_with_a_file_comes_with_the_bad_rows_before_it(surveyed: Survey, write: Write, tmp_path: Path) -> None:
    write("a.jsonl", "nope\n")
    write("b.csv", "x,x\n")
    with pytest.raises(DataError) as told:
        survey(open_source(["a.jsonl", "b.csv"], None, tmp_path), selection=Selection())
    assert [problem.where for problem in told.value.problems][-1] == "b.csv:1"


def test_rows_without_a_value_for_a_field_are_counted(surveyed: Survey) -> None:
    dataset = surveyed([{"input": "a", "output": "x", "expected": None}, {"input": "b", "output": "y", "expected": "y"}])
    assert dataset.available == {"input": 2, "output": 2, "expected": 1}


def test_columns_that_never_settle_end(surveyed: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOKED_AT", 1)
    monkeypatch.setattr(module, "_RESTARTS", 3)
    names = ["response", "answer", "actual_output", "completion", "prediction"]
    with pytest.raises(DataError, match=r"the columns change from row to row too often"):
        surveyed([{"input": "q"}, *({name: "a"} for name in names)])


@pytest.mark.slow
def test_memory_does_not_grow_with_rows(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        path = tmp_path / "rows.jsonl"
        with path.open("w") as file:
            for n in range(rows):
                file.write(json.dumps({"input": f"What is {n}?", "output": f"It is {n}.", "expected": str(n)}) + "\n")
        tracemalloc.start()
        dataset = survey(open_source(path))
        assert sum(1 for _ in dataset.records()) == rows
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1_000)  # what is imported late is not memory of rows
    small, large = peak(5_000), peak(50_000)
    assert (large - small) / 45_000 < 40  # bytes a row: 8 held, and a sorted copy
