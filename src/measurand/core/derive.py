"""Fields that follow from the messages: the calls that were made, the answer, the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import evolve

from measurand.core.record import Message, ToolCall

DERIVED_FIELDS: Final[Mapping[str, str]] = {
    "tool_calls": "all assistant calls, in order, results joined by id",
    "output": "the last assistant message after the last tool result",
    "input": "the first user message",
}
"""Derived from `messages` when absent, and how."""


def derive(fields: dict[str, Any]) -> None:
    """Adds what the messages say and the row does not have itself. An answer or a question that no message holds stays missing."""
    messages = fields.get("messages")
    if type(messages) is not list:
        return
    if "tool_calls" not in fields:
        fields["tool_calls"] = calls_made(messages)
    if "output" not in fields:
        answer = last_answer(messages)
        if answer is not None:
            fields["output"] = answer
    if "input" not in fields:
        question = next((message.content for message in messages if message.role == "user"), "")
        if question:
            fields["input"] = question


def calls_made(messages: Sequence[Message]) -> list[ToolCall]:
    """Every call of an assistant message, in order, with the result and the error of the tool message that answers it.

    A tool message answers the earliest open call with its id; without an id, the earliest open call of its name, else the earliest open call.
    """
    calls: list[ToolCall] = []
    unanswered: list[int] = []
    for message in messages:
        if message.role == "assistant":
            unanswered.extend(range(len(calls), len(calls) + len(message.tool_calls)))
            calls.extend(message.tool_calls)
        elif message.role == "tool" and unanswered:
            at = _answered(message, calls, unanswered)
            if at is not None:
                unanswered.remove(at)
                call = calls[at]
                calls[at] = evolve(call, result=message.content if call.result is None else call.result, error=call.error or message.error)
    return calls


def _answered(message: Message, calls: Sequence[ToolCall], unanswered: Sequence[int]) -> int | None:
    if message.tool_call_id is not None:
        return next((at for at in unanswered if calls[at].id == message.tool_call_id), None)
    return next((at for at in unanswered if calls[at].name == message.name), unanswered[0])


def last_answer(messages: Sequence[Message]) -> str | None:
    """The text of the last assistant message after the last tool result; None when no assistant message follows it."""
    for message in reversed(messages):
        if message.role == "assistant":
            return message.content
        if message.role == "tool":
            return None
    return None
