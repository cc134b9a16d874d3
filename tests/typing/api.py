"""Read by the type checker only (`python -m mypy`): what the public names promise about types. Not a test of pytest; nothing here is run."""

from __future__ import annotations

from typing import Any, assert_type

from measurand import (
    Ask,
    Embed,
    Embedder,
    Judge,
    Metric,
    MetricCategory,
    MetricResult,
    RunResult,
    Score,
    Steps,
    aevaluate,
    evaluate,
    metric,
    registry,
    same,
    score,
)


@metric("house.polite", categories=MetricCategory.Fluency, aka={"old.polite": same, "their.polite": "counts thanks twice"})
def polite(output: str, expected: str | None = None, *, words: list[str] | None = None) -> bool:
    """The answer says please."""
    return any(word in output for word in words or ["please"])


@metric("house.kept", type="continuous", range=(0.0, 10.0), direction="lower")
def kept(output: str) -> Score[float]:
    """Keeps something."""
    return Score(float(len(output)), details={"length": len(output)})


@metric("house.asks")
def asks(input: str, output: str) -> Steps[Judge | Embedder, float]:
    """Asks a judge and an embedder."""
    verdict = yield Ask("Is `output` kind?")
    yield Embed([input, output])
    return Score(verdict.value)


def a_metric_keeps_the_signature_of_its_function() -> None:
    """Calls are checked as those of the bare function are."""
    assert_type(polite("please"), bool)
    assert_type(polite("please", None, words=["thanks"]), bool)
    assert_type(kept("x"), Score[float])
    polite(5)  # type: ignore[arg-type]
    polite("x", word=["a"])  # type: ignore[call-arg]
    polite()  # type: ignore[call-arg]


def wrong_keywords_are_seen() -> None:
    """So are the decorator's own."""
    metric("house.x", direction="up")  # type: ignore[call-overload]
    metric("house.x", tags=["a"])  # type: ignore[call-overload]


def results_are_typed() -> None:
    """Results need no cast."""
    result = score("code_token_f1", output="a", expected="b", threshold=0.5)
    assert_type(result, MetricResult)
    assert_type(result.score, float | None)
    assert_type(score(polite, output="a"), MetricResult)
    assert_type(evaluate("rows.jsonl", ["code_token_f1", polite], config={"run": {}}, mode="cache"), RunResult)
    evaluate("rows.jsonl", mode="offline")  # type: ignore[arg-type]
    evaluate("rows.jsonl", model={})  # type: ignore[call-arg]


async def coroutines_are_typed() -> None:
    """`aevaluate` takes what `evaluate` takes."""
    assert_type(await aevaluate("rows.jsonl", polite, limit=5), RunResult)
    await aevaluate("rows.jsonl", limits=5)  # type: ignore[call-arg]
    assert_type(await polite.evaluate({"output": "please"}), MetricResult)


def the_registry_is_typed() -> None:
    """Queries give lists of metrics."""
    found = registry.get("code_token_f1")
    if found is not None:
        assert_type(found.requires, tuple[str, ...])
    for one in registry.by_category(MetricCategory.RAG | MetricCategory.CodeBased):
        named: Metric[Any] = one
        assert named.name
    registry.query(method="neural")  # type: ignore[arg-type]
