"""measurand: the metric registry for LLM, RAG and agent evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from measurand.api import RunResult, aevaluate, evaluate, score
    from measurand.core.annotations import Column
    from measurand.core.cell import EvaluationContext
    from measurand.core.errors import MeasurandError
    from measurand.core.judged import judged
    from measurand.core.metric import Metric, metric, same
    from measurand.core.request import Ask, Choice, Embed, Embedder, Judge, Option, Prefer, Scale, Split, Steps, Verdict, Write, YesNo
    from measurand.core.result import MetricResult
    from measurand.core.score import Score
    from measurand.core.taxonomy import MetricCategory
    from measurand.index import registry

_HOMES = {
    "Ask": "core.request",
    "Choice": "core.request",
    "Column": "core.annotations",
    "Embed": "core.request",
    "Embedder": "core.request",
    "EvaluationContext": "core.cell",
    "Judge": "core.request",
    "MeasurandError": "core.errors",
    "Metric": "core.metric",
    "MetricCategory": "core.taxonomy",
    "MetricResult": "core.result",
    "Option": "core.request",
    "Prefer": "core.request",
    "RunResult": "api",
    "Scale": "core.request",
    "Score": "core.score",
    "Split": "core.request",
    "Steps": "core.request",
    "Verdict": "core.request",
    "Write": "core.request",
    "YesNo": "core.request",
    "aevaluate": "api",
    "evaluate": "api",
    "judged": "core.judged",
    "registry": "index",
    "same": "core.metric",
    "score": "api",
}

__all__ = [
    "Ask",
    "Choice",
    "Column",
    "Embed",
    "Embedder",
    "EvaluationContext",
    "Judge",
    "MeasurandError",
    "Metric",
    "MetricCategory",
    "MetricResult",
    "Option",
    "Prefer",
    "RunResult",
    "Scale",
    "Score",
    "Split",
    "Steps",
    "Verdict",
    "Write",
    "YesNo",
    "aevaluate",
    "evaluate",
    "judged",
    "metric",
    "registry",
    "same",
    "score",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "metric":
        value = import_module("measurand.index").registry.metric
    elif name in _HOMES:
        value = getattr(import_module(f"measurand.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'measurand' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
