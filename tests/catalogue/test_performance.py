from __future__ import annotations

import math
from typing import Any

import pytest

from measurand.catalogue.performance import (
    code_cost,
    code_input_tokens,
    code_latency,
    code_llm_calls,
    code_output_length,
    code_output_tokens,
    code_tool_call_count,
    code_total_tokens,
)
from measurand.core.errors import InvalidFieldError, MissingFieldError
from measurand.core.metric import Metric
from measurand.core.record import Usage

FROM_USAGE: list[Metric[Any]] = [code_latency, code_cost, code_input_tokens, code_output_tokens, code_total_tokens, code_llm_calls]


@pytest.mark.parametrize("metric", FROM_USAGE, ids=lambda one: one.name)
def test_what_was_not_reported_is_no_zero(metric: Metric[Any]) -> None:
    with pytest.raises(MissingFieldError, match=r"^the row's usage has no \w+$") as caught:
        metric(Usage())
    assert (caught.value.field or "").startswith("usage.")


@pytest.mark.parametrize("metric", FROM_USAGE, ids=lambda one: one.name)
def test_less_than_nothing_is_invalid(metric: Metric[Any]) -> None:
    with pytest.raises(InvalidFieldError, match="at least 0"):
        metric(Usage(-1.0, -1, -1, -1.0, -1))


def test_descriptions_have_no_direction_and_costs_are_better_low() -> None:
    assert {one.direction for one in (code_input_tokens, code_output_tokens, code_total_tokens, code_tool_call_count, code_output_length)} == {"none"}
    assert {one.direction for one in (code_latency, code_cost, code_llm_calls)} == {"lower"}
    assert all(one.range == (0.0, math.inf) for one in FROM_USAGE)
