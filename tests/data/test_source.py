from __future__ import annotations

import gc
import gzip
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import DataError
from measurand.data.rows import ReadOptions, Row
from measurand.data.source import Source, StreamSource, open_source, spool


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.ndjson"):
        (tmp_path / name).write_text(f'{{"from": "{name}"}}\n')
    (tmp_path / "notes.txt").write_text("{}")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.jsonl").write_text('{"from": "c.jsonl"}\n')
    return tmp_path


def origins(source: Source) -> list[Any]:
    return [row.values["from"] for row in source.rows() if isinstance(row, Row)]


def told(data: Any, **options: Any) -> list[str]:
    with pytest.raises(DataError) as error:
        open_source(data, ReadOptions(**options))
    return [str(problem) for problem in error.value.problems]


def test_paths_lists_and_patterns(folder: Path) -> None:
    assert origins(open_source("a.jsonl")) == ["a.jsonl"]
    assert origins(open_source(Path("sub/c.jsonl"))) == ["c.jsonl"]
    assert origins(open_source(["b.ndjson", "a.jsonl"])) == ["b.ndjson", "a.jsonl"]
    assert origins(open_source("**/*.jsonl")) == ["a.jsonl", "c.jsonl"]
    assert origins(open_source("c.jsonl", None, folder / "sub")) == ["c.jsonl"]
    source = open_source(["b.ndjson", "sub/*.jsonl"])
    assert (source.label, source.files) == ("b.ndjson, sub/*.jsonl", ("b.ndjson", "sub/c.jsonl"))
    assert [row.where for row in source.rows()] == ["b.ndjson:1", "sub/c.jsonl:1"]


def test_a_name_with_a_marker_in_it_is_a_name(folder: Path) -> None:
    (folder / "a[1].jsonl").write_text('{"from": "odd"}\n')
    assert origins(open_source("a[1].jsonl")) == ["odd"]


@pytest.mark.usefixtures("folder")
def test_a_format_that_is_told_beats_the_name() -> None:
    assert list(open_source("notes.txt", ReadOptions(format="jsonl")).rows()) == [Row("notes.txt", 1, {}, b"{}")]


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_read_is_told_with_what_to_do() -> None:
    assert told("a.json") == ["a.json: there is no such file; did you mean a.jsonl or b.ndjson?"]
    assert told("zzz.csv") == ["zzz.csv: there is no such file; this folder has a.jsonl, b.ndjson"]
    assert told("suB/c.jsonl") == ["suB/c.jsonl: there is no folder suB/; paths are looked up from this folder"]
    assert told("sub") == ["sub: it is a directory; name a file, or a pattern: sub/*.jsonl"]
    assert told("*.csv") == ["*.csv: no file matches the pattern; it is looked up from this folder"]
    assert told("notes.txt") == [
        "notes.txt: its name does not say its format; files end in .jsonl, .ndjson, .json, .csv, .tsv, .parquet (.gz); or set [data] format"
    ]
    assert told("a.jsonl/x.jsonl") == ["a.jsonl/x.jsonl: it cannot be read: Not a directory"]


@pytest.mark.usefixtures("folder")
def test_every_problem_at_once() -> None:
    assert told(["x.csv", "sub", "*.tsv"], encoding="utf-9", delimiter=";;") == [
        "[data] encoding: 'utf-9' is no text encoding; utf-8 (the default), cp1252, latin-1, utf-16, shift_jis …",
        '[data] delimiter: \';;\' cannot part cells; it is one character, e.g. ";" or "\\t"',
        "x.csv: there is no such file; this folder has a.jsonl, b.ndjson",
        "sub: it is a directory; name a file, or a pattern: sub/*.jsonl",
        "*.tsv: no file matches the pattern; it is looked up from this folder",
    ]
    assert told("a.jsonl", format="xml") == ["[data] format: 'xml' is no format; it is one of jsonl, json, csv, tsv, parquet"]


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A file that one may not read, in the working directory. Root may read everything, so root is somebody else for a moment."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    (place / "a.jsonl").touch(0)
    monkeypatch.chdir(place)
    root = os.geteuid() == 0
    if root:
        os.setresuid(65_534, 65_534, 0)
    yield "a.jsonl"
    if root:
        os.setresuid(0, 0, 0)
    shutil.rmtree(place)


def test_a_file_one_may_not_read(unreadable: str) -> None:
    assert told(unreadable) == ["a.jsonl: it cannot be read: permission denied; chmod u+r a.jsonl"]


def test_a_pipe_is_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "p.jsonl")
    assert told("p.jsonl") == ["p.jsonl: it is no regular file, and data is read more than once; send it to --data -"]


def test_a_file_that_goes_away(folder: Path) -> None:
    source = open_source("a.jsonl")
    (folder / "a.jsonl").unlink()
    with pytest.raises(DataError, match=r"a.jsonl: it cannot be read: No such file or directory"):
        list(source.rows())


def test_standard_input_is_one_pass() -> None:
    source = open_source("-", stdin=io.BytesIO(b'{"from": "stdin"}\n'))
    assert isinstance(source, StreamSource)
    assert [row.where for row in source.rows()] == ["-:1"]
    with pytest.raises(DataError, match=r"standard input can be read only once"):
        list(source.rows())


def test_standard_input_in_another_format_and_packed() -> None:
    packed = gzip.compress(b"from\nstdin\n")
    assert origins(open_source("-", ReadOptions(format="csv"), stdin=io.BytesIO(packed))) == ["stdin"]
    with pytest.raises(DataError, match=r"Parquet cannot be read from a pipe"):
        list(open_source("-", ReadOptions(format="parquet"), stdin=io.BytesIO(b"PAR1")).rows())


def test_standard_input_that_is_kept_can_be_read_again_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = open_source(["-"], stdin=io.BytesIO(b'{"from": "stdin"}\n')).again()
    assert origins(source) == origins(source) == ["stdin"]
    assert [row.where for row in source.rows()] == ["-:1"]
    assert len(list(tmp_path.iterdir())) == 1
    del source
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_what_is_spooled_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = spool(io.BytesIO(b"x" * 3_000_000))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_size == 3_000_000
