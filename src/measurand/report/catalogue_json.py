"""A metric as the JSON of `metrics list`, and what a row of it takes in calls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from measurand.core.metric import REQUIRED, Metric
from measurand.plugins import BrokenPlugin

if TYPE_CHECKING:
    from measurand.report.shapes import MetricJson


def metric_json(one: Metric[Any]) -> MetricJson:
    """A metric with exactly the keys of `list --json`. What is not known is null, never 0."""
    asks = one.judge or one.embedder
    return {
        "name": one.name,
        "version": one.version,
        "status": one.status,
        "description": one.description,
        "categories": list(one.categories.words),
        "method": [*_methods(one)],
        "requires": list(one.requires),
        "optional": list(one.optional),
        "direction": one.direction,
        "range": finite_range(one),
        "type": one.type,
        "calls": calls_on_example(one),
        "estimated_cost_usd": None if asks else 0.0,
        "cost_model": None,
        "aliases": list(one.aliases),
        "relations": [{"name": relation.name, "difference": relation.difference} for relation in one.relations],
        "source": one.source,
        "plugin": one.plugin,
    }


def _methods(one: Metric[Any]) -> Iterator[Literal["code", "llm", "embed"]]:
    if one.judge:
        yield "llm"
    if one.embedder:
        yield "embed"
    if not (one.judge or one.embedder):
        yield "code"


def broken_json(plugin: BrokenPlugin) -> MetricJson:
    """A plugin that cannot be loaded, in the shape of a metric: unavailable, with the reason as its description."""
    return {
        "name": plugin.namespace,
        "version": "",
        "status": "unavailable",
        "description": f"the plugin cannot be loaded: {plugin.reason}",
        "categories": [],
        "method": [],
        "requires": [],
        "optional": [],
        "direction": "none",
        "range": [None, None],
        "type": "continuous",
        "calls": None,
        "estimated_cost_usd": None,
        "cost_model": None,
        "aliases": [],
        "relations": [],
        "source": plugin.target,
        "plugin": plugin.namespace,
    }


def finite_range(one: Metric[Any]) -> list[float | None]:
    """[lowest, highest], null where there is no bound."""
    return [end if math.isfinite(end) else None for end in one.range]


def split_example(one: Metric[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The example's fields, and its options."""
    options = {option.name for option in one.options}
    fields = {name: value for name, value in one.example.items() if name not in options}
    return fields, {name: value for name, value in one.example.items() if name in options}


def calls_on_example(one: Metric[Any]) -> int | None:
    """How many requests the metric makes on its example: 0 without an instrument, None where that cannot be counted."""
    if not (one.judge or one.embedder):
        return 0
    if not one.steps:
        return None
    from measurand.core.drive import count_requests

    fields, given = split_example(one)
    arguments = _arguments(one, fields)
    options = {option.name: given.get(option.name, option.default) for option in one.options}
    if any(value is REQUIRED for value in options.values()):
        return None
    instruments = frozenset(name for name, used in (("judge", one.judge), ("embedder", one.embedder)) if used)
    try:
        return count_requests(lambda: one.function(*arguments, **options), instruments)
    except Exception:  # noqa: BLE001  # a user's metric that fails on its own example is listed all the same
        return None


def _arguments(one: Metric[Any], fields: Mapping[str, Any]) -> Sequence[Any]:
    from measurand.core.coerce import COERCERS, typed_fields

    row = typed_fields(fields)
    first = {group[0] for group in one.one_of if not any(name in row for name in group)}
    arguments = []
    for parameter in one.parameters:
        if parameter.field in row:
            arguments.append(COERCERS[parameter.annotation](row[parameter.field], parameter.field))
        else:
            needed = parameter.required or parameter.field in first
            arguments.append(_stand_ins().get(parameter.annotation) if needed else None)
    return arguments


def _stand_ins() -> Mapping[str, Any]:
    """What a metric that asks is counted with where its example lacks a field it needs."""
    from measurand.core.record import Context, ExpectedToolCall, Message, Tool, ToolCall, Usage

    return {
        "str": "One thing. Another.",
        "float": 1.0,
        "int": 1,
        "list[str]": ["text"],
        "list[Context]": [Context("text")],
        "list[ToolCall]": [ToolCall("tool")],
        "list[ExpectedToolCall]": [ExpectedToolCall("tool")],
        "list[Message]": [Message("user", "text")],
        "list[Tool]": [Tool("tool")],
        "Usage": Usage(),
    }
