"""The summary of a run: from the stored results, through arrays, to what is printed. Computed when it is asked for, never stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from measurand.index import registry
from measurand.run.store import ERROR, NOT_APPLICABLE, OK, CallTotals, RunInfo, RunMetric, ScoreColumns, StoredRun
from measurand.run.store.values import ServedModel
from measurand.stats.statistic import Statistic
from measurand.stats.summary import MetricSummary, summarise_metric
from measurand.stats.sums import of_sums

_SLICE_VALUES = 200  # beyond this a slice is no grouping, it is an id


@frozen
class SliceSummary:
    """One metric over the rows that share a value."""

    by: str
    value: str
    found: MetricSummary
    errors: int
    not_applicable: int


@frozen
class MetricReport:
    """One metric of the run, with the counts of rows that have no score."""

    metric: RunMetric
    found: MetricSummary
    errors: int
    not_applicable: int
    slices: tuple[SliceSummary, ...]
    cost_usd: float | None = 0.0
    """What the calls charged to it cost, as recorded; None where a price is not known."""

    def signed(self, part: str) -> str | None:
        """A part of its signature: `signed("p")` is "logprobs" of `…|p:logprobs|…`; None where it has none."""
        start = f"{part}:"
        return next((one[len(start) :] for one in self.metric.signature.split("|")[1:] if one.startswith(start)), None)

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with exactly the keys of `run`'s metrics."""
        found = self.found
        rate = found.pass_rate
        grouped = found.clustered
        return {
            "name": self.metric.name,
            "signature": self.metric.signature,
            "n": found.n,
            "rows_scored": found.rows_scored,
            "mean": found.mean,
            "std_error": found.std_error,
            "ci_low": found.ci_low,
            "ci_high": found.ci_high,
            "interval": found.interval_and_notes,
            "errors": self.errors,
            "not_applicable": self.not_applicable,
            "pass_rate": None if rate is None else {"value": rate.value, "ci_low": rate.low, "ci_high": rate.high, "n": rate.n},
            "clustered": None
            if grouped is None
            else {
                "n_clusters": grouped.n_clusters,
                "df": grouped.df,
                "naive_std_error": grouped.naive_std_error,
                "cr0": grouped.cr0,
                "design_effect": grouped.design_effect,
            },
            "statistics": [
                {
                    "name": one.name,
                    "value": one.value,
                    "ci_low": one.low,
                    "ci_high": one.high,
                    "interval": one.interval if not one.reason else f"{one.interval}; {one.reason}",
                    "n": one.n,
                }
                for one in found.statistics
            ],
            "slices": [
                {
                    "by": one.by,
                    "value": one.value,
                    "n": one.found.n,
                    "mean": one.found.mean,
                    "ci_low": one.found.ci_low,
                    "ci_high": one.found.ci_high,
                    "errors": one.errors,
                    "not_applicable": one.not_applicable,
                }
                for one in self.slices
            ],
        }


@frozen
class Summary:
    """A run and what it measured."""

    info: RunInfo
    metrics: tuple[MetricReport, ...]
    slices_left_out: tuple[str, ...]
    usage: CallTotals = field(factory=CallTotals)
    """What all the calls that it used come to, as recorded."""
    paid_usd: float | None = 0.0
    """What those that it made itself cost; None where a price is not known."""
    served: tuple[ServedModel, ...] = ()
    """What answered, by the names that servers give their models."""
    prefix_share: float | None = None
    """Which share of what was sent the servers had cached; None where no model's `prefix_cache` is set."""

    @property
    def estimated(self) -> dict[str, Any]:
        """What its plan expected."""
        return {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, **self.info.counts.get("estimated", {})}

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with exactly the keys of `run`."""
        info = self.info
        return {
            "run_id": info.run_id,
            "name": info.name,
            "project": info.project,
            "dataset": {key: info.dataset.get(key) for key in ("path", "rows", "fingerprint", "filtered")},
            "metrics": [one.to_dict() for one in self.metrics],
            "usage": self.usage.to_dict(),
            "estimated": self.estimated,
            "elapsed_s": info.elapsed_s,
            "status": info.status,
            "reason": info.reason,
        }


def summarise(run: StoredRun) -> Summary:
    """Computes the summary of a stored run."""
    units = Units(*run.unit_codes(), run.info.config.get("run", {}).get("min_trials"))
    groups, left_out = _groups(run)
    costs = run.cost_by_metric()
    reports = []
    for metric, columns in run.all_score_columns():
        reports.append(evolve(_report(run, metric, columns, units, groups), cost_usd=costs.get(metric.index, 0.0)))
        del columns  # before the next metric's are read
    usage = run.call_totals()
    if not usage.calls:
        return Summary(run.info, tuple(reports), left_out)
    return Summary(run.info, tuple(reports), left_out, usage, run.paid_totals().cost_usd, tuple(run.served_models()), _prefix_share(run))


def _prefix_share(run: StoredRun) -> float | None:
    """Cached tokens / tokens sent, over the chat calls that the run made itself."""
    if not any(model.get("prefix_cache") for model in run.info.config.get("models", {}).values()):
        return None
    made = [call.usage for call in run.all_calls() if call.kind == "chat" and call.paid]
    sent = sum(usage.get("input_tokens", 0) for usage in made)
    return sum(usage.get("cached_tokens", 0) for usage in made) / sent if sent else None


@frozen(eq=False)
class Units:
    """What the rows belong to: a task and a cluster code for each, None where there are none."""

    tasks: Any
    clusters: Any
    min_trials: int | None

    def of(self, rows: Any) -> Units:
        """The same for some of the rows."""
        return Units(_of(self.tasks, rows), _of(self.clusters, rows), self.min_trials)


def _report(run: StoredRun, metric: RunMetric, columns: ScoreColumns, units: Units, groups: dict[tuple[str, str], Any]) -> MetricReport:
    slices = tuple(
        SliceSummary(by, value, _summary(metric, columns.score[rows], units.of(rows)), *_counts(columns.status[rows])) for (by, value), rows in groups.items()
    )
    found = _summary(metric, columns.score, units)
    whole = _corpus(run, metric, columns, units)
    return MetricReport(metric, evolve(found, statistics=(*found.statistics, *whole)), *_counts(columns.status), slices)


def _corpus(run: StoredRun, metric: RunMetric, columns: ScoreColumns, units: Units) -> list[Statistic]:
    """The corpus statistic of a metric that has one, from the counts kept with each score."""
    declared = registry.get(metric.base)
    if declared is None or declared.corpus is None:
        return []
    kept = [one.rest.get("details", {}).get("counts") for one in run.results(metric.index, "ok")]
    if not kept or any(counts is None for counts in kept):  # `content = "none"` keeps no details
        return []
    fold = declared.corpus
    scored = units.of(columns.status == OK)
    codes = scored.clusters if scored.clusters is not None else scored.tasks
    return [of_sums("corpus", np.array(kept, dtype=np.float64), fold.value, codes)]


def _counts(status: Any) -> tuple[int, int]:
    return int(np.count_nonzero(status == ERROR)), int(np.count_nonzero(status == NOT_APPLICABLE))


def _of(codes: Any, rows: Any) -> Any:
    return None if codes is None else codes[rows]


def _summary(metric: RunMetric, scores: Any, units: Units) -> MetricSummary:
    return summarise_metric(
        scores,
        type=metric.type,  # type: ignore[arg-type]  # the store keeps the words a declaration allows
        direction=metric.direction,  # type: ignore[arg-type]  # as above
        low=-np.inf if metric.low is None else metric.low,
        high=np.inf if metric.high is None else metric.high,
        threshold=metric.threshold,
        tasks=units.tasks,
        clusters=units.clusters,
        min_trials=units.min_trials,
    )


def _groups(run: StoredRun) -> tuple[dict[tuple[str, str], Any], tuple[str, ...]]:
    """Row positions by slice and value; and the slices left out because nearly every row has a value of its own."""
    wanted = tuple(run.info.config.get("run", {}).get("slices", ()))
    if not wanted:
        return {}, ()
    found: dict[tuple[str, str], list[int]] = {}
    for position, (name, value) in _slice_values(run):
        found.setdefault((name, value), []).append(position)
    sizes = {name: sum(1 for by, _ in found if by == name) for name in wanted}
    left_out = tuple(name for name, size in sizes.items() if size > _SLICE_VALUES)
    order = {name: index for index, name in enumerate(wanted)}
    kept = sorted((key for key in found if key[0] not in left_out), key=lambda key: (order.get(key[0], 0), key[1]))
    return {key: np.array(found[key], dtype=np.int64) for key in kept}, left_out


def _slice_values(run: StoredRun) -> Iterator[tuple[int, tuple[str, str]]]:
    for position, sample in enumerate(run.samples()):
        for name, value in (sample.slices or {}).items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    yield position, (name, one if isinstance(one, str) else _word(one))


def _word(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


__all__ = ["OK", "MetricReport", "SliceSummary", "Summary", "summarise"]
