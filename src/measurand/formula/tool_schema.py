"""Calls against the definitions of the tools: which required arguments are there, and whether the arguments fit the tool's JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from measurand.core.effort import still_time
from measurand.core.errors import CellTimeoutError, InvalidFieldError

if TYPE_CHECKING:
    from measurand.core.record import Tool, ToolCall

_FIELD: Final = "tools"


class Completeness(NamedTuple):
    """Required arguments of the calls made: how many there are, which are missing (`tool.argument`), and the calls of tools that are not defined."""

    required: int
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


def completeness(calls: Sequence[ToolCall], tools: Sequence[Tool]) -> Completeness:
    """Counts each required argument once for each call. null is an argument that is there; text that was no JSON object holds none.

    Raises `InvalidFieldError` where `required` of a called tool is no list of names.
    """
    known = _by_name(tools)
    required = [(call, argument) for call in calls if call.name in known for argument in _required(known[call.name])]
    missing = tuple(f"{call.name}.{argument}" for call, argument in required if not (isinstance(call.arguments, Mapping) and argument in call.arguments))
    return Completeness(len(required), missing, tuple(call.name for call in calls if call.name not in known))


def _required(tool: Tool) -> list[str]:
    names = tool.parameters.get("required", [])
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise InvalidFieldError(f"the tool '{tool.name:.80}' says required = {names!r:.120}; it must be a list of argument names", _FIELD)
    return list(dict.fromkeys(names))


class Misuse(NamedTuple):
    """A call that does not fit its tool: the call's place and name, and why."""

    call: int
    name: str
    faults: tuple[str, ...]


NO_SUCH_TOOL: Final = "there is no tool of this name"
NO_OBJECT: Final = "the arguments are no JSON object"


def misused(calls: Sequence[ToolCall], tools: Sequence[Tool]) -> list[Misuse]:
    """The calls of a tool that is not defined, and those whose arguments do not fit the tool's JSON Schema. Absent arguments are `{}`.

    Schemas are applied within the bounds of `json_schema.schema_faults`. Raises `InvalidFieldError` for a schema that is none, `CellTimeoutError`.
    """
    known = _by_name(tools)
    found = [Misuse(place, call.name, _faults(call, known.get(call.name))) for place, call in enumerate(calls)]
    return [one for one in found if one.faults]


def _faults(call: ToolCall, tool: Tool | None) -> tuple[str, ...]:
    from measurand.formula.json_schema import schema_faults

    still_time()
    if tool is None:
        return (NO_SUCH_TOOL,)
    arguments = {} if call.arguments is None else call.arguments
    if not isinstance(arguments, dict):
        return (NO_OBJECT,)
    try:
        return tuple(schema_faults(arguments, tool.parameters))
    except InvalidFieldError as error:
        raise InvalidFieldError(f"the tool '{tool.name:.80}': {error.message}", _FIELD) from None
    except CellTimeoutError as error:
        raise CellTimeoutError(f"the tool '{tool.name:.80}': {error.message}", _FIELD) from None


def _by_name(tools: Sequence[Tool]) -> dict[str, Tool]:
    """The tools by name; of two that have one name the first."""
    return {tool.name: tool for tool in reversed(tools)}
