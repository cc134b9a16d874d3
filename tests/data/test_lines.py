from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import DataError
from measurand.data.lines import UndecodableError, decoded, known_encoding, numbered_lines, open_binary, reading


def lines(data: bytes, limit: int = 100, encoding: str = "utf-8") -> list[tuple[int, bytes | None]]:
    return list(numbered_lines(io.BytesIO(data), encoding, limit))


@given(st.binary(max_size=200).filter(lambda data: not data.startswith(b"\xef\xbb\xbf")), st.integers(1, 20))
def test_lines_within_the_limit_are_those_of_the_file(data: bytes, limit: int) -> None:
    whole = io.BytesIO(data).readlines()
    found = lines(data, limit)
    assert [number for number, _ in found] == list(range(1, len(whole) + 1))
    for (_, line), expected in zip(found, whole, strict=True):
        assert line == expected if len(expected.rstrip(b"\r\n")) <= limit else line is None


def test_a_mark_at_the_beginning_is_no_content() -> None:
    assert lines(b"\xef\xbb\xbfa\nb") == [(1, b"a\n"), (2, b"b")]
    assert lines(b"\xef\xbb\xbf") == []


def test_wide_encodings_are_cut_at_their_own_line_ends() -> None:
    assert lines("ab\u0a0a\ncd".encode("utf-16"), encoding="utf-16") == [(1, "ab\u0a0a\n".encode()), (2, b"cd")]
    with pytest.raises(DataError, match=r"the file is not utf-16"):
        lines(b"\xff\xfea", encoding="utf-16")


def test_a_byte_that_is_not_of_the_encoding_is_named() -> None:
    with pytest.raises(UndecodableError) as told:
        decoded(b"caf\xe9 \x96\n", "utf-8")
    assert told.value.message == "byte 4 of the line (0xe9) is not utf-8: the file has another encoding"
    assert told.value.hint == 'set [data] encoding, e.g. encoding = "cp1252"'
    assert decoded(b"caf\xe9 \x96", "cp1252") == "café –"
    with pytest.raises(UndecodableError) as told:
        decoded("a".encode("utf-16"), "utf-8")
    assert "utf-16" in told.value.hint


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "shift_jis", "UTF_16"])
def test_encodings_that_exist(encoding: str) -> None:
    assert known_encoding(encoding) is None


@pytest.mark.parametrize("encoding", ["utf-9", "", "rot13", "zip", "a\0b"])
def test_encodings_that_do_not(encoding: str) -> None:
    problem = known_encoding(encoding)
    assert problem is not None
    assert "is no text encoding" in problem.message


def test_gzip_is_known_by_its_bytes(tmp_path: Path) -> None:
    for name, data in (("a.jsonl.gz", gzip.compress(b"{}\n")), ("a.jsonl", gzip.compress(b"{}\n")), ("b.jsonl.gz", b"{}\n")):
        (tmp_path / name).write_bytes(data)
        with open_binary(tmp_path / name) as stream:
            assert stream.read() == b"{}\n"


@pytest.mark.parametrize("harm", [lambda data: data[:-9], lambda data: data[:20] + b"\0\0\0" + data[23:]])
def test_damaged_gzip_is_one_clear_error(tmp_path: Path, harm: object) -> None:
    assert callable(harm)
    path = tmp_path / "a.gz"
    path.write_bytes(harm(gzip.compress(bytes(range(256)) * 20)))
    with pytest.raises(DataError, match=r"a.gz: the gzip data is damaged"), reading("a.gz"), open_binary(path) as stream:
        stream.read()
