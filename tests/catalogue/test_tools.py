"""Tool metrics against the values that other libraries give for the same calls. Golden cases hold the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from measurand import score
from measurand.catalogue.tools import (
    DESTRUCTIVE,
    code_destructive_action,
    code_tool_arguments,
    code_tool_call_accuracy,
    code_tool_call_f1,
    code_tool_call_match,
    code_tool_selection_f1,
    code_tool_selection_precision,
    code_tool_selection_recall,
)
from measurand.core.record import ExpectedToolCall, ToolCall

from .gold import bfcl_expected, bfcl_made, lines, mutations, tau2_expected  # noqa: TID252  # tests are imported by path, there is no package to name

PARIS = {"location": "Paris"}
NESTED = {"level1": {"level2": {"level3": ["x", "y", "z"]}}}

Calls = list[tuple[str, dict[str, Any]]]


def _made(calls: Calls) -> list[ToolCall]:
    return [ToolCall(name, arguments) for name, arguments in calls]


def _expected(calls: Calls) -> list[ExpectedToolCall]:
    return [ExpectedToolCall(name, arguments) for name, arguments in calls]


def scored(one: str, made: Sequence[Any], expected: Sequence[Any], **options: Any) -> float | None:
    return score(one, options=options, tool_calls=made, expected_tool_calls=expected).score


@pytest.mark.parametrize(
    ("made", "expected", "theirs"),
    [
        ([("WeatherForecast", PARIS)], [("WeatherForecast", PARIS)], 1.0),
        ([("WeatherForecast", PARIS)], [("WeatherForecast", PARIS), ("UVIndex", PARIS)], 0.6667),
        ([("WeatherForecast", PARIS), ("UVIndex", PARIS)], [("WeatherForecast", PARIS), ("UVIndex", PARIS)], 1.0),
        (
            [("WeatherForecast", PARIS), ("UVIndex", PARIS), ("Humidity", PARIS)],
            [("WeatherForecast", PARIS), ("UVIndex", PARIS), ("AirQuality", PARIS)],
            0.6667,
        ),
        ([("complex_tool", NESTED)], [("complex_tool", NESTED)], 1.0),
        ([("AirQuality", PARIS)], [("WeatherForecast", PARIS)], 0.0),
    ],
)
def test_call_f1_is_that_of_ragas_unrounded(made: Calls, expected: Calls, theirs: float) -> None:
    assert code_tool_call_f1(_made(made), _expected(expected)).value == pytest.approx(theirs, abs=5e-5)


def test_a_repeated_call_counts_where_ragas_has_a_set() -> None:
    score = code_tool_call_f1(_made([("WeatherForecast", PARIS)] * 2), _expected([("WeatherForecast", PARIS)]))
    assert score.value == pytest.approx(2 / 3)  # ragas 0.4.3: 1.0
    assert score.details["unexpected"] == ["WeatherForecast"]


@pytest.mark.parametrize(
    ("made", "expected", "exact", "precision", "recall", "f1"),
    [
        (["search", "analyze", "report"], ["search", "analyze", "report"], True, 1.0, 1.0, 1.0),
        (["search", "extra_step", "analyze", "report"], ["search", "analyze", "report"], False, 0.75, 1.0, 0.8571428571428571),
        (["search", "extra_step", "analyze"], ["search", "analyze"], False, 0.6666666666666666, 1.0, 0.8),
        (["search", "extra_step"], ["search", "analyze"], False, 0.5, 0.5, 0.5),
    ],
)
def test_names_score_as_in_azure_task_navigation(made: list[str], expected: list[str], exact: bool, precision: float, recall: float, f1: float) -> None:
    calls, wanted = [ToolCall(name) for name in made], [ExpectedToolCall(name) for name in expected]
    assert code_tool_call_match(calls, wanted) is exact
    assert code_tool_selection_precision(calls, wanted) == pytest.approx(precision)
    assert code_tool_selection_recall(calls, wanted) == pytest.approx(recall)
    assert code_tool_selection_f1(calls, wanted).value == pytest.approx(f1)


def test_the_same_tool_twice_is_found_twice() -> None:
    """A set of values finds one of two (reported against deepeval)."""
    twice = [ExpectedToolCall("lookup"), ExpectedToolCall("lookup")]
    assert code_tool_selection_recall([ToolCall("lookup"), ToolCall("lookup")], twice) == 1.0
    assert code_tool_selection_recall([ToolCall("lookup")], twice) == 0.5


def test_unreadable_arguments_are_a_visible_mismatch() -> None:
    score = code_tool_call_f1([ToolCall("f", "{a: 1"), ToolCall("g")], [ExpectedToolCall("f", {"a": 1}), ExpectedToolCall("g")])
    assert score.value == 0.5
    assert score.details == {"precision": 0.5, "recall": 0.5, "missing": ["f"], "unexpected": ["f"], "unreadable_arguments": ["f"]}


# ---------------------------------------------------------------- ragas, accuracy


@pytest.mark.parametrize(
    ("made", "expected", "strict_order", "theirs"),
    [
        ([], [("search", {"query": "python"})], True, 0.0),
        ([("search", {"query": "python", "limit": 5})], [("search", {"query": "python", "limit": 10})], True, 0.5),
        ([("a", {}), ("b", {})], [("b", {}), ("a", {})], True, 0.0),
        ([("a", {}), ("b", {})], [("b", {}), ("a", {})], False, 1.0),
        ([("a", {"x": 1})], [("a", {})], True, 0.0),
    ],
)
def test_accuracy_is_that_of_ragas(made: Calls, expected: Calls, strict_order: bool, theirs: float) -> None:
    assert code_tool_call_accuracy(_made(made), _expected(expected), strict_order=strict_order).value == theirs


def test_accuracy_compares_json_where_ragas_compares_text() -> None:
    made, expected = {"a": "1", "b": 1.0, "c": "True"}, {"a": 1, "b": 1, "c": True}
    assert code_tool_call_accuracy([ToolCall("f", made)], [ExpectedToolCall("f", expected)]).value == pytest.approx(1 / 3)  # ragas: a and c


# ---------------------------------------------------------------- τ²-bench

TAU2 = lines("tau2_actions.jsonl")


def test_arguments_agree_with_tau2_action_by_action() -> None:
    """185 verdicts: an expected action has all its arguments right exactly where the benchmark says it was matched."""
    verdicts = [
        (score("code_tool_arguments", tool_calls=run["tool_calls"], expected_tool_calls=[tau2_expected(action)]).score == 1, action["matched"])
        for run in TAU2
        for action in run["expected_actions"]
    ]
    assert len(verdicts) == 185
    assert {matched for _, matched in verdicts} == {True, False}
    assert [ours for ours, _ in verdicts] == [theirs for _, theirs in verdicts]


def test_all_actions_of_a_run_together_differ_only_where_one_call_would_serve_two() -> None:
    differing = []
    for run in TAU2:
        result = score("code_tool_arguments", tool_calls=run["tool_calls"], expected_tool_calls=[tau2_expected(action) for action in run["expected_actions"]])
        for told, action in zip(result.details["calls"], run["expected_actions"], strict=True):
            if (not told["wrong"]) != action["matched"]:
                same = [other for other in run["expected_actions"] if other == action]
                differing.append((told["call"], len(same)))
    assert differing == [(None, 2)] * 3  # a gold action that stands twice in the list and was called once


def test_compare_args_of_tau2() -> None:
    action = {"name": "transfer", "arguments": {"summary": "long", "to": "human"}, "compare_args": ["to"]}
    call = {"name": "transfer", "arguments": {"summary": "other words", "to": "human"}}
    assert score("code_tool_arguments", tool_calls=[call], expected_tool_calls=[tau2_expected(action)]).score == 1
    assert score("code_tool_arguments", tool_calls=[call], expected_tool_calls=[tau2_expected({**action, "compare_args": None})]).score == 0.5
    named_only = tau2_expected({**action, "compare_args": []})
    assert score("code_trajectory_recall", tool_calls=[call], expected_tool_calls=[named_only]).score == 1
    assert score("code_tool_arguments", tool_calls=[call], expected_tool_calls=[named_only]).status == "not_applicable"


# ---------------------------------------------------------------- BFCL

BFCL = [row["expected_calls"] for row in lines("bfcl_gold.jsonl")]


def test_gold_calls_score_one_against_themselves() -> None:
    assert len(BFCL) == 97
    for calls in BFCL:
        made, expected = bfcl_made(calls)[::-1], bfcl_expected(calls)
        assert scored("code_trajectory_exact", made, expected, arguments="exact") == 1
        assert scored("code_trajectory_recall", made, expected) == 1
        assert scored("code_tool_arguments", made, expected) == (1 if any(call["allowed_arguments"] for call in calls) else None)


def test_every_mutation_of_one_argument_scores_less() -> None:
    tried = 0
    for calls in BFCL:
        expected, gold = bfcl_expected(calls), bfcl_made(calls)
        for name, made in mutations(calls):
            tried += 1
            scores = [
                scored("code_tool_arguments", made, expected),
                scored("code_trajectory_exact", made, expected),
                scored("code_tool_arguments", made, gold),
                scored("code_tool_call_f1", made, gold),
                scored("code_tool_call_accuracy", made, gold, strict_order=False),
            ]
            assert all(value is not None and value < 1 for value in scores), f"{name} of {made}: {scores}"
    assert tried > 1000


def test_an_argument_that_may_be_left_out_may_be_left_out() -> None:
    may = [(calls, name) for calls in BFCL for name, values in calls[0]["allowed_arguments"].items() if "" in values and len(calls) == 1]
    assert len(may) > 10
    for calls, name in may:
        arguments = {key: value for key, value in bfcl_made(calls)[0]["arguments"].items() if key != name}
        assert scored("code_tool_arguments", [{"name": calls[0]["name"], "arguments": arguments}], bfcl_expected(calls)) == 1


# ---------------------------------------------------------------- what users of other tools reported


def test_one_reference_never_pays_twice() -> None:
    """A score above 1 where one reference matched several calls."""
    tide = {"name": "tide_table", "arguments": {"port": "Brest"}}
    assert scored("code_tool_call_f1", [tide] * 3, [tide]) == 0.5
    assert scored("code_tool_arguments", [tide] * 3, [tide]) == 1
    assert scored("code_trajectory_recall", [tide] * 3, [tide]) == 1
    assert scored("code_trajectory_precision", [tide] * 3, [tide]) == pytest.approx(1 / 3)


def test_a_call_too_many_costs() -> None:
    rate, more = {"name": "get_rate", "arguments": {"from": "EUR"}}, {"name": "convert", "arguments": {"amt": 9}}
    assert scored("code_tool_call_accuracy", [rate, more], [rate]) == 0
    assert scored("code_trajectory_exact", [rate, more], [rate]) == 0
    assert scored("code_trajectory_precision", [rate, more], [rate]) == 0.5
    assert scored("code_trajectory_recall", [rate, more], [rate]) == 1
    assert scored("code_tool_call_f1", [rate, more], [rate]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("expected", "made", "value"), [(None, {"city": "Lund"}, 0), ({"city": "Lund"}, None, 0), (None, None, 1), (None, {}, 1), ({}, {}, 1)])
def test_absent_arguments_are_empty_ones(expected: Any, made: Any, value: float) -> None:
    for one in ("code_tool_call_accuracy", "code_tool_call_f1"):
        assert scored(one, [{"name": "f", "arguments": made}], [{"name": "f", "arguments": expected}]) == value


@pytest.mark.parametrize(
    ("a", "b", "equal"), [(1, "1", 0), (1, 1.0, 1), (True, 1, 0), ("Rome", "rome", 0), (None, "null", 0), ([1, 2], [2, 1], 0), ({}, [], 0)]
)
def test_values_are_equal_as_json_everywhere(a: Any, b: Any, equal: int) -> None:
    for one in (
        "code_tool_call_accuracy",
        "code_tool_call_f1",
        "code_tool_arguments",
        "code_trajectory_exact",
        "code_trajectory_recall",
        "code_trajectory_lcs",
    ):
        assert scored(one, [{"name": "f", "arguments": {"x": b}}], [{"name": "f", "arguments": {"x": a}}]) == equal, one


def test_arguments_in_the_wire_s_form() -> None:
    wire = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"b": [2, 3], "a": 1}'}}
    broken = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"b": [2, 3], "a": 1'}}
    expected = [{"name": "f", "arguments": {"a": 1, "b": [2, 3]}}]
    for one in ("code_tool_call_accuracy", "code_tool_call_f1", "code_tool_arguments", "code_trajectory_exact"):
        assert scored(one, [wire], expected) == 1
        result = score(one, tool_calls=[broken], expected_tool_calls=expected)
        assert result.score == 0
        assert one == "code_trajectory_exact" or result.details["unreadable_arguments"] == ["f"]


# ---------------------------------------------------------------- destructive calls


def test_what_is_destructive_is_stated_on_the_page() -> None:
    assert all(f"{word}," in code_destructive_action.doc.replace("\n", " ") or f"{word};" in code_destructive_action.doc for word in DESTRUCTIVE)


def test_a_shell_s_arguments_are_not_read() -> None:
    """Names alone: the page says so."""
    shell = ToolCall("shell", {"command": "rm -rf /"})
    assert code_destructive_action([shell]).value is False
    assert code_destructive_action([shell], words=("shell",)).value is True


def test_optional_calls_do_not_make_arguments_wrong() -> None:
    expected = [ExpectedToolCall("f", {"a": 1}), ExpectedToolCall("g", {"a": 1}, optional=True)]
    assert code_tool_arguments([ToolCall("f", {"a": 1}), ToolCall("g", {"a": 2})], expected).value == 1
