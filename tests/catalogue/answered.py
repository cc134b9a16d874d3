"""Scoring a metric that asks, its requests answered by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from measurand.core.cell import EvaluationContext, Program, result_of
from measurand.core.coerce import typed_fields
from measurand.core.instance import instance
from measurand.core.request import Ask, Request, Split, Verdict
from measurand.core.result import MetricResult
from measurand.index import registry


def scored(name: str, answer: Callable[[Request[Any]], Any], **fields: Any) -> MetricResult:
    """The result of one row; `answer` is called with each request."""
    made = instance(registry[name])

    async def at_once(request: Request[Any]) -> Any:
        return answer(request)

    try:
        Program([made]).outcomes_async(EvaluationContext(typed_fields(fields), answer=at_once)).send(None)
    except StopIteration as end:
        return result_of(made, end.value[0])
    raise AssertionError("it waited")


def judging(p: Sequence[float], claims: Sequence[str] = ()) -> Callable[[Request[Any]], Any]:
    """A judge that finds these claims, and gives p(yes) in this order."""

    def answer(request: Request[Any]) -> Any:
        if isinstance(request, Split):
            return list(claims)
        assert isinstance(request, Ask)
        return Verdict.yes(p[0]) if request.over is None else [Verdict.yes(one) for one in p]

    return answer
