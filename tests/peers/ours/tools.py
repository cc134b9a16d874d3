"""Tool calls and their order: agentevals, azure's task navigation, deepeval, and their part of ragas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..figures import Figure, NotOursError, of, only  # noqa: TID252  # tests are imported by path, there is no package to name

Input = Mapping[str, Any]


# ---------------------------------------------------------------- ragas and deepeval


def ragas_calls(metric: str, params: Input, given: Input) -> Figure:
    sample = given.get("sample", given)
    made = [call for message in sample["user_input"] for call in message.get("tool_calls", ())]
    row = {"tool_calls": _ragas(made), "expected_tool_calls": _ragas(sample["reference_tool_calls"])}
    match metric.removesuffix(".legacy"):
        case "ToolCallF1":
            return of("code_tool_call_f1", **row)
        case "ToolCallAccuracy":
            only(params, "strict_order")
            return of("code_tool_call_accuracy", params, **row)
    raise NotOursError(metric)


def _ragas(calls: Sequence[Input]) -> list[dict[str, Any]]:
    return [{"name": call["name"], "arguments": call["args"]} for call in calls]


def deepeval(metric: str, params: Input, given: Input) -> dict[str, Figure]:
    """Their default compares names; `should_exact_match` the whole list of them, `should_consider_ordering` their order."""
    if metric != "tool_correctness" or params.get("evaluation_params"):
        raise NotOursError(metric)
    row = {
        "tool_calls": [{"name": one["name"], "arguments": one.get("input_parameters", {})} for one in given["tools_called"]],
        "expected_tool_calls": [{"name": one["name"]} for one in given["expected_tools"]],
    }
    if params["should_exact_match"]:
        return {"score": of("code_tool_call_match", **row)}
    return {"score": of("code_trajectory_lcs" if params["should_consider_ordering"] else "code_tool_selection_recall", **row)}


# ---------------------------------------------------------------- agentevals

_MODES = {"exact": "exact", "superset": "given", "ignore": "ignore"}
"""Their `tool_args_match_mode` (of the call's arguments against the reference's) → our option `arguments`."""


def agentevals(metric: str, params: Input, given: Input) -> Figure:
    only(params, "trajectory_match_mode", "tool_args_match_mode", "tool_args_match_overrides")
    arguments = params.get("tool_args_match_mode", "exact")
    if metric != "trajectory_match" or arguments not in _MODES:
        raise NotOursError(f"arguments {arguments}")
    options = {"arguments": _MODES[arguments]}
    mode = params.get("trajectory_match_mode", "strict")
    made = [_openai(call) for turn in _turns(given["outputs"]) for call in turn]
    groups = {"strict": "by turn", "unordered": "one"}.get(mode, "none")
    wanted = _expected(_turns(given["reference_outputs"]), params.get("tool_args_match_overrides") or {}, groups)
    row = {"tool_calls": made, "expected_tool_calls": wanted}
    match mode:
        case "strict" | "unordered":
            return of("code_trajectory_exact", options, **row)
        case "superset":
            return of("code_trajectory_any_order", options, **row)
        case "subset":
            return of("code_trajectory_precision", options, **row).to(lambda value: float(value == 1))
    raise NotOursError(mode)


def _turns(trajectory: Any) -> list[list[Input]]:
    messages = trajectory["messages"] if isinstance(trajectory, Mapping) else trajectory
    return [list(message.get("tool_calls") or ()) for message in messages if message["role"] == "assistant"]


def _openai(call: Input) -> dict[str, Any]:
    function = call["function"]
    arguments = function["arguments"]
    return {"name": function["name"], "arguments": json.loads(arguments) if isinstance(arguments, str) else arguments}


def _expected(turns: Sequence[Sequence[Input]], overrides: Input, groups: str) -> list[dict[str, Any]]:
    """The reference's calls; those of one turn may come in any order, or, as one group, all of them."""
    found = []
    for number, turn in enumerate(turns):
        for call in turn:
            one = _overridden(_openai(call), overrides)
            if groups != "none":
                one["group"] = str(number) if groups == "by turn" else "all"
            found.append(one)
    return found


def _overridden(call: dict[str, Any], overrides: Input) -> dict[str, Any]:
    rule = overrides.get(call["name"], "exact")
    if rule == "exact":
        return call
    if rule == "ignore":
        return {"name": call["name"]}
    raise NotOursError("overrides by nested field" if isinstance(rule, list) else f"overrides {rule}")


# ---------------------------------------------------------------- azure

_ORDERS = {
    "exact_match": "code_trajectory_exact",
    "in_order_match": "code_trajectory_in_order",
    "any_order_match": "code_trajectory_any_order",
}


def azure_navigation(metric: str, params: Input, given: Input) -> dict[str, Figure]:
    response, truth = _parsed(given.get("response", given.get("actions"))), _parsed(given.get("ground_truth", given.get("expected_actions")))
    names, arguments = (truth[0], truth[1]) if isinstance(truth[-1], Mapping) else (truth, None)
    parts = [part for message in response if message["role"] == "assistant" for part in message["content"]]
    row = {
        "tool_calls": [{"name": part["name"], "arguments": part.get("arguments", {})} for part in parts if part["type"] == "tool_call"],
        "expected_tool_calls": [{"name": name, **({} if arguments is None else {"arguments": arguments.get(name, {})})} for name in names],
    }
    options = {"arguments": "ignore" if arguments is None else "exact"}
    precision, recall = of("code_trajectory_precision", options, **row), of("code_trajectory_recall", options, **row)
    return {
        "task_navigation_efficiency": of(_ORDERS[params["matching_mode"]], options, **row),
        "precision_score": precision,
        "recall_score": recall,
        "f1_score": of("code_tool_selection_f1" if arguments is None else "code_tool_call_f1", **row),
    }


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
