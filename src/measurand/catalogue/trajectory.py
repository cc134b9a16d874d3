"""Trajectories: the order of calls, how a run ended, and what it wasted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from measurand.core.annotations import PositiveInt
from measurand.core.errors import UndefinedError
from measurand.core.metric import Score, metric, same
from measurand.core.taxonomy import MetricCategory
from measurand.formula.matching import Agreement, step_agreement
from measurand.formula.sequence import common_blocks, efficiency, is_any_order, is_exact, is_in_order, loop, recovery, repeated

if TYPE_CHECKING:
    from measurand.core.record import ExpectedToolCall, ToolCall

_AGENT = MetricCategory.Agentic | MetricCategory.Correctness
_THRIFT = MetricCategory.Agentic | MetricCategory.Performance
_AZURE = 'compares argument values as text ("1" equals 1) and as a whole (here: arguments = "exact"), one set for each tool; refuses an empty ground truth'
_DETOUR = {
    "tool_calls": [{"name": "find_order", "arguments": {"id": 7}}, {"name": "think"}, {"name": "refund", "arguments": {"id": 7, "notify": True}}],
    "expected_tool_calls": [{"name": "find_order", "arguments": {"id": 7}}, {"name": "refund", "arguments": {"id": 7}}],
}
SUCCESSFUL = ("success", "successful", "succeeded", "complete", "completed", "done", "passed", "resolved", "solved", "ok")
"""Words for a run that reached its goal; a run that merely stopped ("finished", "stop", "submitted") is not among them."""


@metric(
    _AGENT,
    source="Vertex AI agent evaluation, trajectory_exact_match",
    aka={
        "agentevals.trajectory_match(strict)": (
            'compares turn by turn; calls within one turn may come in any order (here: a `group`), arguments are whole (here: arguments = "exact")'
        ),
        "azure.TaskNavigationEfficiency(exact_match)": _AZURE,
    },
    example=_DETOUR,
)
def code_trajectory_exact(
    tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall], *, arguments: Literal["given", "exact", "ignore"] = "given"
) -> bool:
    """Whether the calls are the expected ones, in order, and no others.

    Each call fits its expected one: same name, the arguments that the expected call gives (compared by its `match`), or one of its alternatives.
    `arguments = "exact"` allows no others, "ignore" compares names alone. Optional calls may be absent; the members of a group may come in any order.
    Use it when there is one right path, e.g. a procedure that must be followed.
    Not when further calls do no harm (see `code_trajectory_in_order`).
    Empty: no call made and none expected: 1; only one of the two empty: 0 (none made and only optional ones expected: 1).
    """
    return is_exact(expected_tool_calls, tool_calls, arguments)


@metric(
    _AGENT,
    source="Vertex AI agent evaluation, trajectory_in_order_match",
    aka={"azure.TaskNavigationEfficiency(in_order_match)": _AZURE},
    example=_DETOUR,
)
def code_trajectory_in_order(
    tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall], *, arguments: Literal["given", "exact", "ignore"] = "given"
) -> bool:
    """Whether the calls contain the expected ones in order, with anything in between.

    The required calls are a subsequence of the calls made. Fit, optional calls, groups and `arguments` as in `code_trajectory_exact`.
    Use it when steps build on each other and looking around between them is fine.
    Not when needless calls are wrong (see `code_trajectory_exact`) or order is free (see `code_trajectory_any_order`).
    Empty: no call made and none expected: 1; only one of the two empty: 0, so a call where none is right scores 0.
    """
    return is_in_order(expected_tool_calls, tool_calls, arguments)


@metric(
    _AGENT,
    source="Vertex AI agent evaluation, trajectory_any_order_match",
    aka={
        "agentevals.trajectory_match(superset)": 'arguments are whole (here: arguments = "exact"); any call passes where none is expected',
        "azure.TaskNavigationEfficiency(any_order_match)": _AZURE,
    },
    example=_DETOUR,
)
def code_trajectory_any_order(
    tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall], *, arguments: Literal["given", "exact", "ignore"] = "given"
) -> bool:
    """Whether the calls contain the expected ones, in any order.

    Each required call has a call of its own that fits it: one to one, the largest pairing, so the order of the two lists does not matter.
    Fit, optional calls and `arguments` as in `code_trajectory_exact`.
    Use it when independent calls may be made in any order, e.g. in parallel.
    Not when the order matters (see `code_trajectory_in_order`).
    Empty: no call made and none expected: 1; only one of the two empty: 0, so a call where none is right scores 0.
    """
    return is_any_order(expected_tool_calls, tool_calls, arguments)


_NAMES_ALONE = 'compares names alone (here: arguments = "ignore")'
_VERTEX = "compares arguments as a whole and knows no optional steps"


@metric(
    _AGENT,
    source="Vertex AI agent evaluation, trajectory_precision, by largest pairing",
    aka={
        "trajectory.precision": f"{_NAMES_ALONE}; an optional step that was made counts as right; no call made: 0",
        "vertex.trajectory_precision": f"{_VERTEX}; a call that occurs in the reference is right however often it is made",
        "agentevals.trajectory_match(subset)": 'asks whether this is 1 (here: arguments = "exact"), also when no call is made',
        "azure.TaskNavigationEfficiency.precision_score": _AZURE,
    },
    example=_DETOUR,
)
def code_trajectory_precision(
    tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall], *, arguments: Literal["given", "exact", "ignore"] = "given"
) -> Score[float]:
    """Share of the calls made that are expected ones.

    Calls that pair up with a required call that they fit, one to one, the largest pairing / calls made. Calls that only an optional one accounts for are
    left out of both. A call twice where one is expected is right once. The order of the two lists does not matter.
    Fit, alternatives and `arguments` as in `code_trajectory_exact`. The details name the calls that were missing and unexpected.
    Use it when needless or wrong calls cost money or do harm.
    Not when a missing call matters (see `code_trajectory_recall`).
    Empty: no call made and none expected: 1; only one of the two empty: 0 (none made and only optional ones expected: 1).
    """
    agreement = step_agreement(expected_tool_calls, tool_calls, arguments)
    return Score(agreement.overlap.precision, _names(agreement))


@metric(
    _AGENT,
    source="Vertex AI agent evaluation, trajectory_recall, by largest pairing",
    aka={
        "trajectory.recall": f"{_NAMES_ALONE}; nothing required: 1, also when a call was made where none is right",
        "vertex.trajectory_recall": f"{_VERTEX}; one call finds every equal expected call",
        "azure.TaskNavigationEfficiency.recall_score": _AZURE,
        "tau2.action_checks": "one call may serve several expected actions; see `code_tool_arguments`",
    },
    example=_DETOUR,
)
def code_trajectory_recall(
    tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall], *, arguments: Literal["given", "exact", "ignore"] = "given"
) -> Score[float]:
    """Share of the required calls that were made.

    Required calls that pair up with a call that fits them, one to one, the largest pairing / required calls. It is 1 exactly when
    `code_trajectory_any_order` is. Fit, alternatives and `arguments` as in `code_trajectory_exact`; optional calls are not counted.
    The details name the calls that were missing and unexpected.
    Use it when a missing call is what fails a task.
    Not when needless calls matter too (see `code_trajectory_precision`).
    Empty: no call made and none expected: 1; only one of the two empty: 0, so a call where none is right scores 0 (only optional ones expected: 1).
    """
    agreement = step_agreement(expected_tool_calls, tool_calls, arguments)
    nothing_missed = not agreement.missing and (bool(expected_tool_calls) or not tool_calls)
    return Score(1.0 if nothing_missed else agreement.overlap.recall, _names(agreement))


@metric(
    _AGENT,
    source="AgentGate trajectory.lcs_ratio, over blocks",
    aka={
        "trajectory.lcs_ratio": f"{_NAMES_ALONE}; does not know groups; not defined where nothing is required",
        "deepeval.ToolCorrectnessMetric(should_consider_ordering)": "weighs how well the arguments agree, when asked to look at them",
    },
    example=_DETOUR,
)
def code_trajectory_lcs(
    tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall], *, arguments: Literal["given", "exact", "ignore"] = "given"
) -> Score[float]:
    """How much of the expected path was gone, in order.

    Longest common subsequence / expected blocks. A block is a required call, or the required members of a group, which may come in any order: it is found
    where all of them are, with anything in between, after the block before it. It is 1 exactly when `code_trajectory_in_order` is.
    Fit, alternatives and `arguments` as in `code_trajectory_exact`; blocks of optional calls alone are not counted, and calls too many do not matter.
    The details name the calls of the blocks that are missing or out of order, and those that no call fits at all.
    Use it for partial credit where order matters.
    Not when order is free (see `code_trajectory_recall`).
    Empty: no call made and none expected: 1; only one of the two empty: 0 (only optional ones expected: 1).
    """
    if not expected_tool_calls:
        return Score(float(not tool_calls))
    common = common_blocks(expected_tool_calls, tool_calls, arguments)
    if common.found == common.wanted:
        return Score(1.0)
    missing = step_agreement(expected_tool_calls, tool_calls, arguments).missing
    return Score(
        common.found / common.wanted, {"blocks": common.wanted, "found": common.found, "not_in_order": list(common.left_out), "missing": list(missing)}
    )


def _names(agreement: Agreement) -> dict[str, list[str]]:
    return {"missing": list(agreement.missing), "unexpected": list(agreement.unexpected)}


@metric(
    _THRIFT,
    source="AgentGate trajectory.step_efficiency",
    aka={"trajectory.step_efficiency": "is 1 for any short run, also one that made none of the expected calls"},
    example=_DETOUR,
)
def code_step_efficiency(tool_calls: list[ToolCall], expected_tool_calls: list[ExpectedToolCall]) -> float:
    """How short the path was, compared with the expected one.

    min(1, expected calls / calls made); 0 when no call made fits an expected one, so that calling at random is never better than calling nothing.
    Optional calls count as expected where they were made.
    It says nothing about success: a run may be short because it gave up (see `code_terminal_success`).
    Use it beside a measure of success, to see what success cost.
    Not when paths of different length are equally good.
    Empty: no call made though some were required: 0; calls made though none was expected: 0; neither: not defined.
    """
    value = efficiency(expected_tool_calls, tool_calls)
    if value is None:
        raise UndefinedError("no call was required and none was made: 0/0")
    return value


@metric(
    _THRIFT,
    direction="lower",
    source="AgentGate trajectory.redundant_call_rate",
    aka={"trajectory.redundant_call_rate": same},
    example={"tool_calls": [{"name": "search", "arguments": {"q": "refund"}}, {"name": "search", "arguments": {"q": "refund"}}]},
)
def code_redundant_calls(tool_calls: list[ToolCall]) -> float:
    """Share of calls that repeat an earlier call, name and arguments.

    Calls whose (name, arguments) occurred before / calls. Arguments are equal as JSON: 1 equals 1.0, the order of keys does not matter, absent = {}.
    Use it to find agents that ask again what they were told.
    Not when asking again is right, e.g. polling a state that changes.
    Empty: no call: not defined (0/0).
    """
    if not tool_calls:
        raise UndefinedError("no call was made: 0/0", "tool_calls")
    return repeated(tool_calls) / len(tool_calls)


@metric(
    _THRIFT,
    direction="lower",
    source="AgentGate trajectory.loop_detected, for blocks of up to three calls",
    aka={"trajectory.loop_detected": "looks for one call three times in a row, not for blocks of two or three"},
    example={"tool_calls": [{"name": name, "arguments": {"q": "refund"}} for name in ("search", "read", "search", "read", "search", "read")]},
)
def code_loop_detected(tool_calls: list[ToolCall]) -> Score[bool]:
    """Whether the agent went round in circles.

    Some block of one, two or three calls occurs three times or more back to back: the same names with the same arguments, in the same order. Arguments are
    equal as JSON: 1 equals 1.0, the order of keys does not matter, absent = {}. The details name the first of the shortest such blocks.
    Use it to find runs that burn their budget standing still.
    Not when repeating is right, e.g. polling a state that changes, or stepping through pages without an argument.
    Empty: no call made: 0.
    """
    found = loop(tool_calls)
    return Score(found is not None, {"block": list(found.names), "start": found.start, "times": found.times} if found else {})


@metric(
    _AGENT,
    source="AgentGate trajectory.error_recovery_rate",
    aka={"trajectory.error_recovery_rate": same},
    example={"tool_calls": [{"name": "book", "error": "no such room"}, {"name": "rooms"}, {"name": "book", "arguments": {"room": "blue"}}]},
)
def code_error_recovery(tool_calls: list[ToolCall], *, window: PositiveInt = 2) -> Score[float]:
    """Share of the failed calls that the agent made good soon.

    Failed calls with a call of the same tool that does not fail among the next `window` calls / failed calls. What counts as failed: see
    `code_tool_success`. Arguments are not looked at: they are what is usually mended. One success may make several failures good.
    Use it to tell agents that mend their mistakes from those that give up or repeat them.
    Not as a measure of how often calls fail (see `code_tool_success`).
    Empty: no call made, or none failed: not defined (0/0), for never having to recover is not recovering well.
    """
    found = recovery(tool_calls, window)
    if not found.failed:
        raise UndefinedError("no call failed: 0/0", "tool_calls")
    return Score(found.recovered / found.failed, {"failed": found.failed, "recovered": found.recovered})


@metric(
    _AGENT,
    source="praval.eval, terminal_success",
    aka={"terminal_success": same},
    example={"status": "completed"},
)
def code_terminal_success(status: str, *, success: tuple[str, ...] = SUCCESSFUL) -> bool:
    """Whether the run ended in a state that counts as success.

    `status` is one of `success`, letter case and spaces around it apart. Any other word is no success, also one nobody has listed.
    Use it when the harness states how a run ended.
    Not as the only measure: an agent that says it is done need not have done it (see `code_task_reward`).
    Empty: an empty status is missing.
    """
    return status.strip().casefold() in {word.strip().casefold() for word in success}


@metric(
    _AGENT,
    type="continuous",
    range=(-math.inf, math.inf),
    threshold=1.0,
    source="Yao et al. 2024, τ-bench",
    aka={"tau_bench.reward": "the same number, read from `reward`"},
    example={"reward": 1.0},
)
def code_task_reward(reward: float) -> float:
    """The environment's own verdict on the run, as it is.

    Threshold 1: less than the full reward is no success.
    Use it when an environment checks the final state, as τ-bench does.
    Not when the reward has another scale, unless the threshold is set to its full mark.
    Empty: without a reward the metric does not apply.
    """
    return reward
