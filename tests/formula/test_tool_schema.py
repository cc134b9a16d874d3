from __future__ import annotations

from typing import Any

import pytest

from measurand.core.effort import _deadline
from measurand.core.errors import CellTimeoutError, InvalidFieldError
from measurand.core.record import Tool, ToolCall
from measurand.formula.tool_schema import NO_OBJECT, NO_SUCH_TOOL, Completeness, Misuse, completeness, misused

BOOK = Tool("book", parameters={"type": "object", "properties": {"seats": {"type": "integer", "maximum": 8}}, "required": ["seats", "room"]})


def test_completeness_counts_each_required_argument_of_each_call() -> None:
    calls = [ToolCall("book", {"seats": None, "room": "x"}), ToolCall("book", {"room": "x"}), ToolCall("book", "text"), ToolCall("book"), ToolCall("cook")]
    missing = ("book.seats", "book.seats", "book.room", "book.seats", "book.room")
    assert completeness(calls, [BOOK]) == Completeness(8, missing, ("cook",))


@pytest.mark.parametrize("required", [True, "room", [1], {"room": True}, None])
def test_required_must_be_a_list_of_names(required: Any) -> None:
    with pytest.raises(InvalidFieldError, match=r"the tool 'f' says required = .*; it must be a list of argument names") as caught:
        completeness([ToolCall("f")], [Tool("f", parameters={"required": required})])
    assert caught.value.field == "tools"
    assert completeness([], [Tool("f", parameters={"required": required})]).required == 0


def test_what_does_not_fit_is_told_with_its_place() -> None:
    calls = [ToolCall("book", {"seats": 9, "room": "x"}), ToolCall("book", {"seats": 2, "room": "x"}), ToolCall("cook"), ToolCall("book", "text")]
    assert misused(calls, [BOOK, Tool("book")]) == [
        Misuse(0, "book", ("$.seats: 9 is greater than the maximum of 8",)),
        Misuse(2, "cook", (NO_SUCH_TOOL,)),
        Misuse(3, "book", (NO_OBJECT,)),
    ]


@pytest.mark.parametrize(
    ("schema", "error", "sentence"),
    [
        ({"$ref": "https://example.invalid/schema.json"}, InvalidFieldError, "leads nowhere in the schema, and nothing outside it is looked up"),
        ({"$ref": "#"}, InvalidFieldError, "references are nested more than 64 deep"),
        ({"type": "dict"}, InvalidFieldError, "it is no JSON Schema"),
        ({"properties": {"a": {"pattern": "("}}}, InvalidFieldError, "pattern"),
        ({"properties": {"a": {"pattern": "^(a|aa)+$"}}}, CellTimeoutError, "took more than"),
    ],
)
def test_a_hostile_schema_is_an_error_that_names_the_tool(schema: dict[str, Any], error: type[InvalidFieldError], sentence: str) -> None:
    with pytest.raises(error) as caught:
        misused([ToolCall("f", {"a": "a" * 60 + "b"})], [Tool("f", parameters=schema)])
    assert caught.value.message.startswith("the tool 'f': ")
    assert sentence in caught.value.message
    assert caught.value.field == "tools"


def test_many_calls_end_with_the_cell_s_time() -> None:
    token = _deadline.set(0.0)
    try:
        with pytest.raises(CellTimeoutError):
            misused([ToolCall("f")], [])
    finally:
        _deadline.reset(token)
