from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InvalidFieldError
from measurand.core.fields import FIELDS
from measurand.core.plain import plain
from measurand.core.record import Context, ExpectedToolCall, Message, Tool, ToolCall, Usage
from measurand.core.shapes import normalise

LOOSE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.sampled_from(["", "a", "[1]", '["a"]', '{"name": "f"}', "1.5"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "name", "text", "role", "content", "arguments", "function", "error", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.sampled_from(sorted(FIELDS)), LOOSE)
def test_any_json_is_a_value_or_an_invalid_field(name: str, value: Any) -> None:
    refused: InvalidFieldError | None = None
    found: Any = None
    try:
        found = normalise(name, value)
    except InvalidFieldError as error:
        refused = error
    if refused is None:
        assert normalise(name, found) == found
    else:
        assert refused.field == name
        assert refused.message.startswith(name)


@given(st.sampled_from(["contexts", "reference_contexts", "messages", "tool_calls", "expected_tool_calls", "tools", "usage"]), LOOSE)
def test_the_plain_form_of_a_typed_value_reads_back(name: str, value: Any) -> None:
    try:
        found = normalise(name, value)
    except InvalidFieldError:
        return
    assert normalise(name, plain(found)) == found


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (["a", "b"], [Context("a"), Context("b")]),
        ([], []),
        ([{"id": "d1", "text": "a", "score": 0.5}], [Context("a", "d1", 0.5)]),
        ([{"id": 7, "content": "a"}, {"page_content": "b", "metadata": {}}], [Context("a", "7"), Context("b")]),
        ([{"id": "d1", "text": None}], [Context(id="d1")]),
        ('["a", "b"]', [Context("a"), Context("b")]),
        ("['Opens at 9', \"It's closed Sundays\"]", [Context("Opens at 9"), Context("It's closed Sundays")]),
        ("[1] see the reference", [Context("[1] see the reference")]),
        ("[1, 2]", [Context("[1, 2]")]),
        ('{"price": 5}', [Context('{"price": 5}')]),
        ("ps aux | grep worker", [Context("ps aux | grep worker")]),
        ('{"id": "d1", "text": "a"}', [Context("a", "d1")]),
    ],
)
def test_passages(value: Any, read: list[Context]) -> None:
    assert normalise("contexts", value) == read


def test_graded_and_named_passages() -> None:
    assert normalise("reference_contexts", {"d1": 2, "d2": 0}) == [Context(id="d1", score=2.0), Context(id="d2", score=0.0)]
    assert normalise("reference_contexts", '{"d1": 1}') == [Context(id="d1", score=1.0)]
    assert normalise("reference_contexts", ["d1", 7], ids=True) == [Context(id="d1"), Context(id="7")]
    assert normalise("reference_contexts", ["d1"]) == [Context(text="d1")]
    assert normalise("reference_contexts", "d1", ids=True) == [Context(id="d1")]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ([{"name": "f", "arguments": {"x": 1}}], [ToolCall("f", {"x": 1})]),
        ([{"name": "f", "args": {"x": 1}}, {"name": "f", "input": {"x": 2}}], [ToolCall("f", {"x": 1}), ToolCall("f", {"x": 2})]),
        ([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}], [ToolCall("f", {"x": 1}, "c1")]),
        ([{"name": "f", "arguments": "not json"}], [ToolCall("f", "not json")]),
        ([{"name": "f", "arguments": ""}], [ToolCall("f", {})]),
        ([{"name": "f", "input_parameters": {"x": 1}, "output": "ok"}], [ToolCall("f", {"x": 1}, None, "ok")]),
        (["search", "open page"], [ToolCall("search"), ToolCall("open page")]),
        ("search", [ToolCall("search")]),
        ('["search"]', [ToolCall("search")]),
        ('{"name": "f"}', [ToolCall("f")]),
        ([{"name": "f", "result": 3, "error": "boom"}], [ToolCall("f", None, None, 3, "boom")]),
        ([{"name": "f", "error": {"code": 1}}], [ToolCall("f", error='{"code":1}')]),
        ([{"name": "f", "error": None}, {"name": "f", "error": False}], [ToolCall("f"), ToolCall("f")]),
    ],
)
def test_calls_in_the_forms_that_others_write(value: Any, read: list[ToolCall]) -> None:
    assert normalise("tool_calls", value) == read


def test_expected_calls() -> None:
    full = {
        "name": "f",
        "arguments": {"x": 1},
        "match": {"x": "ignore"},
        "alternatives": [{"name": "g"}, "h"],
        "optional": True,
        "group": 2,
    }
    assert normalise("expected_tool_calls", [full]) == [
        ExpectedToolCall("f", {"x": 1}, {"x": "ignore"}, (ExpectedToolCall("g"), ExpectedToolCall("h")), True, "2")
    ]
    assert normalise("expected_tool_calls", '[{"name":"a","args":{"x":1,"y":2}}]') == [ExpectedToolCall("a", {"x": 1, "y": 2})]
    assert normalise("expected_tool_calls", []) == []


def test_tools() -> None:
    schema = {"type": "object"}
    read = [Tool("f", "does", schema)]
    assert normalise("tools", [{"name": "f", "description": "does", "parameters": schema}]) == read
    assert normalise("tools", [{"type": "function", "function": {"name": "f", "description": "does", "parameters": schema}}]) == read
    assert normalise("tools", [{"name": "f", "description": "does", "input_schema": schema}]) == read
    assert normalise("tools", [{"name": "f", "description": "does", "inputSchema": schema}]) == read
    assert normalise("tools", ["f"]) == [Tool("f")]


def test_messages_in_openai_form() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    raw = [
        {"role": "system", "content": "be kind"},
        {"role": "human", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, "b"]},
        {"role": "AI", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "Error: no such thing"},
        {"role": "assistant", "content": "done", "tool_calls": None},
    ]
    assert normalise("messages", raw) == [
        Message("system", "be kind"),
        Message("user", "a\nb"),
        Message("assistant", "", (ToolCall("f", {"x": 1}, "c1"),)),
        Message("tool", "Error: no such thing", (), "c1", "f", "Error: no such thing"),
        Message("assistant", "done"),
    ]


def test_calls_in_anthropic_parts_are_not_lost() -> None:
    raw = [
        {"role": "assistant", "content": [{"type": "text", "text": "let me look"}, {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "none"}], "is_error": True}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "ok"}, {"type": "text", "text": "and then?"}]},
    ]
    assert normalise("messages", raw) == [
        Message("assistant", "let me look", (ToolCall("f", {"x": 1}, "t1"),)),
        Message("tool", "none", (), "t1", None, "none"),
        Message("tool", "ok", (), "t2"),
        Message("user", "and then?"),
    ]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({"content": "fine"}, None),
        ({"content": "Errors were found: 3"}, None),
        ({"content": "error: x"}, "error: x"),
        ({"content": "", "error": "timed out"}, "timed out"),
        ({"content": "late", "status": "error"}, "late"),
        ({"content": "late", "status": "success"}, None),
        ({"content": '{"error": "no such user"}'}, "no such user"),
        ({"content": '{"error": null, "rows": 3}'}, None),
        ({"content": '{"isError": true, "content": "bad"}'}, "bad"),
        ({"content": '{"error'}, None),
    ],
)
def test_what_a_tool_message_says_went_wrong(message: dict[str, Any], error: str | None) -> None:
    assert normalise("messages", [{"role": "tool", **message}])[0].error == error


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("id", 1, "1"),
        ("task", 1.5, "1.5"),
        ("status", True, "true"),
        ("trial", 2, 2),
        ("trial", 2.0, 2),
        ("trial", "2", 2),
        ("reward", "0.5", 0.5),
        ("reward", True, 1.0),
        ("reward", "TRUE", 1.0),
        ("reward", "-1e-3", -0.001),
        ("tags", "prod", ["prod"]),
        ("tags", ["a", 1], ["a", "1"]),
        ("facts", '["a", "b"]', ["a", "b"]),
        ("output_schema", '{"type": "object"}', {"type": "object"}),
        ("output_schema", True, True),
        ("human", '{"m": ["yes"]}', {"m": ["yes"]}),
        ("usage", {"latency_s": "1.5", "prompt_tokens": 3, "output_tokens": 4.0}, Usage(1.5, 3, 4)),
        ("metadata.tier", [1], [1]),
    ],
)
def test_single_values(name: str, value: Any, read: Any) -> None:
    found = normalise(name, value)
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("id", {}, "id is an object; it must be a text"),
        ("trial", "first", "trial is the text 'first'; it must be a number"),
        ("trial", 1.5, "trial is 1.5; it must be a whole number"),
        ("trial", True, "trial is true or false; it must be a whole number"),
        ("reward", "1_000", "reward is the text '1_000'; it must be a number"),
        ("reward", "nan", "reward is the text 'nan'; it must be a number"),
        ("reward", "1e999", "reward is not finite; it must be a number"),
        ("reward", 10**400, "reward is not finite; it must be a number"),
        ("reward", [1], "reward is a list; it must be a number"),
        ("contexts", 3, "contexts is a number; it must be a list, and a passage is a text or {id, text, score}"),
        ("contexts", ["a", None], "contexts[1] is null; a passage is a text or {id, text, score}"),
        ("contexts", [{"url": "x"}], "contexts[0] has neither text nor id; a passage is a text or {id, text, score}"),
        ("contexts", [{"text": 3}], "contexts[0].text is a number; it must be a text"),
        ("contexts", [{"id": "a", "score": "high"}], "contexts[0].score is the text 'high'; it must be a number"),
        ("contexts", "['a' 'b']", "contexts is written like a list and is neither JSON nor a list of Python texts; write it as JSON"),
        ("contexts", {"d1": 1}, "contexts is an object without text; it must be a list, and a passage is a text or {id, text, score}"),
        ("tool_calls", [{"arguments": {}}], "tool_calls[0] has no name; a call is {name, arguments} or a name"),
        ("tool_calls", ["search(q='x')"], "tool_calls[0] is the text 'search(q='x')', which is no tool's name; a call is {name, arguments} or a name"),
        ("expected_tool_calls", [{"name": "f", "arguments": "x"}], "expected_tool_calls[0].arguments is a text; it must be an object"),
        ("expected_tool_calls", [{"name": "f", "optional": 1}], "expected_tool_calls[0].optional is a number; it must be true or false"),
        ("tools", [{"name": "f", "parameters": [1]}], "tools[0].parameters is a list; it must be a JSON Schema object"),
        ("messages", "hi", "messages is a text; it must be a list, and a message is {role, content, tool_calls, tool_call_id}"),
        ("messages", [{"content": "a"}], "messages[0] has no role; a message is {role, content, tool_calls, tool_call_id}"),
        ("messages", [{"role": "user", "content": 3}], "messages[0].content is a number; it must be a text, a list of content parts or null"),
        ("usage", {"latency_s": -1}, "usage.latency_s is -1; it must be a number from 0"),
        ("usage", {"llm_calls": "many"}, "usage.llm_calls is the text 'many'; it must be a number"),
        ("human", ["yes"], "human is a list; it must be an object"),
        ("topics", [{"a": 1}], "topics[0] is an object; it must be a text"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(name: str, value: Any, message: str) -> None:
    with pytest.raises(InvalidFieldError) as told:
        normalise(name, value)
    assert (told.value.message, told.value.field) == (message, name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("contexts", [Context("a", "d1", 0.5)]),
        ("tool_calls", [ToolCall("f", {"x": 1}, "c", "ok", None)]),
        ("expected_tool_calls", [ExpectedToolCall("f", {"x": 1}, {"x": "ignore"}, (ExpectedToolCall("g"),), True, "1")]),
        ("messages", [Message("assistant", "a", (ToolCall("f"),)), Message("tool", "x", (), "c", "f", "x")]),
        ("tools", [Tool("f", "does", {"type": "object"})]),
        ("usage", Usage(1.5, 3, 4, 0.01, 1)),
    ],
)
def test_typed_values_stay_and_read_back_from_their_plain_form(name: str, value: Any) -> None:
    assert normalise(name, value) == value
    assert normalise(name, json.loads(json.dumps(plain(value)))) == value


def test_old_forms_of_calls() -> None:
    raw = [{"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}}, {"role": "function", "name": "f", "content": "ok"}]
    assert normalise("messages", raw) == [Message("assistant", "", (ToolCall("f", {}),)), Message("tool", "ok", (), None, "f")]
    assert normalise("messages", {"messages": raw}) == normalise("messages", raw)
