"""A whole run as one file: lossless there and back, and every way it can be broken."""

from __future__ import annotations

import gzip
import io
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import DataError, StoreError
from measurand.run.store import RunMetric, RunStart, Store, StoredRun, export_run, is_run_file, open_run_file, open_store, write_run
from measurand.run.store.strict_json import dumps_ascii


def everything(run: StoredRun) -> tuple[Any, ...]:
    return run.info, list(run.samples()), list(run.results())


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line, parse_constant=pytest.fail) for line in gzip.decompress(path.read_bytes()).splitlines()]


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    lines = lines_of(path)
    change(lines)
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


@pytest.fixture
def exported(tmp_path: Path, file_store: Store, fill: Callable[..., StoredRun]) -> Path:
    path = tmp_path / "base.run"
    export_run(fill(file_store, "r1", name="nightly", has_trials=True), path)
    return path


def test_a_run_is_the_same_out_of_its_file(store: Store, fill: Callable[..., StoredRun], tmp_path: Path) -> None:
    run = fill(store, "r1", rows=5, name="org/model:free ✓", git_commit="abc", mapping=[{"field": "input"}], versions={"numpy": "2.0"})
    store.delete_row("id3")
    run = store.resolve("r1")
    path = tmp_path / "r1.run"
    export_run(run, path)
    with open_run_file(path) as back:
        assert everything(back) == everything(run)
        assert back.info.removed_rows == 1
        assert back.score_columns(0).score.tolist() == run.score_columns(0).score.tolist()
        assert back.row("id4") == run.row("id4")


def test_an_incomplete_run_stays_incomplete(file_store: Store, fill: Callable[..., StoredRun], tmp_path: Path) -> None:
    export_run(fill(file_store, "r1", status="incomplete"), tmp_path / "f")
    with open_run_file(tmp_path / "f") as back:
        assert back.info.status == "incomplete"


texts = st.text(st.characters(), max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda x: st.lists(x) | st.dictionaries(texts, x),
    max_leaves=5,
)
scores = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(
        st.tuples(texts, texts, st.integers(-(2**63), 2**63 - 1), st.none() | texts, st.dictionaries(texts, json_values, max_size=3), st.none() | scores),
        max_size=4,
    )
)
def test_whatever_a_row_holds_comes_back(rows: list[tuple[Any, ...]]) -> None:
    metric = RunMetric(0, "m", "m", "1", "m|v:1", {}, None, "higher", "continuous", None, None, [])
    start = RunStart(run_id="r", project="p", started_at="2026-01-01T00:00:00Z", dataset={}, config={}, plan_id="x", metrics=(metric,))
    file = io.BytesIO()
    with open_store("sqlite://") as store:
        store.begin(start).add(
            [
                (i, name, task, trial, cluster, "{}", None, None, json.dumps(record, ensure_ascii=False))
                for i, (name, task, trial, cluster, record, _) in enumerate(rows)
            ],
            [(i, 0, int(row[5] is None), row[5], json.dumps({"details": row[4]})) for i, row in enumerate(rows)],
        )
        run = store.resolve("r")
        before = everything(run)
        write_run(run, file)
    with tempfile.NamedTemporaryFile() as kept:
        kept.write(file.getvalue())
        kept.flush()
        with open_run_file(kept.name) as back:
            assert everything(back) == before


def test_the_file_begins_with_a_manifest_and_is_strict_json(exported: Path) -> None:
    manifest, *rows = lines_of(exported)
    assert list(manifest) == ["measurand_run", "schema", "content", "stored", "run", "metrics"]
    assert (manifest["measurand_run"], manifest["content"], manifest["stored"]) == (1, True, {"rows": 3, "results": 9})
    assert [row["id"] for row in rows] == ["id0", "id1", "id2"]
    assert rows[1]["results"][0] == {"metric": 0, "status": "ok", "score": 1 / 3, "rest": {"details": {"reference": 0}}}


def test_equal_runs_are_equal_files_and_appear_whole(exported: Path, tmp_path: Path) -> None:
    with open_run_file(exported) as run:
        export_run(run, tmp_path / "again.run")
    assert (tmp_path / "again.run").read_bytes() == exported.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.run", "base.run", "kept"]


def test_an_export_without_content_has_no_text_of_a_row(file_store: Store, fill: Callable[..., StoredRun], tmp_path: Path) -> None:
    path = tmp_path / "f"
    export_run(fill(file_store), path, content=False)
    unpacked = gzip.decompress(path.read_bytes())
    assert b"text 0 of" not in unpacked
    assert b"reference" not in unpacked
    assert b"slow" not in unpacked
    with open_run_file(path) as back:
        assert [one.row for one in back.samples()] == [None] * 3
        assert back.score_columns(0).score.tolist() == [0, 1 / 3, 2 / 3]
        assert [result.rest for result in back.results(status="error")] == [{"error": {"code": "timeout", "message": "timeout (exported without content)"}}]


def test_an_export_that_cannot_be_written_leaves_what_was_there(exported: Path, tmp_path: Path) -> None:
    with open_run_file(exported) as run:
        with pytest.raises(StoreError, match=r"^the run cannot be written to .*none/x.run: no such file or directory$"):
            export_run(run, tmp_path / "none" / "x.run")
        (tmp_path / "folder").mkdir()
        with pytest.raises(StoreError, match="folder: is a directory"):
            export_run(run, tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.run", "folder", "kept"]


def test_a_row_removed_while_exporting_is_noticed(file_store: Store, fill: Callable[..., StoredRun]) -> None:
    run = fill(file_store)
    assert len(run) == 3
    file_store.delete_row("id1")
    with pytest.raises(StoreError, match="run r1 changed while it was exported; export it again"):
        write_run(run, io.BytesIO())


def test_what_is_a_run_file(exported: Path, tmp_path: Path) -> None:
    assert is_run_file(exported)
    assert not any(is_run_file(name) for name in (tmp_path, tmp_path / "none", __file__, "a\0b", ""))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_file_that_is_cut_off(exported: Path, share: float) -> None:
    whole = exported.read_bytes()
    exported.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(DataError, match=r"base.run(:\d)?: the file is cut off after this line; export the run again"):
        open_run_file(exported)


def test_a_damaged_byte_is_noticed(exported: Path) -> None:
    whole = bytearray(exported.read_bytes())
    for place in range(2, len(whole) - 1, 7):
        if place < 10:
            continue  # time and system of the gzip header say nothing
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        exported.write_bytes(damaged)
        with pytest.raises(DataError, match=r"base\.run"):
            open_run_file(exported)


def swap(lines: list[dict[str, Any]], line: int, **changes: Any) -> None:
    lines[line].update(changes)


@pytest.mark.parametrize(
    ("change", "where", "sentence"),
    [
        (lambda lines: lines.pop(), 3, "the file has 2 rows and 6 results, its manifest says 3 and 9"),
        (lambda lines: lines.append({**lines[3], "ordinal": 9}), 5, "the file has 4 rows and 12 results, its manifest says 3 and 9"),
        (lambda lines: lines.append(lines[3]), 5, "a row up to this line cannot be stored"),
        (lambda lines: lines[2]["results"].pop(), 4, "the file has 3 rows and 8 results"),
        (lambda lines: lines.pop(0), 1, "is no run file: its first line has no manifest"),
        (lambda lines: swap(lines, 0, measurand_run=3), 1, "has format 3; this measurand reads 1 and 2; upgrade measurand"),
        (lambda lines: lines[0]["run"].pop("project"), 1, "the manifest cannot be read"),
        (lambda lines: lines[0]["run"].update(surprise=1), 1, "the manifest cannot be read"),
        (lambda lines: lines[0]["run"].update(project=5), 1, "the manifest's values are not of their types"),
        (lambda lines: lines[0]["run"].update(status="done"), 1, "the manifest's values are not of their types"),
        (lambda lines: lines[0]["run"].update(started_at=None), 1, "the manifest cannot be read"),
        (lambda lines: swap(lines, 0, metrics=None), 1, "the manifest cannot be read"),
        (lambda lines: swap(lines, 0, stored=[]), 1, "the manifest cannot be read"),
        (lambda lines: swap(lines, 2, id=5), 3, "this line is no row of a run: id, task and cluster are texts"),
        (lambda lines: lines[2].pop("task"), 3, "this line is no row of a run: it has no 'task'"),
        (lambda lines: swap(lines, 2, results=[{"metric": 7, "status": "ok", "score": 1}]), 3, "no metric 7 in the manifest"),
        (lambda lines: swap(lines, 2, results=[{"metric": 0, "status": "ok"}]), 3, "status 'ok' with score None"),
        (lambda lines: swap(lines, 2, results=[{"metric": 0, "status": "error", "score": 0}]), 3, "status 'error' with score 0"),
        (lambda lines: swap(lines, 2, results=[{"metric": 0, "status": "ok", "score": True}]), 3, "status 'ok' with score True"),
        (lambda lines: swap(lines, 2, results=5), 3, "this line is no row of a run"),
        (lambda lines: swap(lines, 2, trial=2**70), 4, "a row up to this line cannot be stored"),
    ],
)
def test_a_file_that_says_something_else(exported: Path, change: Any, where: int, sentence: str) -> None:
    rewrite(exported, change)
    with pytest.raises(DataError) as caught:
        open_run_file(exported)
    message = str(caught.value)
    assert f"base.run:{where}: " in message
    assert sentence in message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"not json\n", "this line is no JSON"),
        (b"[1]\n", "this line is no JSON object"),
        (b"\n", "this line is no JSON"),
        (b'{"x": NaN}\n', "this line is no JSON"),
        (b"\xff\xfe\n", "this line is no JSON"),
        (b"[" * 100_000 + b"\n", "this line is no JSON"),
        (b'{"x": 1', "this line is cut off"),
    ],
)
def test_a_line_that_is_no_row(exported: Path, line: bytes, sentence: str) -> None:
    lines = gzip.decompress(exported.read_bytes()).splitlines(keepends=True)
    exported.write_bytes(gzip.compress(b"".join([*lines[:2], line])))
    with pytest.raises(DataError, match=f"base.run:3: {sentence}"):
        open_run_file(exported)


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b""))
    with pytest.raises(DataError, match="is no run file: its first line has no manifest"):
        open_run_file(path)
    path.write_bytes(b"plain")
    with pytest.raises(DataError, match="the file is damaged"):
        open_run_file(path)
    with pytest.raises(DataError, match=r"none\.run: cannot be read: no such file or directory"):
        open_run_file(tmp_path / "none.run")


def test_a_score_that_json_cannot_say_never_reaches_a_file() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps_ascii({"score": math.inf})
