"""JSON Lines: one object a line, memory flat in rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from measurand.core.jsontext import JsonTextError, parse_json
from measurand.data.lines import UndecodableError, byte_encoding, decoded, numbered_lines
from measurand.data.rows import BadRow, ReadOptions, Row, too_long


def read_jsonl(stream: BinaryIO, label: str, options: ReadOptions) -> Iterator[Row | BadRow]:
    """Rows of a stream; blank lines are skipped, everything else that is no object is a bad row."""
    encoding = byte_encoding(options.encoding)
    utf8 = encoding.casefold().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
    limit = options.max_field_chars
    for number, line in numbered_lines(stream, options.encoding, options.max_row_bytes):
        if line is None:
            yield BadRow(
                label, number, f"the line has more than max_row_bytes {options.max_row_bytes}", "is it JSON Lines, one object a line? set [data] max_row_bytes"
            )
            continue
        try:
            text = str(line, "utf-8") if utf8 else decoded(line, encoding)
            values = parse_json(text)
        except (JsonTextError, UnicodeDecodeError, UndecodableError) as error:
            if not line.isspace():
                yield _bad(label, number, line, encoding, error)
            continue
        if type(values) is not dict:
            yield BadRow(label, number, f"the line is {_short(text)}, not an object", 'a row is an object: {"input": …, "output": …}')
            continue
        raw = line.rstrip() if utf8 else text.strip().encode()
        if len(raw) > limit and (message := too_long(values, limit)):
            yield BadRow(label, number, message, "set [data] max_field_chars")
            continue
        yield Row(label, number, values, raw)


def _bad(label: str, number: int, line: bytes, encoding: str, error: Exception) -> BadRow:
    if isinstance(error, UnicodeDecodeError):
        try:
            decoded(line, encoding)
        except UndecodableError as undecodable:
            error = undecodable
    if isinstance(error, UndecodableError):
        return BadRow(label, number, error.message, error.hint)
    if b"\0" in line:
        return BadRow(
            label, number, "the line holds NUL bytes: a binary file, or text in another encoding", 'set [data] format or encoding, e.g. encoding = "utf-16"'
        )
    if number == 1 and line.strip() in (b"[", b"{", b"[{"):
        return BadRow(label, number, f"{error}; the file looks like one JSON document", 'set [data] format = "json"')
    return BadRow(label, number, str(error))


def _short(text: str) -> str:
    bare = text.strip()
    return bare if len(bare) <= 40 else f"{bare[:40]}…"
