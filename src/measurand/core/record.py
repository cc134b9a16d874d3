"""The record: one row of a dataset, and the typed values its fields hold. What fields there are: `core/fields.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from measurand.core.fields import Json


@frozen
class Context:
    """One passage, retrieved or to be retrieved. `id` names it, `score` is a rank score (retrieved) or a graded gain (reference)."""

    text: str | None = None
    id: str | None = None
    score: float | None = None


@frozen
class ToolCall:
    """One call an agent made. `arguments` is an object; text that was no JSON stays text and matches nothing; None is absent."""

    name: str
    arguments: Json = None
    id: str | None = None
    result: Json = None
    error: str | None = None


@frozen
class ExpectedToolCall:
    """One call that should have been made.

    `arguments` None: not checked. `match`: argument → comparator (see `formula/matching.py`). `alternatives`: other calls that do as well.
    `optional`: neither missed nor wrong. `group`: members of one group may come in any order.
    """

    name: str
    arguments: dict[str, Json] | None = None
    match: Mapping[str, Json] = field(factory=dict)
    alternatives: tuple[ExpectedToolCall, ...] = ()
    optional: bool = False
    group: str | None = None


@frozen
class Message:
    """One chat message. `content` is its text (content parts joined), "" when there is none; `error` is what a tool message says went wrong."""

    role: str
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    error: str | None = None


@frozen
class Tool:
    """A tool an agent could call; `parameters` is a JSON Schema object."""

    name: str
    description: str = ""
    parameters: dict[str, Json] = field(factory=dict)


@frozen
class Usage:
    """What producing the output took."""

    latency_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    llm_calls: int | None = None


@frozen
class Record:
    """One row, ready for metrics. `fields` holds what is there: an absent key is a missing field."""

    id: str
    task: str
    trial: int
    fields: Mapping[str, Any]
