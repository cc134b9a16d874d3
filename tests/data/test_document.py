from __future__ import annotations

import pytest

from measurand.core.errors import DataError
from measurand.data import document
from measurand.data.rows import BadRow, Row

from .files import Read  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.mark.parametrize(
    "text",
    ['[{"a": 1}, {"a": 2}]', '{"data": [{"a": 1}, {"a": 2}], "version": 1}', '{"rows": [{"a": 1}, {"a": 2}]}', '\ufeff{"samples": [{"a": 1}, {"a": 2}]}'],
)
def test_rows_of_a_document(read: Read, text: str) -> None:
    rows = read("t.json", text)
    assert [(row.where, row.values, row.raw) for row in rows if isinstance(row, Row)] == [
        ("t.json row 1", {"a": 1}, b'{"a":1}'),
        ("t.json row 2", {"a": 2}, b'{"a":2}'),
    ]


def test_an_element_that_is_no_object_is_a_bad_row(read: Read) -> None:
    bad, good = read("t.json", '[3, {"a": 1}]')
    assert bad == BadRow("t.json", 1, "the row is int, not an object", "a row is an object: field → value", "row")
    assert isinstance(good, Row)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}', "the document is an object with a; a document is a list of rows, or an object with such a list under data, rows, samples"),
        (b'{"data": [], "rows": []}', "the document has data and rows; a document is a list"),
        (b'"text"', "the document is no list"),
        (b'{"a": 1}\n{"a": 2}\n', 'it looks like JSON Lines: set \\[data\\] format = "jsonl"'),
        (b'[{"a": NaN}]', "NaN is no JSON number"),
        (b"[" * 100_000, "nested more than 200 levels deep"),
        (b'[\n{"a": "caf\xe9"}\n]', "t.json:2: byte 13 \\(0xe9\\) is not utf-8"),
        (b"", "no JSON: nothing there"),
    ],
)
def test_what_is_no_document(read: Read, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read("t.json", content)


def test_a_document_too_large_to_hold(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(DataError, match="more than 10 bytes; write it as JSON Lines"):
        read("t.json", '[{"a": "long enough"}]')
    assert len(read("u.json", '[{"a":1}]')) == 1


def test_a_row_over_the_limit(read: Read) -> None:
    (bad,) = read("t.json", '[{"a": "xxxxxxxxxxxxxxxx"}]', max_row_bytes=10)
    assert isinstance(bad, BadRow)
    assert bad.message == "the row has 24 bytes, more than max_row_bytes 10"
