from __future__ import annotations

import asyncio
import math
from typing import Annotated, Any

import pytest

from measurand.core.annotations import Column
from measurand.core.cell import EvaluationContext, Program, result_of
from measurand.core.coerce import typed_fields
from measurand.core.errors import CellError, UndefinedError
from measurand.core.instance import instance
from measurand.core.metric import Metric, metric
from measurand.core.opaque import opaque
from measurand.core.request import Ask, Embed, Judge, Split, Steps, Verdict
from measurand.core.result import MetricResult
from measurand.core.score import Score


def run(one: Metric[Any], **fields: Any) -> MetricResult:
    made = instance(one)
    return result_of(made, Program([made]).outcomes(typed_fields(fields))[0])


@metric("house.length")
def length(output: str) -> int:
    """Characters."""
    return len(output)


@metric("house.overlap")
def overlap(output: str, expected: str) -> float:
    """1 when equal, else what the reference says."""
    if expected == "undefined":
        raise UndefinedError("this reference defines nothing")
    return 1.0 if output == expected else 0.25 * len(expected)


@metric("house.distance", direction="lower", type="continuous", range=(0.0, math.inf))
def distance(output: str, expected: str) -> float:
    """Lower is better."""
    return float(abs(len(output) - len(expected)))


def returning(value: Any) -> Metric[Any]:
    @metric("house.returning")
    def gives(output: str) -> float | None:
        """Whatever it was told to."""
        return value  # type: ignore[no-any-return]

    return gives


def test_a_missing_field_is_not_applicable_and_named() -> None:
    result = run(length)
    assert (result.status, result.score) == ("not_applicable", None)
    assert result.error is not None
    assert (result.error.code, result.error.field, result.error.message) == ("missing_field", "output", "the row has no output")


def test_an_empty_output_is_an_observation() -> None:
    assert run(length, output="").score == 0.0


def test_the_best_of_several_references_is_taken_and_named() -> None:
    result = run(overlap, output="x", expected=["a", "abc", "ab"])
    assert result.score == 0.75
    assert result.details == {"reference": 1}


def test_lower_is_better_takes_the_nearest_reference() -> None:
    result = run(distance, output="abc", expected=["a", "abcd", "abcdefg"])
    assert result.score == 1.0
    assert result.details == {"reference": 1}


def test_one_reference_needs_no_index() -> None:
    assert run(overlap, output="a", expected="a").details == {}


def test_an_undefined_reference_is_passed_over_while_another_is_defined() -> None:
    assert run(overlap, output="a", expected=["undefined", "a"]).details == {"reference": 1}
    every = run(overlap, output="a", expected=["undefined", "undefined"])
    assert every.status == "not_applicable"


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        (float("nan"), "invalid_score", "the metric returned nan, which is no score"),
        (float("inf"), "invalid_score", "the metric returned inf, which is no score"),
        (1.5, "invalid_score", "the metric returned 1.5, outside its range 0 to 1"),
        ("0.5", "invalid_score", "the metric returned '0.5', which is no score"),
        ([], "invalid_score", "the metric returned list [], which is no number"),
    ],
)
def test_what_is_no_score_is_an_error(value: Any, code: str, message: str) -> None:
    result = run(returning(value), output="x")
    assert (result.status, result.score) == ("error", None)
    assert result.error is not None
    assert (result.error.code, result.error.message) == (code, message)


def test_rounding_out_of_range_is_clipped() -> None:
    assert run(returning(1.0000000000000002), output="x").score == 1.0


def test_none_is_undefined() -> None:
    result = run(returning(None), output="x")
    assert result.status == "not_applicable"
    assert result.error is not None
    assert result.error.code == "undefined"


def test_a_metric_that_raises_is_one_error_without_a_stack() -> None:
    @metric("house.broken")
    def broken(output: str) -> float:
        """Raises."""
        raise KeyError("x" * 1000)

    result = run(broken, output="x")
    assert result.error is not None
    assert result.error.code == "internal"
    assert result.error.message.startswith("KeyError: ")
    assert len(result.error.message) <= 500


def test_one_failing_metric_does_not_disturb_its_neighbours() -> None:
    instances = [instance(returning(float("nan"))), instance(length)]
    outcomes = Program(instances).outcomes(typed_fields({"output": "abc"}))
    assert [outcome[0] for outcome in outcomes] == [2, 0]


def test_a_house_column_is_fed_from_metadata() -> None:
    @metric("house.tier")
    def tier_named(output: str, tier: Annotated[str, Column("customer_tier")]) -> bool:
        """The tier is named."""
        return tier in output

    assert run(tier_named, output="gold plan", metadata={"customer_tier": "gold"}).score == 1.0
    assert run(tier_named, output="gold plan", metadata={}).status == "not_applicable"
    misshapen = run(tier_named, output="gold plan", metadata="a text")
    assert misshapen.error is not None
    assert (misshapen.status, misshapen.error.code, misshapen.error.field) == ("error", "invalid_field", "metadata.customer_tier")


def test_a_one_of_group_needs_one() -> None:
    @metric("house.either", one_of=[("reference_contexts", "expected")])
    def either(output: str, reference_contexts: list[str] | None = None, expected: list[str] | None = None) -> bool:
        """Either."""
        return expected is not None

    lacking = run(either, output="x")
    assert lacking.error is not None
    assert lacking.error.message == "the row has neither reference_contexts nor expected"
    assert run(either, output="x", expected="y").score == 1.0


def test_passed_follows_the_direction() -> None:
    made = instance(distance, threshold=2.0)
    program = Program([made])
    at = result_of(made, program.outcomes(typed_fields({"output": "abc", "expected": "a"}))[0])
    below = result_of(made, program.outcomes(typed_fields({"output": "ab", "expected": "a"}))[0])
    assert (at.passed, below.passed) == (False, True)


def test_the_signature_says_what_decides_the_number() -> None:
    @metric("house.at", version="2")
    def at(output: str, *, k: int = 5, mode: str = "f1") -> float:
        """At."""
        return 0.0

    assert instance(at, {"k": 3}).signature.rpartition("|")[0] == "house.at|v:2|opt:k=3"
    assert instance(at, {"k": 5}).signature.rpartition("|")[0] == "house.at|v:2"
    assert instance(at, {"k": 3}).name == "house.at(k=3)"


# ---------------------------------------------------------------- metrics that ask


@metric("house.asks")
def asks(output: str) -> Steps[Judge, float]:
    """Splits and asks."""
    claims = yield Split(output)
    verdicts = yield Ask("Is `item` true?", over=claims)
    return Score(sum(verdict.value for verdict in verdicts) / len(verdicts), {"claims": list(claims)})


@metric("house.strays")
def strays(output: str) -> Steps[Judge, float]:
    """Asks an instrument it does not declare."""
    yield Embed([output])  # type: ignore[misc]  # which is the point: mypy refuses it too
    return 0.0


def context(**fields: Any) -> EvaluationContext:
    async def answer(request: Any) -> Any:
        if isinstance(request, Split):
            return ["a", "b"]
        return [Verdict.yes(1.0), Verdict.yes(0.5)]

    return EvaluationContext(typed_fields(fields), "r1", "t1", 0, answer=answer)


def test_a_metric_that_asks_is_driven_by_whoever_answers() -> None:
    result = asyncio.run(asks.evaluate(context(output="x")))
    assert result.score == 0.75
    assert result.details == {"claims": ["a", "b"]}
    assert (result.sample_id, result.task, result.trial) == ("r1", "t1", 0)


def test_without_anybody_to_answer_it_is_an_error_and_no_number() -> None:
    result = asyncio.run(asks.evaluate({"output": "x"}))
    assert result.status == "error"
    assert result.error is not None
    assert "no model is bound that answers Split" in result.error.message


def test_a_request_of_an_undeclared_instrument_is_refused() -> None:
    result = asyncio.run(strays.evaluate(context(output="x")))
    assert result.status == "error"
    assert result.error is not None
    assert result.error.message == "the metric asked the embedder, which its return annotation does not name"


def test_a_plain_metric_answers_evaluate_too() -> None:
    assert asyncio.run(length.evaluate({"output": "abc"})).score == 3.0


# ---------------------------------------------------------------- objects


class Shouting:
    """The answer is in capitals."""

    name = "house.shouting"
    requires = ("output",)

    async def evaluate(self, context: EvaluationContext) -> Any:
        text = context.fields["output"]
        if text == "?":
            raise CellError("nothing to shout about")
        if text == "!":
            return MetricResult("x", "1", None, None, None, 0.5, "ok", label="half", details={"kept": True})
        return text.isupper()


def test_a_class_based_metric_has_the_same_face() -> None:
    one = opaque(Shouting())
    assert (one.name, one.requires, one.method) == ("house.shouting", ("output",), ("code",))
    assert asyncio.run(one.evaluate({"output": "ABC"})).score == 1.0
    assert asyncio.run(one.evaluate({})).status == "not_applicable"
    assert asyncio.run(one.evaluate({"output": "?"})).status == "error"
    half = asyncio.run(one.evaluate({"output": "!"}))
    assert (half.score, half.label, half.details) == (0.5, "half", {"kept": True})
