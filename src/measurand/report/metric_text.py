"""One metric in full, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from measurand.core.fields import FIELDS
from measurand.core.metric import REQUIRED, Metric, Option, Parameter
from measurand.index import SUITES
from measurand.report import terminal
from measurand.report.catalogue_json import calls_on_example, finite_range, metric_json, split_example
from measurand.report.request_text import example_requests, request_lines
from measurand.report.visible import columns, padded, safe, safe_lines, wrapped

if TYPE_CHECKING:
    from measurand.core.result import MetricResult
    from measurand.report.shapes import ExampleJson, FieldJson, MetricInFullJson, OptionJson, QuestionJson

_HEAD: Final = 12
_READ_AS: Final[Mapping[str, str]] = {
    "str": "text",
    "float": "number",
    "int": "whole number",
    "Json": "JSON",
    "list[str]": "texts",
    "list[Context]": "passages",
    "list[ToolCall]": "tool calls",
    "list[ExpectedToolCall]": "expected tool calls",
    "list[Message]": "chat messages",
    "list[Tool]": "tool definitions",
    "Usage": "tokens, time, money",
}
_DIRECTIONS: Final = {"higher": "higher is better", "lower": "lower is better", "none": "neither way is better"}


def computed_example(one: Metric[Any]) -> MetricResult | None:
    """The example's result, computed as `measurand.score` does; None without an example, where a model would have to answer, or an option is not set."""
    fields, options = split_example(one)
    if not fields or one.judge or one.embedder or not options.keys() >= set(one.needs_options):
        return None
    from measurand.api import score

    return score(one, options=options, **fields)


# ---------------------------------------------------------------- JSON


def metric_in_full(one: Metric[Any], result: MetricResult | None) -> MetricInFullJson:
    """A metric with exactly the keys of `show --json`: those of `list`, and the rest of what is known."""
    return {
        **metric_json(one),
        "doc": one.doc,
        "fields": [_field_json(parameter) for parameter in one.parameters],
        "one_of": [list(group) for group in one.one_of],
        "options": [_option_json(option) for option in one.options],
        "threshold": one.threshold,
        "since": one.since,
        "replaced_by": one.replaced_by,
        "suites": [name for name, members in SUITES.items() if one.name in members],
        "question": _question_json(one),
        "requests": example_requests(one),
        "example": _example_json(one, result),
    }


def _field_json(parameter: Parameter) -> FieldJson:
    return {"name": parameter.field, "type": parameter.annotation, "required": parameter.required, "meaning": _meaning(parameter)}


def _option_json(option: Option) -> OptionJson:
    required = option.default is REQUIRED
    return {
        "name": option.name,
        "type": option.type.text,
        "allowed": option.type.allowed,
        "choices": list(option.type.choices),
        "required": required,
        "default": None if required else _plain(option.default),
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else value


def _question_json(one: Metric[Any]) -> QuestionJson | None:
    if one.judged is None:
        return None
    from measurand.core.judged import answers

    question = one.judged
    return {
        "ask": question.ask,
        "answers": dict(answers(question)),
        "each": question.each,
        "claims": question.claims,
        "sentences": question.sentences,
        "fold": None if question.fold is None else getattr(question.fold, "name", getattr(question.fold, "__name__", "a function")),
    }


def _example_json(one: Metric[Any], result: MetricResult | None) -> ExampleJson | None:
    if not one.example:
        return None
    fields, options = split_example(one)
    return {"fields": fields, "options": options, "result": None if result is None else result.to_dict()}


# ---------------------------------------------------------------- text


def metric_lines(one: Metric[Any], result: MetricResult | None, width: int) -> list[str]:
    """Everything there is to know about a metric before using it."""
    first, _, body = one.doc.partition("\n")
    lines = [terminal.bold(safe(one.name)), *wrapped(safe(first), width), ""]
    if body.strip():
        lines += [*(line for part in _paragraphs(body) for line in wrapped(safe(part), width)), ""]
    for head, text in _facts(one):
        lines += _fact(head, text, width)
    return [*lines, *_example_lines(one, result, width), *request_lines(example_requests(one) or [], width)]


def _paragraphs(body: str) -> list[str]:
    """The lines of a docstring; one that continues a sentence is joined to it."""
    joined: list[str] = []
    for line in body.strip().split("\n"):
        if joined and line and joined[-1] and not line.startswith((" ", "|", "-", "*")) and joined[-1][-1] not in ".:|?!":
            joined[-1] += f" {line}"
        else:
            joined.append(line)
    return joined


def _fact(head: str, text: str, width: int) -> list[str]:
    indent = " " * _HEAD
    first, *rest = wrapped(safe_lines(text), width, indent)
    return [f"{terminal.dim(padded(head, _HEAD))}{first[_HEAD:]}", *rest]


def _facts(one: Metric[Any]) -> Iterator[tuple[str, str]]:
    yield "score", _score_facts(one)
    yield "needs", _fields(parameter for parameter in one.parameters if parameter.required) or ("no field" if not one.one_of else "")
    for group in one.one_of:
        yield "one of", _fields(parameter for parameter in one.parameters if parameter.field in group)
    optional = _fields(parameter for parameter in one.parameters if parameter.field in one.optional)
    if optional:
        yield "uses too", optional
    if one.options:
        yield "options", "\n".join(map(_option_text, one.options))
    if one.judged is not None:
        yield from _question_facts(one)
    yield "flags", ", ".join(one.categories.words)
    yield "cost", _cost(one)
    if one.source:
        yield "source", one.source
    if one.aliases:
        yield "same as", ", ".join(one.aliases)
    if one.relations:
        yield "close to", "\n".join(f"{relation.name}: {relation.difference}" for relation in one.relations)
    suites = [name for name, members in SUITES.items() if one.name in members]
    if suites:
        yield "suites", ", ".join(suites)
    yield "version", _version(one)


def _score_facts(one: Metric[Any]) -> str:
    low, high = finite_range(one)
    bounds = f"{_bound(low)} to {_bound(high)}" if low is not None and high is not None else f"from {_bound(low)}" if low is not None else "without bounds"
    if low is None and high is not None:
        bounds = f"up to {_bound(high)}"
    said = ["yes or no (1 or 0)" if one.type == "binary" else f"{one.type}, {bounds}", _DIRECTIONS[one.direction]]
    if one.threshold is not None and one.direction != "none":
        said.append(f"passes {'at' if one.direction == 'higher' else 'below'} {one.threshold:g}")
    if one.corpus is not None:
        said.append("also computed over all rows at once")
    return ", ".join(said)


def _bound(value: float | None) -> str:
    return "" if value is None else f"{value:g}".replace("-", "−")


def _fields(parameters: Iterator[Parameter]) -> str:
    return "\n".join(f"{parameter.field} ({_READ_AS.get(parameter.annotation, parameter.annotation)}): {_meaning(parameter)}" for parameter in parameters)


def _meaning(parameter: Parameter) -> str:
    if parameter.field in FIELDS:
        return FIELDS[parameter.field].meaning
    return f"the column {parameter.field.removeprefix('metadata.')}"


def _option_text(option: Option) -> str:
    default = "must be set" if option.default is REQUIRED else f"default {_json(_plain(option.default))}"
    return f"{option.name}: {option.type.allowed}{' or none' if option.type.text.endswith('| None') else ''}, {default}"


def _question_facts(one: Metric[Any]) -> Iterator[tuple[str, str]]:
    question = _question_json(one)
    assert question is not None
    yield "asks", question["ask"]
    if one.judged.through:
        yield "for each", one.judged.part
    yield "answers", "\n".join(f"{name}: {means}" if means else name for name, means in question["answers"].items())
    if question["fold"]:
        yield "folded by", question["fold"]


def _cost(one: Metric[Any]) -> str:
    if not (one.judge or one.embedder):
        return "0: no model is asked"
    who = " and ".join(name for name, used in (("a judge", one.judge), ("an embedding model", one.embedder)) if used)
    calls = calls_on_example(one)
    return f"asks {who}" if calls is None else f"asks {who}, {terminal.counted(calls, 'request')} for its example"


def _version(one: Metric[Any]) -> str:
    said = [one.version, one.status, f"since {one.since}"]
    if one.replaced_by:
        said.append(f"replaced by {one.replaced_by}")
    if one.plugin:
        said.append(f"plugin {one.plugin}")
    return ", ".join(said)


def _example_lines(one: Metric[Any], result: MetricResult | None, width: int) -> list[str]:
    if not one.example:
        return []
    fields, options = split_example(one)
    given = {**fields, **options}
    margin = max(columns(safe(name)) for name in given)
    lines = ["", terminal.dim("example")]
    for name, value in given.items():
        first, *rest = wrapped(safe(_json(value)), width, " " * (margin + 4))
        lines += [f"  {padded(safe(name), margin)}  {first[margin + 4 :]}", *rest]
    if result is None:
        return [
            *lines,
            "  a model has to answer; nothing is asked here" if one.judge or one.embedder else f"  set {', '.join(one.needs_options)} to compute it",
        ]
    return [*lines, *wrapped(safe(_outcome(result)), width, "  ")]


def _outcome(result: MetricResult) -> str:
    if result.error is not None:
        return f"→ {result.status.replace('_', ' ')}: {result.error.message}"
    whole = result.score is not None and result.score == round(result.score)
    text = f"→ {terminal.number(round(result.score) if result.score is not None and whole else result.score)}"
    if result.passed is not None:
        text += " (passes)" if result.passed else " (does not pass)"
    return f"{text}, details {_json(dict(result.details))}" if result.details else text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
