from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from pathlib import Path

import pytest

from measurand.data.rows import BadRow, ReadOptions, Row
from measurand.data.source import open_source

from .files import Read  # noqa: TID252  # tests are imported by path, there is no package to name


def test_rows_with_their_lines(read: Read) -> None:
    assert read("t.jsonl", b'{"id":1}\n\n   \n{"id":2}\n\n') == [Row("t.jsonl", 1, {"id": 1}, b'{"id":1}'), Row("t.jsonl", 4, {"id": 2}, b'{"id":2}')]


def test_marks_carriage_returns_and_a_last_line_without_end(read: Read) -> None:
    rows = read("t.jsonl", b'\xef\xbb\xbf{"a":"x"}\r\n\r\n{"a":"y"}')
    assert [(row.line, row.values, row.raw) for row in rows if isinstance(row, Row)] == [(1, {"a": "x"}, b'{"a":"x"}'), (3, {"a": "y"}, b'{"a":"y"}')]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"nope", "no JSON: unexpected 'nope', character 1"),
        (b"[1, 2]", "the line is [1, 2], not an object"),
        (b"null", "the line is null, not an object"),
        (b'{"a": NaN}', "NaN is no JSON number; a value that is not there is null"),
        (b'{"a": -Infinity}', "-Infinity is no JSON number; a value that is not there is null"),
        (b'{"a": 1e999}', "the number 1e999 is too large"),
        (b'{"a": 1, "a": 2}', "the key 'a' is there twice in one object"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested more than 200 levels deep"),
        (b"[" * 100_000, "nested more than 200 levels deep"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "a number has more than 4300 digits"),
        (b'{"a": "\\ud800"}', "\\ud800 is half of a character (a lone surrogate)"),
        (b'{"a": "caf\xe9"}', "byte 11 of the line (0xe9) is not utf-8: the file has another encoding"),
        (b'{"a": "b\0"}', "the line holds NUL bytes: a binary file, or text in another encoding"),
    ],
)
def test_a_bad_line_is_told_and_the_next_is_read(read: Read, line: bytes, message: str) -> None:
    bad, good = read("t.jsonl", b"\n" + line + b'\n{"a": 1}\n')
    assert isinstance(bad, BadRow)
    assert (bad.where, bad.message) == ("t.jsonl:2", message)
    assert isinstance(good, Row)
    assert good.line == 3


def test_a_json_document_is_told_what_it_is(read: Read) -> None:
    bad = read("t.jsonl", '[\n{"a": 1}\n]\n')[0]
    assert isinstance(bad, BadRow)
    assert bad.hint == 'set [data] format = "json"'


def test_other_encodings(read: Read) -> None:
    text = '{"a": "café –"}\n'
    for encoding in ("cp1252", "utf-16", "utf-8-sig"):
        (row,) = read("t.jsonl", text.encode(encoding), encoding=encoding)
        assert isinstance(row, Row)
        assert row.values == {"a": "café –"}
        assert row.raw == text.strip().encode()


def test_a_line_over_the_limit_is_skipped_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.write(b'{"a": "')
        for _ in range(40):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n{"a": 1}\n')
    tracemalloc.start()
    bad, good = open_source(path, ReadOptions(max_row_bytes=1_000_000)).rows()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(bad, BadRow)
    assert (bad.line, bad.message) == (1, "the line has more than max_row_bytes 1000000")
    assert isinstance(good, Row)
    assert good.line == 2
    assert peak < 8_000_000


def bomb(path: Path, megabytes: int) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with path.open("wb") as file:
        file.write(packer.compress(b'{"a": "'))
        for _ in range(megabytes):
            file.write(packer.compress(bytes(1_000_000)))
        file.write(packer.compress(b'"}\n') + packer.flush())


@pytest.mark.slow
def test_a_gzip_bomb_of_a_gigabyte(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    bomb(path, 1_000)
    tracemalloc.start()
    (bad,) = open_source(path).rows()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert bad == BadRow(str(path), 1, "the line has more than max_row_bytes 16000000", "is it JSON Lines, one object a line? set [data] max_row_bytes")
    assert peak < 64_000_000


def test_a_small_gzip_bomb(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    bomb(path, 20)
    assert [type(row) for row in open_source(path).rows()] == [BadRow]


def test_a_line_of_a_megabyte_is_read(read: Read) -> None:
    (row,) = read("t.jsonl", [{"a": "x" * 999_000}])
    assert isinstance(row, Row)
    assert len(row.values["a"]) == 999_000


@pytest.mark.parametrize("values", [{"a": "x" * 101}, {"a": {"b": ["y", "x" * 101]}}])
def test_a_text_over_the_limit_is_a_bad_row(read: Read, values: object) -> None:
    (bad,) = read("t.jsonl", [values], max_field_chars=100)
    assert isinstance(bad, BadRow)
    assert (bad.message, bad.hint) == ("a has 101 characters, more than max_field_chars 100", "set [data] max_field_chars")


def test_many_short_texts_are_not_one_long_one(read: Read) -> None:
    (row,) = read("t.jsonl", [{"a": ["x" * 50] * 10}], max_field_chars=100)
    assert isinstance(row, Row)


def test_gzip(read: Read) -> None:
    (row,) = read("t.jsonl.gz", gzip.compress(json.dumps({"a": 1}).encode()))
    assert isinstance(row, Row)
    assert row.where == "t.jsonl.gz:1"
