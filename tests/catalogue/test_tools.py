"""Tool metrics against the values that other libraries give for the same calls. Golden cases hold the rest."""

from __future__ import annotations

from typing import Any

import pytest

from measurand.catalogue.tools import (
    code_tool_call_f1,
    code_tool_call_match,
    code_tool_selection_f1,
    code_tool_selection_precision,
    code_tool_selection_recall,
)
from measurand.core.record import ExpectedToolCall, ToolCall

PARIS = {"location": "Paris"}
NESTED = {"level1": {"level2": {"level3": ["x", "y", "z"]}}}

Calls = list[tuple[str, dict[str, Any]]]


def _made(calls: Calls) -> list[ToolCall]:
    return [ToolCall(name, arguments) for name, arguments in calls]


def _expected(calls: Calls) -> list[ExpectedToolCall]:
    return [ExpectedToolCall(name, arguments) for name, arguments in calls]


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
    score = code_tool_call_f1(_made(made), _expected(expected))
    assert round(score.value, 4) == theirs


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
