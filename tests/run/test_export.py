"""A run's results as files: whole or not at all, harmless to a spreadsheet, typed in Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import UsageError
from measurand.run.export import export, format_for
from measurand.run.results import FLAT_COLUMNS, stored_results
from measurand.run.store import Store, StoredRun, open_run_file

from .planning import FOUR, plan, run  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def stored(file_store: Store) -> StoredRun:
    return run(file_store, plan(FOUR, "code_token_f1", "code_output_length", on_missing="skip", tables={"metrics": {"code_token_f1": {"threshold": 0.5}}}))


def written(stored: StoredRun, form: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    export(stored, None, form, stream, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "given", "form"),
    [
        ("a.jsonl", None, "jsonl"),
        ("a.ndjson", None, "jsonl"),
        ("a.csv", None, "csv"),
        ("A.CSV", None, "csv"),
        ("a.parquet", None, "parquet"),
        ("a.run", None, "run"),
        ("a.run.gz", None, "run"),
        ("a.csv.gz", None, "csv"),
        ("a.jsonl.gz", None, "jsonl"),
        ("a.csv", "run", "run"),
        ("baseline", "run", "run"),
        (None, None, "jsonl"),
        (None, "csv", "csv"),
    ],
)
def test_the_suffix_tells_the_format_and_a_given_one_overrides(name: str | None, given: str | None, form: str) -> None:
    assert format_for(None if name is None else Path(name), given) == form


@pytest.mark.parametrize("name", ["a.xml", "a.json", "a", "a.gz", "a.parquet.gz"])
def test_a_suffix_that_tells_nothing(name: str) -> None:
    with pytest.raises(UsageError, match="has no suffix that tells the format; end it in"):
        format_for(Path(name), None)


def test_a_format_of_a_later_version() -> None:
    with pytest.raises(UsageError, match="'otel' is not written by this version; there are run, jsonl, csv, parquet"):
        format_for(None, "otel")


def test_json_lines_are_the_results(stored: StoredRun) -> None:
    lines = written(stored, "jsonl").decode().splitlines()
    assert [json.loads(line) for line in lines] == [one.to_dict() for one in stored_results(stored)]


def test_csv_is_a_table_of_the_results(stored: StoredRun) -> None:
    rows = list(csv.DictReader(io.StringIO(written(stored, "csv").decode(), newline="")))
    assert tuple(rows[0]) == FLAT_COLUMNS
    assert [(row["sample_id"], row["metric"], row["score"], row["status"], row["passed"]) for row in rows[:2]] == [
        ("a", "code_token_f1", "1.0", "ok", "True"),
        ("a", "code_output_length", "5.0", "ok", ""),
    ]
    assert (rows[6]["score"], rows[6]["error_code"]) == ("", "missing_field")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_csv_runs_no_formula(file_store: Store, text: str) -> None:
    hostile = run(file_store, plan([{"id": text, "output": "x"}], "code_output_length"))
    (row,) = csv.DictReader(io.StringIO(written(hostile, "csv").decode(), newline=""))
    assert row["sample_id"] == f"'{text}"


def test_parquet_has_types(stored: StoredRun, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "out.parquet"
    export(stored, path, "parquet", io.BytesIO())
    table = parquet.read_table(path)
    types = {field.name: str(field.type) for field in table.schema}
    assert {name for name, kind in types.items() if kind == "double"} == {"score", "threshold", "cost_usd"}
    assert (types["trial"], types["passed"], types["sample_id"]) == ("int64", "bool", "string")
    assert [row["score"] for row in table.to_pylist()] == [one.score for one in stored_results(stored)]


def test_parquet_goes_to_a_stream_too(stored: StoredRun, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(io.BytesIO(written(stored, "parquet"))).num_rows == 8


def test_texts_with_halves_of_characters_are_written_as_escapes(file_store: Store) -> None:
    pytest.importorskip("pyarrow")
    stored = run(file_store, plan([{"id": "a", "output": "x"}], "code_output_length"))
    results = list(stored_results(stored))
    for form in ("jsonl", "csv", "parquet"):
        assert written(stored, form)
    assert results[0].sample_id == "a"


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_gz_is_packed_and_the_same_each_time(stored: StoredRun, tmp_path: Path, form: str) -> None:
    one, two = tmp_path / f"1.{form}.gz", tmp_path / f"2.{form}.gz"
    for path in (one, two):
        export(stored, path, form, io.BytesIO())
    assert one.read_bytes() == two.read_bytes()
    assert gzip.decompress(one.read_bytes()) == written(stored, form)


def test_a_whole_run_comes_back(stored: StoredRun, tmp_path: Path) -> None:
    path = tmp_path / "base.run"
    export(stored, path, "run", io.BytesIO())
    with open_run_file(path) as again:
        assert again.info == stored.info
        assert [one.to_dict() for one in stored_results(again)] == [one.to_dict() for one in stored_results(stored)]


@pytest.mark.parametrize("form", ["jsonl", "csv", "run"])
def test_without_content_no_text_of_a_row_is_written(file_store: Store, form: str) -> None:
    rows = [{"id": f"r{at}", "output": "PLANTED text", "expected": "PLANTED", "x": "PLANTED"} for at in range(3)]
    stored = run(file_store, plan(rows, "code_token_f1", "code_json_match", "code_chrf", tables={"run": {"max_error_rate": 1.0}}))
    packed = written(stored, form, content=False)
    text = gzip.decompress(packed) if form == "run" else packed
    assert b"code_token_f1" in text
    assert b"PLANTED" not in text
    assert b"PLANTED" in (gzip.decompress(written(stored, form)) if form == "run" else written(stored, form))


# ---------------------------------------------------------------- files


def test_a_file_that_is_there_is_replaced_and_nothing_is_left_beside_it(stored: StoredRun, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before")
    export(stored, path, "csv", io.BytesIO())
    assert path.read_bytes() == written(stored, "csv")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_link_stays_a_link(stored: StoredRun, tmp_path: Path) -> None:
    path, link = tmp_path / "real.csv", tmp_path / "link.csv"
    path.write_text("before")
    link.symlink_to(path)
    export(stored, link, "csv", io.BytesIO())
    assert link.is_symlink()
    assert path.read_bytes() == written(stored, "csv")


def test_a_file_that_cannot_be_finished_is_as_it_was(stored: StoredRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before")

    def broken(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("measurand.run.whole_file.os.fsync", broken)
    with pytest.raises(UsageError, match=r"out\.csv cannot be written: no space left on device"):
        export(stored, path, "csv", io.BytesIO())
    assert path.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == ["out.csv"]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "run"])
def test_a_folder_that_is_not_there(stored: StoredRun, tmp_path: Path, form: str) -> None:
    with pytest.raises(UsageError, match="cannot be written: no such file or directory"):
        export(stored, tmp_path / "no" / "out", form, io.BytesIO())


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "run"])
def test_a_device_is_written_and_never_replaced(stored: StoredRun, form: str) -> None:
    export(stored, Path(os.devnull), form, io.BytesIO())
    assert not Path(os.devnull).is_file()
