"""A metric as the JSON of `metrics list`, and what a row of it takes in calls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from measurand.core.metric import REQUIRED, Metric
from measurand.plugins import BrokenPlugin

if TYPE_CHECKING:
    from measurand.core.request import Request
    from measurand.report.example_cost import ExampleCost
    from measurand.report.shapes import MetricJson


def asks(one: Metric[Any]) -> bool:
    """Whether the metric asks a model."""
    return one.judge or one.embedder


def metric_json(one: Metric[Any], cost: ExampleCost | None = None) -> MetricJson:
    """A metric with exactly the keys of `list --json`. What is not known is null, never 0. `cost`: where a price was looked up."""
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
        "estimated_cost_usd": cost_usd(one, cost),
        "cost_model": None if cost is None else cost.model,
        "aliases": list(one.aliases),
        "relations": [{"name": relation.name, "difference": relation.difference} for relation in one.relations],
        "source": one.source,
        "plugin": one.plugin,
    }


def cost_usd(one: Metric[Any], cost: ExampleCost | None) -> float | None:
    """US dollars of its example's row: 0 for code, None where no price is known."""
    if not asks(one):
        return 0.0
    return None if cost is None else cost.usd


def _methods(one: Metric[Any]) -> Iterator[Literal["code", "llm", "embed"]]:
    if one.judge:
        yield "llm"
    if one.embedder:
        yield "embed"
    if not asks(one):
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
    if not asks(one):
        return 0
    counted = [requests_on_example(one, p) for p in (0.0, 1.0)]
    return None if None in counted else max(len(made or ()) for made in counted)


def requests_on_example(one: Metric[Any], p: float = 1.0) -> list[Request[Any]] | None:
    """The requests the metric makes on its example, with stand-in replies and every verdict `p`; None where it cannot be driven."""
    fields, given = split_example(one)
    options = {option.name: given.get(option.name, option.default) for option in one.options}
    if not one.steps or any(value is REQUIRED for value in options.values()):
        return None
    from measurand.core.drive import requests_made

    instruments = frozenset(name for name, used in (("judge", one.judge), ("embedder", one.embedder)) if used)
    try:
        return requests_made(one.function(*_arguments(one, fields), **options), instruments, p)
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
