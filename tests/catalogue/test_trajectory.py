"""Trajectory metrics against the verdicts of agentevals 0.0.9, azure-ai-evaluation 1.18.10 and AgentGate's golden cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from attrs import evolve

from measurand import registry, score
from measurand.catalogue.trajectory import (
    SUCCESSFUL,
    code_redundant_calls,
    code_step_efficiency,
    code_task_reward,
    code_terminal_success,
    code_trajectory_any_order,
    code_trajectory_exact,
    code_trajectory_in_order,
    code_trajectory_lcs,
    code_trajectory_precision,
    code_trajectory_recall,
)
from measurand.core.coerce import typed_fields
from measurand.core.errors import UndefinedError
from measurand.core.record import ExpectedToolCall, ToolCall
from measurand.index import SUITES

from .gold import lines  # noqa: TID252  # tests are imported by path, there is no package to name

ROOT: Final = Path(__file__).parents[2]
ORDERS: Final = ("exact", "in_order", "any_order", "lcs", "recall", "precision")
REFERENCE_BASED: Final = [one.name for one in registry if {"tool_calls", "expected_tool_calls"} <= set(one.requires)]

Turn = list[tuple[str, dict[str, Any]]]
Arguments = Literal["given", "exact", "ignore"]

SF: Turn = [("get_weather", {"city": "SF"})]
LONDON: Turn = [("get_weather", {"city": "London"})]
BOTH: Turn = [*LONDON, *SF]
OTHER: Turn = [("accuweather_forecast", {"city": "San Francisco"})]
FLIGHT: Turn = [("get_flight_info", {"flight_no": "LX0112"})]
COOL_FLIGHT: Turn = [("get_flight_info", {"is_cool": True, "flight_no": "LX0112"})]
FOO_FLIGHT: Turn = [("get_flight_info", {"flight_no": "LX0112", "foo": "bar"})]
USER: Turn = [("fetch_user_flight_information", {})]
SEARCH: Turn = [("search_flights", {"departure_airport": "CDG", "arrival_airport": "BSL"})]
POLICIES: Turn = [("lookup_policy", {"query": "flight upgrades"}), ("lookup_policy", {"query": "first class"})]
OTHER_POLICIES: Turn = [("lookup_policy", {"query": "upgrade to first class"}), ("lookup_policy", {"query": "foo"})]


def _made(*turns: Turn) -> list[ToolCall]:
    return [ToolCall(name, arguments) for turn in turns for name, arguments in turn]


def _expected(*turns: Turn) -> list[ExpectedToolCall]:
    """The calls of one turn are a group: they may come in any order."""
    return [ExpectedToolCall(name, arguments, group=f"turn {place}") for place, turn in enumerate(turns) for name, arguments in turn]


@pytest.mark.parametrize(
    ("made", "expected", "arguments", "theirs"),
    [
        ([SF], [SF], "exact", True),
        ([[*SF, *LONDON]], [BOTH], "exact", True),
        ([SF], [BOTH], "exact", False),
        ([SF], [OTHER], "exact", False),
        ([[("get_weather", {"city": "SF and London"})]], [BOTH], "ignore", False),
        ([USER, SEARCH, POLICIES], [USER, OTHER_POLICIES], "exact", False),
        ([COOL_FLIGHT], [FLIGHT], "exact", False),
        ([COOL_FLIGHT], [FLIGHT], "ignore", True),
        ([COOL_FLIGHT], [FLIGHT], "given", True),
        ([FLIGHT], [FOO_FLIGHT], "exact", False),
        ([FLIGHT], [FLIGHT], "exact", True),
    ],
)
def test_exact_is_the_strict_mode_of_agentevals(made: list[Turn], expected: list[Turn], arguments: Arguments, theirs: bool) -> None:
    assert code_trajectory_exact(_made(*made), _expected(*expected), arguments=arguments) is theirs


def test_turns_are_not_compared() -> None:
    """agentevals says no: the two calls came in two turns where the reference has them in one."""
    assert code_trajectory_exact(_made(SF, LONDON), _expected(BOTH), arguments="exact") is True


@pytest.mark.parametrize(
    ("made", "expected", "theirs"),
    [([USER, SEARCH, POLICIES], [USER, OTHER_POLICIES], False), ([USER, POLICIES], [USER, OTHER_POLICIES], False), ([SF, LONDON], [BOTH], True)],
)
def test_any_order_is_the_superset_mode_of_agentevals(made: list[Turn], expected: list[Turn], theirs: bool) -> None:
    assert code_trajectory_any_order(_made(*made), _expected(*expected), arguments="exact") is theirs


@pytest.mark.parametrize(
    ("made", "expected", "exact", "in_order", "any_order"),
    [
        ("search analyze report", "search analyze report", True, True, True),
        ("search extra_step analyze report", "search analyze report", False, True, True),
        ("search extra_step analyze", "search analyze", False, True, True),
        ("search extra_step", "search analyze", False, False, False),
        ("lookup_customer get_order refund_order", "lookup_customer get_order refund_order", True, True, True),
        ("refund_order lookup_customer", "lookup_customer refund_order", False, False, True),
        ("search_kb lookup_customer calculator refund_order send_email", "lookup_customer refund_order", False, True, True),
        ("lookup_customer", "lookup_customer refund_order", False, False, False),
        ("refund_order search_kb", "lookup_customer refund_order", False, False, False),
    ],
)
def test_names_alone_as_in_azure_and_agentgate(made: str, expected: str, exact: bool, in_order: bool, any_order: bool) -> None:
    calls, wanted = [ToolCall(name) for name in made.split()], [ExpectedToolCall(name) for name in expected.split()]
    assert code_trajectory_exact(calls, wanted) is exact
    assert code_trajectory_in_order(calls, wanted) is in_order
    assert code_trajectory_any_order(calls, wanted) is any_order


def test_a_call_where_none_is_right_fails_in_all_three() -> None:
    for metric in (code_trajectory_exact, code_trajectory_in_order, code_trajectory_any_order):
        assert metric([ToolCall("delete_everything")], []) is False
        assert metric([], []) is True


def test_calling_at_random_is_not_more_efficient_than_calling_nothing() -> None:
    expected = [ExpectedToolCall("a"), ExpectedToolCall("b")]
    assert code_step_efficiency([], expected) == code_step_efficiency([ToolCall("x")], expected) == 0.0


@pytest.mark.parametrize("metric", [lambda: code_step_efficiency([], []), lambda: code_redundant_calls([])], ids=["efficiency", "redundant"])
def test_nothing_over_nothing_is_undefined(metric: Any) -> None:
    with pytest.raises(UndefinedError, match="0/0"):
        metric()


def test_words_of_success() -> None:
    assert all(code_terminal_success(word) for word in SUCCESSFUL)
    assert not any(code_terminal_success(word) for word in ("failed", "error", "timeout", "max_steps", "stop", "unsuccessful", "incomplete", "not completed"))


def test_the_reward_is_taken_as_it_is() -> None:
    assert [code_task_reward(reward) for reward in (1.0, 0.37, 0.0, -2.0, 100.0)] == [1.0, 0.37, 0.0, -2.0, 100.0]
    assert code_task_reward.threshold == 1.0


# ---------------------------------------------------------------- real runs

EXAMPLES = [json.loads(line) for line in (ROOT / "examples" / "agent" / "records.jsonl").read_text(encoding="utf-8").splitlines()]
RUNS = [
    *((row["id"], {"messages": row["messages"], "expected_tool_calls": row["expected_tool_calls"]}) for row in EXAMPLES),
    *((run["id"], {"tool_calls": run["tool_calls"], "expected_tool_calls": run["expected_actions"]}) for run in lines("tau2_actions.jsonl")),
]


@pytest.mark.parametrize("arguments", ["given", "exact", "ignore"])
def test_exact_implies_in_order_implies_any_order_on_real_runs(arguments: str) -> None:
    """And the shares are 1 exactly where the whole is there, and a sequence is never found further than a set."""
    seen = set()
    for name, row in RUNS:
        of = {one: score(f"code_trajectory_{one}", options={"arguments": arguments}, **row).score for one in ORDERS}
        assert all(value is not None for value in of.values()), name
        exact, in_order, any_order, lcs, recall, precision = (value or 0.0 for value in of.values())
        assert exact <= in_order <= any_order, name
        assert (in_order == 1) == (lcs == 1), name
        assert (any_order == 1) == (recall == 1), name
        assert lcs <= recall + 1e-12, name
        assert not exact or precision == 1, name
        seen.add((exact, in_order, any_order))
    assert {(1, 1, 1), (0, 1, 1), (0, 0, 0)} <= seen


def test_a_call_nobody_expects_never_raises_a_score_of_a_real_run() -> None:
    stranger = {"name": "nobody expects this one"}
    for run in lines("tau2_actions.jsonl"):
        for one in REFERENCE_BASED:
            before = score(one, tool_calls=run["tool_calls"], expected_tool_calls=run["expected_actions"]).score
            for place in (0, len(run["tool_calls"]) // 2, len(run["tool_calls"])):
                made = [*run["tool_calls"][:place], stranger, *run["tool_calls"][place:]]
                after = score(one, tool_calls=made, expected_tool_calls=run["expected_actions"]).score
                assert (before is None and after is None) or (before is not None and after is not None and after <= before), (one, run["id"])


def test_f1_lies_between_precision_and_recall_on_real_runs() -> None:
    for name, row in RUNS:
        f1, precision, recall = (score(f"code_tool_selection_{one}", **row).score or 0.0 for one in ("f1", "precision", "recall"))
        assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12, name


def test_the_suite_for_agents_measures_real_runs() -> None:
    """Every metric of the suite that the example's rows can feed has a score on some of them."""
    fields = typed_fields({"messages": EXAMPLES[0]["messages"], "expected_tool_calls": [], "reward": 1.0})
    fed = [one for one in SUITES["agent"] if registry[one].feedable(fields)]
    assert len(fed) > 15
    for one in fed:
        statuses = {score(one, messages=row["messages"], expected_tool_calls=row["expected_tool_calls"], reward=row["reward"]).status for row in EXAMPLES[:40]}
        assert "ok" in statuses, one
        assert "error" not in statuses, one


# ---------------------------------------------------------------- AgentGate


@pytest.mark.parametrize(
    ("made", "expected", "precision", "recall", "lcs"),
    [
        ("lookup_customer get_order refund", "lookup_customer get_order refund_order|refund", 1.0, 1.0, 1.0),
        ("lookup_customer search_kb get_order search_kb refund_order", "lookup_customer get_order refund_order", 0.6, 1.0, 1.0),
        ("lookup_customer", "lookup_customer get_order refund_order", 1.0, 1 / 3, 1 / 3),
        ("search_kb calculator", "lookup_customer refund_order", 0.0, 0.0, 0.0),
        ("refund_order lookup_customer", "lookup_customer refund_order", 1.0, 1.0, 0.5),
        ("lookup_customer refund_order", "lookup_customer search_kb? refund_order", 1.0, 1.0, 1.0),
        ("", "search_kb?", 1.0, 1.0, 1.0),
    ],
)
def test_shares_are_those_of_agentgate(made: str, expected: str, precision: float, recall: float, lcs: float) -> None:
    calls = [ToolCall(name) for name in made.split()]
    wanted = [
        ExpectedToolCall(first, alternatives=tuple(map(ExpectedToolCall, others)), optional=step.endswith("?"))
        for step in expected.split()
        for first, *others in [step.removesuffix("?").split("|")]
    ]
    assert code_trajectory_precision(calls, wanted).value == pytest.approx(precision)
    assert code_trajectory_recall(calls, wanted).value == pytest.approx(recall)
    assert code_trajectory_lcs(calls, wanted).value == pytest.approx(lcs)


def test_out_of_order_is_explained() -> None:
    """A score that is right and says nothing (reported against deepeval)."""
    found = code_trajectory_lcs([ToolCall(name) for name in "SSQ"], [ExpectedToolCall(name) for name in "SQS"])
    assert found.value == pytest.approx(2 / 3)
    assert found.details == {"blocks": 3, "found": 2, "not_in_order": ["Q"], "missing": []}


def test_parallel_calls_are_a_group() -> None:
    made = [ToolCall("fixtures", {"c": "Bern"}), ToolCall("forecast", {"c": "Bern"})]
    strict = [ExpectedToolCall("forecast", {"c": "Bern"}), ExpectedToolCall("fixtures", {"c": "Bern"})]
    assert code_trajectory_exact(made, strict) is False
    assert code_trajectory_exact(made, [evolve(one, group="turn 1") for one in strict]) is True
