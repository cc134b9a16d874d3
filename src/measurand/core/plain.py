"""Typed values back to JSON values: what is hashed, stored and given to metrics that take JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from measurand.core.fields import Json
from measurand.core.record import Context, ExpectedToolCall, Message, Tool, ToolCall, Usage


def _context(one: Context) -> Json:
    return _without_none(id=one.id, text=one.text, score=one.score)


def _call(one: ToolCall) -> Json:
    return _without_none(name=one.name, arguments=plain(one.arguments), id=one.id, result=plain(one.result), error=one.error)


def _expected_call(one: ExpectedToolCall) -> Json:
    return _without_none(
        name=one.name,
        arguments=plain(one.arguments),
        match=plain(one.match) or None,
        alternatives=[_expected_call(other) for other in one.alternatives] or None,
        optional=one.optional or None,
        group=one.group,
    )


def _message(one: Message) -> Json:
    calls = [_call(call) for call in one.tool_calls] or None
    return _without_none(role=one.role, content=one.content, tool_calls=calls, tool_call_id=one.tool_call_id, name=one.name, error=one.error)


def _tool(one: Tool) -> Json:
    return _without_none(name=one.name, description=one.description or None, parameters=plain(one.parameters))


def _usage(one: Usage) -> Json:
    return _without_none(
        latency_s=one.latency_s, input_tokens=one.input_tokens, output_tokens=one.output_tokens, cost_usd=one.cost_usd, llm_calls=one.llm_calls
    )


def _without_none(**entries: Json) -> dict[str, Json]:
    return {key: value for key, value in entries.items() if value is not None}


_PLAIN: Final[Mapping[type, Callable[[Any], Json]]] = {
    Context: _context,
    ToolCall: _call,
    ExpectedToolCall: _expected_call,
    Message: _message,
    Tool: _tool,
    Usage: _usage,
}


def plain(value: Any) -> Json:
    """A value of a record as JSON, without the keys that hold nothing. JSON values stay as they are."""
    known = _PLAIN.get(type(value))
    if known is not None:
        return known(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return dict(value) if isinstance(value, Mapping) else value
