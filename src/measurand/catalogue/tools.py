"""Tool calls: which tools were called, and with which arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from measurand.core.metric import Score, metric, same
from measurand.core.taxonomy import MetricCategory
from measurand.formula.matching import Agreement, call_agreement, has_readable_arguments, name_agreement
from measurand.formula.overlap import f1

if TYPE_CHECKING:
    from measurand.core.record import ExpectedToolCall, ToolCall

_AGENT = MetricCategory.Agentic | MetricCategory.Correctness
_WEATHER = {
    "tool_calls": [{"name": "geocode", "arguments": {"place": "Lund"}}, {"name": "forecast", "arguments": {"days": 3}}],
    "expected_tool_calls": [{"name": "geocode", "arguments": {"place": "Lund"}}, {"name": "forecast", "arguments": {"days": 1}}],
}
_AZURE = "counts arguments too when the ground truth has them, and refuses an empty ground truth"
_SEARCHES_TWICE = {
    "tool_calls": [{"name": "search"}, {"name": "search"}, {"name": "book"}],
    "expected_tool_calls": [{"name": "search"}, {"name": "book"}],
}


@metric(
    _AGENT,
    source="praval.eval, tool_call_match",
    aka={
        "tool_call_match": same,
        "agentevals.trajectory_match(strict)": "compares turn by turn, and arguments too; calls within one turn may come in any order",
        "deepeval.ToolCorrectnessMetric(should_exact_match)": "compares the tools' types too, arguments and results when asked",
        "azure.TaskNavigationEfficiency(exact_match)": "compares arguments too when the ground truth has them",
    },
    example=_SEARCHES_TWICE,
)
def code_tool_call_match(tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall]) -> bool:
    """Whether the names of the calls are the expected names, in order.

    The two lists of names are equal: same length, same names at the same places. Arguments, alternatives, optional calls and groups are not looked at.
    Use it when the order of tools is part of the task and arguments are free text.
    Not when several paths are right, or arguments matter (see `code_trajectory_exact`, `code_trajectory_in_order`).
    Empty: no call made and none expected: 1; only one of the two empty: 0.
    """
    return [call.name for call in tool_calls] == [one.name for one in expected_tool_calls]


@metric(
    _AGENT,
    source="precision over multisets of tool names",
    aka={"azure.TaskNavigationEfficiency.precision_score": _AZURE},
    example=_SEARCHES_TWICE,
)
def code_tool_selection_precision(tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall]) -> float:
    """Share of the calls made whose tool was expected, names only.

    |names called ∩ names expected| / |names called|, as multisets: a tool expected once and called twice is right once.
    A call that fits an optional expected one is not counted. Order, arguments and alternatives are not looked at.
    Use it when needless calls cost money or do harm.
    Not when a missing call matters (see `code_tool_selection_recall`).
    Empty: no call made and none expected: 1; only one of the two empty: 0.
    """
    return name_agreement(expected_tool_calls, tool_calls).overlap.precision


@metric(
    _AGENT,
    source="recall over multisets of tool names",
    aka={
        "azure.TaskNavigationEfficiency.recall_score": _AZURE,
        "deepeval.ToolCorrectnessMetric": "compares the tools' types too, and counts equal calls once (4.3.1)",
    },
    example=_SEARCHES_TWICE,
)
def code_tool_selection_recall(tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall]) -> float:
    """Share of the expected tools that were called, names only.

    |names called ∩ names expected| / |names expected|, as multisets: a tool expected twice and called once is found once.
    Optional expected calls are not counted. Order, arguments and alternatives are not looked at.
    Use it when a missing call is what fails a task.
    Not when needless calls matter too (see `code_tool_selection_f1`).
    Empty: no call made and none expected: 1; only one of the two empty: 0.
    """
    return name_agreement(expected_tool_calls, tool_calls).overlap.recall


@metric(
    _AGENT,
    source="F1 over multisets of tool names",
    aka={"azure.TaskNavigationEfficiency.f1_score": _AZURE},
    example=_SEARCHES_TWICE,
)
def code_tool_selection_f1(tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall]) -> Score[float]:
    """Agreement of the tools called with the tools expected, names only.

    Harmonic mean of `code_tool_selection_precision` and `code_tool_selection_recall`; both are in the details, with the
    names that were missing and unexpected.
    Use it when missing and needless calls both matter and arguments do not.
    Not when arguments matter (see `code_tool_call_f1`) or the order does (see `code_tool_call_match`).
    Empty: no call made and none expected: 1; only one of the two empty: 0.
    """
    agreement = name_agreement(expected_tool_calls, tool_calls)
    return Score(f1(agreement.overlap), _parts(agreement))


@metric(
    _AGENT,
    source="ragas ToolCallF1, over multisets",
    aka={
        "ragas.ToolCallF1": "a set, so that a repeated call counts once, and rounded to four places",
        "ragas.ToolCallAccuracy": "partial credit for arguments, gated on the order of names",
    },
    example=_WEATHER,
)
def code_tool_call_f1(tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall]) -> Score[float]:
    """Agreement of the calls made with the calls expected, names and all arguments.

    F1 over multisets of (name, arguments). Arguments are equal as JSON: 1 equals 1.0, 1 is not "1", true is not 1, the order of keys does not matter;
    absent arguments are {}. `match` and `alternatives` are not looked at; optional expected calls are neither missed nor wrong.
    Arguments that are no JSON object match nothing. The details hold precision, recall, and the names of what was missing, unexpected and unreadable.
    Use it when a call is right or wrong as a whole and order does not matter.
    Not when arguments may differ in wording (see `code_trajectory_any_order`, which knows comparators).
    Empty: no call made and none expected: 1; only one of the two empty: 0.
    """
    agreement = call_agreement(expected_tool_calls, tool_calls)
    details = _parts(agreement)
    unreadable = [call.name for call in tool_calls if not has_readable_arguments(call)]
    if unreadable:
        details["unreadable_arguments"] = unreadable
    return Score(f1(agreement.overlap), details)


def _parts(agreement: Agreement) -> dict[str, Any]:
    return {
        "precision": agreement.overlap.precision,
        "recall": agreement.overlap.recall,
        "missing": list(agreement.missing),
        "unexpected": list(agreement.unexpected),
    }
