from __future__ import annotations

from typing import Any

import pytest

from measurand.core.coerce import Invalid
from measurand.core.derive import calls_made, derive, last_answer
from measurand.core.record import Message, ToolCall


def user(text: str) -> Message:
    return Message("user", text)


def says(text: str, *calls: ToolCall) -> Message:
    return Message("assistant", text, calls)


def result(text: str, id: str | None = None, name: str | None = None, error: str | None = None) -> Message:
    return Message("tool", text, (), id, name, error)


def test_calls_in_order_with_results_joined_by_id() -> None:
    messages = [says("", ToolCall("f", id="1"), ToolCall("g", id="2")), result("two", "2"), result("one", "1", error="one"), says("", ToolCall("h"))]
    assert calls_made(messages) == [ToolCall("f", id="1", result="one", error="one"), ToolCall("g", id="2", result="two"), ToolCall("h")]


def test_an_id_that_comes_again_answers_the_open_call() -> None:
    messages = [says("", ToolCall("f", id="c")), result("first", "c"), says("", ToolCall("f", id="c")), result("second", "c")]
    assert [call.result for call in calls_made(messages)] == ["first", "second"]


def test_results_without_id_go_by_name_then_by_order() -> None:
    messages = [says("", ToolCall("f"), ToolCall("g")), result("of g", name="g"), result("of f")]
    assert [call.result for call in calls_made(messages)] == ["of f", "of g"]


def test_a_result_of_nobody_is_nobodys() -> None:
    assert calls_made([says("", ToolCall("f", id="1")), result("x", "9")]) == [ToolCall("f", id="1")]
    assert calls_made([result("x", "9")]) == []


def test_calls_of_a_simulated_user_are_not_the_agents() -> None:
    assert calls_made([Message("user", "", (ToolCall("f", id="1"),)), result("x", "1"), says("", ToolCall("g"))]) == [ToolCall("g")]


@pytest.mark.parametrize(
    ("messages", "answer"),
    [
        ([user("q"), says("a"), user("thanks")], "a"),
        ([says("first"), says("second")], "second"),
        ([says("before", ToolCall("f", id="1")), result("x", "1")], None),
        ([says("before", ToolCall("f", id="1")), result("x", "1"), says("after")], "after"),
        ([says("")], ""),
        ([user("q")], None),
        ([], None),
    ],
)
def test_the_answer(messages: list[Message], answer: str | None) -> None:
    assert last_answer(messages) == answer


def test_only_what_is_absent_is_derived() -> None:
    messages = [user("q"), says("a", ToolCall("f"))]
    fields: dict[str, Any] = {"messages": messages, "output": "", "tool_calls": []}
    derive(fields)
    assert fields == {"messages": messages, "output": "", "tool_calls": [], "input": "q"}


def test_messages_without_calls_mean_no_call() -> None:
    fields: dict[str, Any] = {"messages": []}
    derive(fields)
    assert fields == {"messages": [], "tool_calls": []}


def test_nothing_follows_from_misshapen_messages() -> None:
    fields: dict[str, Any] = {"messages": Invalid("messages is a text")}
    derive(fields)
    assert set(fields) == {"messages"}
