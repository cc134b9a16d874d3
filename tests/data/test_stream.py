from __future__ import annotations

import io
import os
from typing import Any

import pytest

from measurand.core.errors import DataError
from measurand.core.record import Context
from measurand.data.rows import BadRow, ReadOptions
from measurand.data.source import open_source
from measurand.data.stream import stream


def streamed(text: str, **how: Any) -> list[Any]:
    return [(one.record.id, one.record.task, one.record.trial, one.record.fields) for one in stream(open_source("-", stdin=io.BytesIO(text.encode())), **how)]


def test_records_in_input_order() -> None:
    rows = streamed('{"id": "a", "question": "q", "answer": "x", "lang": "en"}\n{"output": "y"}\n{"task": "t", "trial": 3}\n')
    assert rows == [
        ("a", "a", 0, {"id": "a", "input": "q", "output": "x", "metadata": {"lang": "en"}}),
        ("2", "2", 0, {"output": "y"}),
        ("t", "t", 3, {"task": "t", "trial": 3}),
    ]


def test_a_row_without_id_has_its_task_as_id() -> None:
    (first, task, trial, _), (second, _, _, _) = streamed('{"input": "q", "output": "x"}\n{"input": "q", "output": "y"}\n')
    assert first == task == second
    assert (len(task), trial) == (16, 0)


def test_a_record_comes_as_soon_as_its_row() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as pipe:
        pipe.write(b'{"id": "a"}\n')
        rows = stream(open_source("-", stdin=source))
        assert next(rows).record.id == "a"
        pipe.write(b'{"id": "b"}\n')
        assert next(rows).record.id == "b"


def test_the_mapping_follows_what_has_come_up() -> None:
    rows = streamed('{"id": "a", "documents": ["x"]}\n{"id": "b", "documents": 3}\n{"id": "c", "Docs": "y"}\n', columns={"status": "Docs"})
    assert [fields for _, _, _, fields in rows] == [
        {"id": "a", "contexts": [Context("x")]},
        {"id": "b", "metadata": {"documents": 3}},
        {"id": "c", "status": "y"},
    ]


def test_a_table() -> None:
    source = open_source("-", ReadOptions(format="csv"), stdin=io.BytesIO(b"question,answer\nq,\n"))
    assert [one.record.fields for one in stream(source)] == [{"input": "q", "output": ""}]


def test_a_bad_row_ends_the_stream_or_is_told() -> None:
    text = '{"id": "a"}\nnope\n{"id": {}}\n{"id": "b"}\n'
    rows = stream(open_source("-", stdin=io.BytesIO(text.encode())))
    assert next(rows).record.id == "a"
    with pytest.raises(DataError, match=r"-:2: no JSON: unexpected 'nope'"):
        next(rows)
    bad: list[BadRow] = []
    assert [name for name, _, _, _ in streamed(text, on_bad=bad.append)] == ["a", "b"]
    assert [(one.where, one.message) for one in bad] == [("-:2", "no JSON: unexpected 'nope', character 1"), ("-:3", "id is an object; it must be a text")]


def test_a_column_that_never_came_up() -> None:
    with pytest.raises(DataError, match=r"column input: no column is called 'Qestion'; did you mean question?"):
        streamed('{"id": "a", "question": "q"}\n', columns={"input": "Qestion"})
