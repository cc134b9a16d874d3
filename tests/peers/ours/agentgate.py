"""agentgate: a task and a trajectory as a row of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..figures import NOT_DEFINED, Figure, NotOursError, of  # noqa: TID252  # tests are imported by path, there is no package to name

Input = Mapping[str, Any]
NAMES_ALONE = {"arguments": "ignore"}


def agentgate(metric: str, params: Input, given: Input) -> Figure:
    """What the metric of ours says that measures the quantity; a quantity that needs their stand-in for a judge or an encoder is none of ours."""
    found = FIGURES.get(metric)
    if found is None:
        raise NotOursError(metric)
    return found(given["task"], given["trajectory"])


def _accepted(task: Input) -> list[str]:
    reference = task["reference"]
    return [answer for answer in (reference.get("answer"), *reference.get("accepted_answers", ())) if answer]


def _row(task: Input, trajectory: Input) -> dict[str, Any]:
    """The fields of a record that the two hold; what they do not hold is missing, not empty."""
    reference = task.get("reference", {})
    path = reference.get("trajectory", {})
    row: dict[str, Any] = {
        "output": trajectory.get("answer"),
        "contexts": trajectory.get("retrieved_contexts"),
        "tool_calls": _calls(trajectory),
        "usage": _usage(trajectory),
        "reference_contexts": reference.get("contexts"),
        "expected_tool_calls": None if "steps" not in path else [_step(one) for one in path["steps"]],
        "required_tools": path.get("required_tools"),
        "forbidden_tools": reference.get("forbidden_tools"),
        "output_schema": reference.get("output_schema"),
    }
    return {name: value for name, value in row.items() if value is not None}


def _calls(trajectory: Input) -> list[dict[str, Any]] | None:
    if "calls" not in trajectory:
        names: Sequence[str] | None = trajectory.get("tools")
        return None if names is None else [{"name": name} for name in names]
    found = []
    for call in trajectory["calls"]:
        failed = {} if call.get("ok", True) else {"error": "failed"}
        found.append({"name": call["tool"], "arguments": call.get("args", {}), **failed})
    return found


def _step(step: Input) -> dict[str, Any]:
    names = step.get("tools") or [step["tool"]]
    one: dict[str, Any] = {"name": names[0], "alternatives": [{"name": name} for name in names[1:]], "optional": step.get("optional", False)}
    return {**one, "arguments": step["args"]} if "args" in step else one


def _usage(trajectory: Input) -> dict[str, Any] | None:
    tokens = trajectory.get("usage", {})
    parts = {"input_tokens": tokens.get("prompt_tokens"), "output_tokens": tokens.get("completion_tokens")}
    if "latency_ms" in trajectory:
        parts["latency_s"] = trajectory["latency_ms"] / 1000
    return {name: value for name, value in parts.items() if value is not None} or None


def _same(name: str, options: Mapping[str, Any] | None = None) -> Callable[[Input, Input], Figure]:
    """The metric of ours on the row as it is."""
    return lambda task, trajectory: of(name, options, **_row(task, trajectory))


# ---------------------------------------------------------------- outcome


def _answers(name: str) -> Callable[[Input, Input], Figure]:
    def figure(task: Input, trajectory: Input) -> Figure:
        accepted = _accepted(task)
        row: dict[str, Any] = {"output": trajectory["answer"], **({"expected": accepted} if accepted else {})}
        return of(name, **row)

    return figure


def _numeric(task: Input, trajectory: Input) -> Figure:
    reference = task["reference"]
    tolerance = task.get("checker", {}).get("params", {}).get("tolerance", reference.get("numeric_tolerance", 0.0))
    wanted = reference.get("numeric_answer", reference.get("answer"))
    return of("code_numeric_match", {"abs_tolerance": tolerance}, output=trajectory["answer"], expected=str(wanted))


def _task_success(task: Input, trajectory: Input) -> Figure:
    checkers = {"answer_match": _answers("code_normalized_match"), "numeric": _numeric}
    checker = task["checker"]["name"]
    if checker not in checkers:
        raise NotOursError(f"checker {checker}")
    return checkers[checker](task, trajectory)


# ---------------------------------------------------------------- safety, efficiency


def _injection(task: Input, trajectory: Input) -> Figure:
    planted = task.get("reference", {}).get("injection")
    row = {**_row(task, trajectory), **({"canaries": [planted["compliance_signal"]]} if planted else {})}
    return of("code_injection_compliance", **row)


def _canaries(task: Input, trajectory: Input) -> Figure:
    planted = task.get("reference", {}).get("canary_pii")
    return of("code_canary_leak", **_row(task, trajectory), **({"canaries": planted} if planted else {}))


def _latency(task: Input, trajectory: Input) -> Figure:
    if any("duration_ms" in call for call in trajectory.get("calls", ())):
        raise NotOursError("durations of calls")
    return of("code_latency", **_row(task, trajectory)).to(lambda seconds: 1000 * seconds)


# ---------------------------------------------------------------- trajectory


def _f1(task: Input, trajectory: Input) -> Figure:
    """Of precision and recall, for a step may have alternatives, which `code_tool_selection_f1` does not look at."""
    row = _row(task, trajectory)
    precision, recall = of("code_trajectory_precision", NAMES_ALONE, **row), of("code_trajectory_recall", NAMES_ALONE, **row)
    if isinstance(precision.value, str) or isinstance(recall.value, str):
        return Figure(NOT_DEFINED, precision.name)
    both = precision.value + recall.value
    return Figure(2 * precision.value * recall.value / both if both else 0.0, "F1 of code_trajectory_precision and code_trajectory_recall")


FIGURES: Mapping[str, Callable[[Input, Input], Figure]] = {
    "outcome.exact_match": _answers("code_normalized_match"),
    "outcome.f1_token": _answers("code_token_f1"),
    "outcome.numeric_accuracy": _numeric,
    "outcome.json_valid": _same("code_json_valid"),
    "outcome.schema_compliant": _same("code_json_schema"),
    "outcome.task_success": _task_success,
    "outcome.abstained": _same("code_refusal"),
    "rag.context_precision": _same("code_context_precision"),
    "rag.context_recall": _same("code_context_recall"),
    "safety.prompt_injection_compliance": _injection,
    "safety.pii_leak": _canaries,
    "safety.forbidden_tool_invocation": _same("code_forbidden_tool"),
    "efficiency.latency_ms": _latency,
    "efficiency.total_tokens": _same("code_total_tokens"),
    "efficiency.prompt_tokens": _same("code_input_tokens"),
    "efficiency.completion_tokens": _same("code_output_tokens"),
    "efficiency.est_cost_usd": _same("code_cost"),
    "trajectory.single_tool_use": _same("code_required_tool"),
    "trajectory.step_efficiency": _same("code_step_efficiency"),
    "trajectory.redundant_call_rate": _same("code_redundant_calls"),
    "trajectory.loop_detected": _same("code_loop_detected"),
    "trajectory.error_recovery_rate": _same("code_error_recovery"),
    "trajectory.exact_match": _same("code_trajectory_exact", NAMES_ALONE),
    "trajectory.in_order_match": _same("code_trajectory_in_order", NAMES_ALONE),
    "trajectory.any_order_match": _same("code_trajectory_any_order", NAMES_ALONE),
    "trajectory.precision": _same("code_trajectory_precision", NAMES_ALONE),
    "trajectory.recall": _same("code_trajectory_recall", NAMES_ALONE),
    "trajectory.f1": _f1,
    "trajectory.lcs_ratio": _same("code_trajectory_lcs", NAMES_ALONE),
    "trajectory.argument_correctness": _same("code_tool_arguments"),
}
