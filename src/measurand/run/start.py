"""One run from its plan to its end: the run row first, results in groups, a last word that says how it ended."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
from attrs import field, frozen

from measurand.core.cell import Program
from measurand.core.errors import MeasurandError, ModelStoppedError, ProblemsError, RunIncompleteError, StoreError
from measurand.core.instance import Instance
from measurand.run.execute import Job, execute, execute_asking
from measurand.run.plan import Plan
from measurand.run.progress import Progress, Report
from measurand.run.store import ERROR, RunMetric, RunStart, RunWriter, Store
from measurand.run.versions import git_commit, is_running, versions

if TYPE_CHECKING:
    from measurand.data.dataset import RecordRow
    from measurand.run.asking.desk import Desk
    from measurand.run.asking.execute import Asking

_COUNTED: Final = ("rows", "errors", "cells")


@frozen
class Records:
    """Recorded calls beside those of the store."""

    cassette: Any = None
    """An open cassette, laid under the store."""
    trust_imported: bool = False
    """Whether imported replies may answer outside a replay."""


@frozen
class Ended:
    """How a run ended. `status` is complete or incomplete; `reason` says why it is not complete."""

    run_id: str
    status: str
    reason: str | None
    interrupted: bool = False
    found_done: int = 0
    """Rows that an earlier attempt at this run had stored already."""


def start_run(plan: Plan, store: Store, *, command: list[str], progress: Report | None = None, records: Records = Records()) -> Ended:
    """Executes the plan and stores everything. Raises `ProblemsError` when the plan has problems, `StoreError` when nothing can be stored."""
    if plan.dataset is None or not plan.ok:
        raise ProblemsError(plan.problems)
    earlier = _continued(plan, store) or _Earlier(store.begin(_first_row(plan, secrets.token_hex(4), command)))
    writer, counts = earlier.writer, dict(earlier.counts)
    began = time.monotonic() - earlier.elapsed_s
    reason: str | None = None
    interrupted = False
    notes = dict.fromkeys(earlier.notes)
    try:
        _score_all(plan, store, earlier, counts, notes, progress, records)
        reason = _too_many_errors(plan, counts)
    except KeyboardInterrupt:
        reason, interrupted = "interrupted", True
    except (ModelStoppedError, RunIncompleteError, StoreError) as error:
        reason = str(error)
    status = "complete" if reason is None else "incomplete"
    _finish(store, writer, status, reason, time.monotonic() - began, {**counts, **_of_asking(plan, notes)})
    return Ended(writer.run_id, status, reason, interrupted, earlier.counts["rows"])


def _of_asking(plan: Plan, notes: Iterable[str]) -> dict[str, Any]:
    """What is kept of a run that asked models, beside its counts."""
    return {"estimated": plan.estimated(), "notes": list(notes)} if plan.asks else {}


@frozen(eq=False)
class _Earlier:
    """A run as an earlier attempt left it. `done`: one byte a row of the dataset, 1 where it is stored; empty for a new run."""

    writer: RunWriter
    counts: Mapping[str, int] = field(factory=lambda: dict.fromkeys(_COUNTED, 0))
    done: bytes = b""
    elapsed_s: float = 0.0
    notes: tuple[str, ...] = ()


def _continued(plan: Plan, store: Store) -> _Earlier | None:
    """The newest incomplete run of the same plan that no living process is writing."""
    info = store.find_incomplete(plan.settings.project, plan.plan_id)
    if info is None or is_running(info.versions.get("process")):
        return None
    writer, stored = store.continue_(info.run_id)
    if plan.name is not None and plan.name != info.name:
        writer.rename(plan.name)
    with store.resolve(info.run_id) as run:
        columns = [one for _, one in run.all_score_columns()]
        counts = {"rows": len(run), "cells": sum(one.status.size for one in columns), "errors": sum(int((one.status == ERROR).sum()) for one in columns)}
    done = np.zeros(plan.rows, np.uint8)
    done[stored] = 1
    return _Earlier(writer, counts, done.tobytes(), info.elapsed_s or 0.0, tuple(info.counts.get("notes", ())))


def _score_all(plan: Plan, store: Store, earlier: _Earlier, counts: dict[str, int], notes: dict[str, None], progress: Report | None, records: Records) -> None:
    assert plan.dataset is not None
    job = Job(plan.instances, plan.slices, plan.settings.run.content)
    rows = plan.dataset.records()
    left = (row for row in rows if not earlier.done[row.ordinal]) if earlier.done else rows
    with contextlib.ExitStack() as stack:
        asking = _asking(plan, store, earlier, left, records, stack)
        if asking is not None:
            stack.callback(lambda: notes.update(dict.fromkeys(asking.notes)))
        for batch in execute(job, left) if asking is None else execute_asking(job, asking):
            earlier.writer.add(batch.samples, batch.results)
            counts["rows"] += len(batch.samples)
            counts["cells"] += len(batch.results)
            counts["errors"] += batch.errors
            if progress is not None:
                progress(_progress(counts, asking))


def _progress(counts: dict[str, int], asking: Asking | None) -> Progress:
    if asking is None or asking.desk is None:
        return Progress(counts["rows"], counts["errors"])
    tally = asking.desk.tally
    return Progress(counts["rows"], counts["errors"], tally.calls, tally.cached, None if tally.unpriced else tally.cost_usd)


def _asking(plan: Plan, store: Store, earlier: _Earlier, rows: Iterator[RecordRow], records: Records, stack: contextlib.ExitStack) -> Asking | None:
    """The execution of a plan that asks models; None for one that asks nobody. Nothing of it is imported, and nothing opened, otherwise."""
    if not any(one.judge or one.embedding for one in plan.instances):
        return None
    from measurand.run.asking.budget import Amount
    from measurand.run.asking.desk import Desk
    from measurand.run.asking.execute import Asking
    from measurand.run.record import Ledger

    run = plan.settings.run
    ledger = Ledger(
        store, earlier.writer.run_id, mode=run.mode, cassette=records.cassette, trust_imported=records.trust_imported, keep_texts=run.content == "full"
    )
    stack.callback(ledger.close)
    paid = store.resolve(earlier.writer.run_id).paid_totals()
    spent = Amount(paid.calls, paid.input_tokens + paid.output_tokens, paid.cost_usd or 0.0)
    program = Program(plan.instances)
    instances = {index: plan.instances[index] for index in program.asking}

    def prepared(desk: Desk) -> None:
        earlier.writer.sign({index: one.signature for index, one in desk.signed().items()})

    asking = Asking(program, rows, lambda: Desk(plan.settings, instances, store, ledger, spent), prepared)
    stack.callback(asking.close)
    return asking


def _too_many_errors(plan: Plan, counts: dict[str, int]) -> str | None:
    most = plan.settings.run.max_error_rate
    rate = counts["errors"] / counts["cells"] if counts["cells"] else 0.0
    if rate <= most:
        return None
    return f"{counts['errors']} of {counts['cells']} results are errors ({100 * rate:.1f} %), more than max_error_rate = {most:g}; metrics results RUN --errors shows them"


def _finish(store: Store, writer: RunWriter, status: Any, reason: str | None, elapsed_s: float, counts: dict[str, Any]) -> None:
    try:
        writer.finish(status, reason, elapsed_s=elapsed_s, counts=counts, usage=attrs.asdict(store.resolve(writer.run_id).call_totals()))
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
