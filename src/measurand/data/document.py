"""A JSON document that holds rows: a list, or an object with the list under `data`, `rows` or `samples`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from measurand.core.errors import DataError, Problem
from measurand.core.jsontext import JsonTextError, parse_json
from measurand.data.lines import UndecodableError, decoded
from measurand.data.rows import BadRow, ReadOptions, Row, row_of

MAX_DOCUMENT_BYTES: Final = 200_000_000
"""A document has to be held whole (about ten times its size); beyond this, JSON Lines is the format."""

_LISTS: Final = ("data", "rows", "samples")


def read_document(stream: BinaryIO, label: str, options: ReadOptions) -> Iterator[Row | BadRow]:
    """Rows of a document, numbered from 1. Raises `DataError` when the document is not one."""
    rows = _rows(_parsed(stream, label, options), label)
    for number, values in enumerate(rows, 1):
        yield row_of(label, number, "row", values, options)


def _parsed(stream: BinaryIO, label: str, options: ReadOptions) -> Any:
    data = stream.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise DataError(Problem("too_large", label, f"the document has more than {MAX_DOCUMENT_BYTES} bytes", "write it as JSON Lines: one row a line, .jsonl"))
    try:
        text = decoded(data, "utf-8-sig" if options.encoding == "utf-8" else options.encoding)
    except UndecodableError as error:
        line = data[: _offset(data, options.encoding)].count(b"\n") + 1
        raise DataError(Problem("bad_encoding", f"{label}:{line}", error.message.replace(" of the line", ""), error.hint)) from None
    try:
        return parse_json(text)
    except JsonTextError as error:
        hint = 'it looks like JSON Lines: set [data] format = "jsonl"' if _is_jsonl(text) else ""
        raise DataError(Problem("bad_json", label, str(error), hint)) from None


def _offset(data: bytes, encoding: str) -> int:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _is_jsonl(text: str) -> bool:
    lines = text.lstrip().split("\n", 2)
    try:
        return len(lines) > 1 and isinstance(parse_json(lines[0]), dict)
    except JsonTextError:
        return False


def _rows(document: Any, label: str) -> list[Any]:
    if isinstance(document, list):
        return document
    allowed = "a document is a list of rows, or an object with such a list under " + ", ".join(_LISTS)
    if not isinstance(document, dict):
        raise DataError(Problem("bad_json", label, "the document is no list", allowed))
    found = [name for name in _LISTS if isinstance(document.get(name), list)]
    if len(found) != 1:
        what = f"has {' and '.join(found)}" if found else f"is an object with {', '.join(list(document)[:8]) or 'nothing'}"
        raise DataError(Problem("bad_json", label, f"the document {what}", allowed))
    rows: list[Any] = document[found[0]]
    return rows
