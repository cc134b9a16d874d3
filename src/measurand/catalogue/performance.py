"""Performance: what producing the output took, as the row's `usage` reports it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeVar

from measurand.core.errors import InvalidFieldError, MissingFieldError
from measurand.core.metric import metric
from measurand.core.taxonomy import MetricCategory

if TYPE_CHECKING:
    from measurand.core.record import ToolCall, Usage

_PERFORMANCE = MetricCategory.Performance
_USAGE = {"usage": {"latency_s": 1.8, "input_tokens": 940, "output_tokens": 210, "cost_usd": 0.0042, "llm_calls": 3}}

N = TypeVar("N", int, float)


@metric(
    _PERFORMANCE,
    type="continuous",
    range=(0.0, math.inf),
    direction="lower",
    source="usage.latency_s",
    aka={"efficiency.latency_ms": "in milliseconds"},
    example=_USAGE,
)
def code_latency(usage: Usage) -> float:
    """Seconds that producing the output took.

    `usage.latency_s`, as measured by whoever produced the output.
    Use it to see a system become slower.
    Not across machines or loads that differ.
    Empty: a usage without it: the metric does not apply.
    """
    return _reported(usage.latency_s, "latency_s")


@metric(
    _PERFORMANCE,
    type="continuous",
    range=(0.0, math.inf),
    direction="lower",
    source="usage.cost_usd",
    aka={"efficiency.est_cost_usd": "estimated from tokens and a price table"},
    example=_USAGE,
)
def code_cost(usage: Usage) -> float:
    """US dollars that producing the output cost.

    `usage.cost_usd`, as reported; nothing is estimated.
    Use it to see a system become dearer.
    Not across price lists that differ.
    Empty: a usage without it: the metric does not apply.
    """
    return _reported(usage.cost_usd, "cost_usd")


@metric(_PERFORMANCE, direction="none", source="usage.input_tokens", aka={"efficiency.prompt_tokens": "counts absent usage as 0"}, example=_USAGE)
def code_input_tokens(usage: Usage) -> int:
    """Tokens that were read to produce the output.

    `usage.input_tokens`, as reported.
    Use it to describe a system; more is neither better nor worse.
    Not across tokenizers that differ.
    Empty: a usage without it: the metric does not apply.
    """
    return _reported(usage.input_tokens, "input_tokens")


@metric(_PERFORMANCE, direction="none", source="usage.output_tokens", aka={"efficiency.completion_tokens": "counts absent usage as 0"}, example=_USAGE)
def code_output_tokens(usage: Usage) -> int:
    """Tokens that were written to produce the output.

    `usage.output_tokens`, as reported.
    Use it to describe a system; more is neither better nor worse.
    Not across tokenizers that differ.
    Empty: a usage without it: the metric does not apply.
    """
    return _reported(usage.output_tokens, "output_tokens")


@metric(
    _PERFORMANCE,
    direction="none",
    source="usage.input_tokens + usage.output_tokens",
    aka={"efficiency.total_tokens": "counts absent usage as 0"},
    example=_USAGE,
)
def code_total_tokens(usage: Usage) -> int:
    """Tokens that were read and written to produce the output.

    `usage.input_tokens` + `usage.output_tokens`; both must be there.
    Use it to describe a system; more is neither better nor worse.
    Not as a stand-in for cost: tokens read and written have different prices (see `code_cost`).
    Empty: a usage without one of them: the metric does not apply.
    """
    return _reported(usage.input_tokens, "input_tokens") + _reported(usage.output_tokens, "output_tokens")


@metric(
    _PERFORMANCE, direction="lower", source="usage.llm_calls", aka={"efficiency.llm_roundtrips": "counts the reasoning steps of the trajectory"}, example=_USAGE
)
def code_llm_calls(usage: Usage) -> int:
    """How many times a model was called to produce the output.

    `usage.llm_calls`, as reported.
    Use it to see an agent take more turns than before.
    Not where calls are of very different size (see `code_total_tokens`).
    Empty: a usage without it: the metric does not apply.
    """
    return _reported(usage.llm_calls, "llm_calls")


@metric(
    MetricCategory.Agentic | _PERFORMANCE,
    direction="none",
    source="length of tool_calls",
    example={"tool_calls": [{"name": "search", "arguments": {"q": "refund"}}, {"name": "reply"}]},
)
def code_tool_call_count(tool_calls: list[ToolCall]) -> int:
    """How many tool calls were made.

    The length of `tool_calls`, failed and repeated ones included.
    Use it to describe a system; whether fewer is better depends on the task.
    Not as a measure of waste (see `code_step_efficiency`, `code_redundant_calls`).
    Empty: no call: 0.
    """
    return len(tool_calls)


@metric(_PERFORMANCE, direction="none", source="length of output", example={"output": "Refunds take five days."})
def code_output_length(output: str, *, unit: Literal["characters", "words"] = "characters") -> int:
    """How long the output is.

    Unicode code points, or with `unit = "words"` runs of characters between white space (of little use for scripts without spaces).
    Use it to describe a system, and beside judged scores: judges tend to prefer longer answers.
    Not as a measure of quality.
    Empty: an empty output: 0.
    """
    return len(output) if unit == "characters" else len(output.split())


def _reported(value: N | None, part: str) -> N:
    name = f"usage.{part}"
    if value is None:
        raise MissingFieldError(f"the row's usage has no {part}", name)
    if value < 0:
        raise InvalidFieldError(f"{name} is {value}; it is at least 0", name)
    return value
