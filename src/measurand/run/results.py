"""One run's results as the full results of the contract, and as flat rows for tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from measurand.core.result import STATUSES, MetricResult, ResultError, passed
from measurand.run.store import RunMetric, StoredResult, StoredRun, Verdict


def stored_results(
    run: StoredRun,
    *,
    metric: str | None = None,
    status: Collection[Verdict] | None = None,
    sample_id: str | None = None,
    by_score: bool = False,
    limit: int | None = None,
) -> Iterator[MetricResult]:
    """The results that meet every condition, in row order (or lowest score first). Raises `UsageError` for an unknown metric or row."""
    metrics = {one.index: one for one in run.info.metrics}
    found = run.results(metric, status or None, sample_id, sort="score" if by_score else None, limit=limit)
    return (full_result(one, metrics[one.metric]) for one in found)


def full_result(stored: StoredResult, metric: RunMetric) -> MetricResult:
    """The result that a stored one stands for."""
    kept = dict(stored.rest)
    error = kept.pop("error", None)
    draws = kept.pop("draws", None)
    return MetricResult(
        metric=metric.name,
        version=metric.version,
        sample_id=stored.sample_id,
        task=stored.task,
        trial=stored.trial,
        score=stored.score,
        status=STATUSES[stored.status],
        passed=passed(stored.score, metric.threshold, metric.direction),
        threshold=metric.threshold,
        error=None if error is None else ResultError(**error),
        usage=stored.usage,
        draws=None if draws is None else tuple(draws),
        signature=metric.signature,
        **kept,
    )


FLAT_COLUMNS = (
    "sample_id",
    "task",
    "trial",
    "metric",
    "version",
    "score",
    "status",
    "label",
    "passed",
    "threshold",
    "error_code",
    "error_message",
    "details",
    "calls",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "signature",
)
"""The columns of a table of results (CSV, Parquet, frames)."""


def flat_row(result: MetricResult) -> dict[str, Any]:
    """A result as one row of a table; `details` as JSON text, None where there are none."""
    error = result.error
    return {
        "sample_id": result.sample_id,
        "task": result.task,
        "trial": result.trial,
        "metric": result.metric,
        "version": result.version,
        "score": result.score,
        "status": result.status,
        "label": result.label,
        "passed": result.passed,
        "threshold": result.threshold,
        "error_code": None if error is None else error.code,
        "error_message": None if error is None else error.message,
        "details": json.dumps(dict(result.details), ensure_ascii=False) if result.details else None,
        "calls": result.usage.calls,
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
        "cost_usd": result.usage.cost_usd,
        "signature": result.signature,
    }
