"""Trajectory metrics against the verdicts of agentevals 0.0.9, azure-ai-evaluation 1.18.10 and AgentGate's golden cases."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from measurand.catalogue.trajectory import (
    SUCCESSFUL,
    code_redundant_calls,
    code_step_efficiency,
    code_task_reward,
    code_terminal_success,
    code_trajectory_any_order,
    code_trajectory_exact,
    code_trajectory_in_order,
)
from measurand.core.errors import UndefinedError
from measurand.core.record import ExpectedToolCall, ToolCall

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
