"""One run from its plan to its end: the run row first, results in groups, a last word that says how it ended."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from attrs import field, frozen

from measurand.core.errors import MeasurandError, ProblemsError, RunIncompleteError, StoreError
from measurand.core.instance import Instance
from measurand.run.execute import Job, execute
from measurand.run.plan import Plan
from measurand.run.store import ERROR, RunMetric, RunStart, RunWriter, Store
from measurand.run.versions import git_commit, is_running, versions

_COUNTED: Final = ("rows", "errors", "cells")

Progress = Callable[[int, int], None]
"""Called with (rows done, errors so far)."""


@frozen
class Ended:
    """How a run ended. `status` is complete or incomplete; `reason` says why it is not complete."""

    run_id: str
    status: str
    reason: str | None
    interrupted: bool = False
    found_done: int = 0
    """Rows that an earlier attempt at this run had stored already."""


def start_run(plan: Plan, store: Store, *, command: list[str], progress: Progress | None = None) -> Ended:
    """Executes the plan and stores everything. Raises `ProblemsError` when the plan has problems, `StoreError` when nothing can be stored."""
    if plan.dataset is None or not plan.ok:
        raise ProblemsError(plan.problems)
    earlier = _continued(plan, store) or _Earlier(store.begin(_first_row(plan, secrets.token_hex(4), command)))
    writer, counts = earlier.writer, dict(earlier.counts)
    began = time.monotonic() - earlier.elapsed_s
    reason: str | None = None
    interrupted = False
    try:
        _score_all(plan, writer, counts, earlier.done, progress)
        reason = _too_many_errors(plan, counts)
    except KeyboardInterrupt:
        reason, interrupted = "interrupted", True
    except (RunIncompleteError, StoreError) as error:
        reason = str(error)
    status = "complete" if reason is None else "incomplete"
    _finish(writer, status, reason, time.monotonic() - began, counts)
    return Ended(writer.run_id, status, reason, interrupted, earlier.counts["rows"])


@frozen(eq=False)
class _Earlier:
    """A run as an earlier attempt left it. `done`: one byte a row of the dataset, 1 where it is stored; empty for a new run."""

    writer: RunWriter
    counts: Mapping[str, int] = field(factory=lambda: dict.fromkeys(_COUNTED, 0))
    done: bytes = b""
    elapsed_s: float = 0.0


def _continued(plan: Plan, store: Store) -> _Earlier | None:
    """The newest incomplete run of the same plan that no living process is writing."""
    info = store.find_incomplete(plan.settings.project, plan.plan_id)
    if info is None or is_running(info.versions.get("process")):
        return None
    with store.resolve(info.run_id) as run:
        columns = [one for _, one in run.all_score_columns()]
        counts = {"rows": len(run), "cells": sum(one.status.size for one in columns), "errors": sum(int((one.status == ERROR).sum()) for one in columns)}
    writer, stored = store.continue_(info.run_id)
    done = np.zeros(plan.rows, np.uint8)
    done[stored] = 1
    return _Earlier(writer, counts, done.tobytes(), info.elapsed_s or 0.0)


def _score_all(plan: Plan, writer: RunWriter, counts: dict[str, int], done: bytes, progress: Progress | None) -> None:
    assert plan.dataset is not None
    job = Job(plan.instances, plan.slices, plan.settings.run.content)
    rows = plan.dataset.records()
    for batch in execute(job, (row for row in rows if not done[row.ordinal]) if done else rows):
        writer.add(batch.samples, batch.results)
        counts["rows"] += len(batch.samples)
        counts["cells"] += len(batch.results)
        counts["errors"] += batch.errors
        if progress is not None:
            progress(counts["rows"], counts["errors"])


def _too_many_errors(plan: Plan, counts: dict[str, int]) -> str | None:
    most = plan.settings.run.max_error_rate
    rate = counts["errors"] / counts["cells"] if counts["cells"] else 0.0
    if rate <= most:
        return None
    return f"{counts['errors']} of {counts['cells']} results are errors ({100 * rate:.1f} %), more than max_error_rate = {most:g}; metrics results RUN --errors shows them"


def _finish(writer: RunWriter, status: Any, reason: str | None, elapsed_s: float, counts: dict[str, int]) -> None:
    usage = {"calls": 0, "cached_calls": 0, "unreported_calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
    try:
        writer.finish(status, reason, elapsed_s=elapsed_s, counts=dict(counts), usage=usage)
    except MeasurandError:
        if reason is None:  # a store that fails at the very end leaves the run incomplete, which is what it is
            raise


def _first_row(plan: Plan, run_id: str, command: list[str]) -> RunStart:
    dataset = plan.dataset
    assert dataset is not None
    return RunStart(
        run_id=run_id,
        name=plan.name,
        project=plan.settings.project,
        started_at=datetime.now(UTC).isoformat(),
        dataset=plan.dataset_json(),
        config=_effective(plan),
        plan_id=plan.plan_id,
        metrics=tuple(_stored_metric(index, one) for index, one in enumerate(plan.instances)),
        git_commit=git_commit(),
        versions=versions(),
        command=command,
        mapping=_kept_mapping(plan),
        has_trials=dataset.has_trials,
    )


def _kept_mapping(plan: Plan) -> list[dict[str, Any]]:
    """Which column feeds which field. Not the sample values: they are texts of rows, and would outlive a row that is deleted."""
    mapping = plan.dataset.mapping if plan.dataset is not None else ()
    return [{key: value for key, value in entry.items() if key != "samples"} for entry in mapping]


def _effective(plan: Plan) -> dict[str, Any]:
    """The config with what the command line laid over it: what the summary of this run goes by, now and later."""
    config = plan.settings.effective()
    asked = {"metrics": [one.name for one in plan.instances], "slices": list(plan.slices), "min_trials": plan.min_trials}
    return {**config, "run": {**config.get("run", {}), **asked}}


def _stored_metric(index: int, one: Instance) -> RunMetric:
    metric = one.metric
    low, high = (None if abs(end) == float("inf") else end for end in metric.range)
    return RunMetric(
        index=index,
        name=one.name,
        base=metric.name,
        version=metric.version,
        signature=one.signature,
        options=dict(one.options),
        threshold=one.threshold,
        direction=metric.direction,
        type=metric.type,
        low=low,
        high=high,
        categories=list(metric.categories.words),
    )
