"""Writing one run: its row first, then groups of rows, each whole or not at all, then its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Table

from measurand.core.errors import StoreError
from measurand.run.store import schema
from measurand.run.store.calls import call_row, insert_calls, link_calls
from measurand.run.store.driver import Driver
from measurand.run.store.engine import dialect_of, writing
from measurand.run.store.faults import told
from measurand.run.store.place import Place
from measurand.run.store.plain_text import optional, storable, to_column
from measurand.run.store.strict_json import dumps, escape_surrogates
from measurand.run.store.values import ResultRow, RunInfo, RunMetric, RunStatus, SampleRow, StoredCall


def insert_run(connection: Connection, run: RunInfo) -> int:
    """Insert a run's own row and its metrics; the key the other tables know it by."""
    inserted = connection.execute(
        schema.runs.insert().values(
            run_id=run.run_id,
            name=optional(run.name, to_column),
            project=to_column(run.project),
            started_at=run.started_at,
            plan_id=run.plan_id,
            status=run.status,
            reason=optional(run.reason, to_column),
            elapsed_s=run.elapsed_s,
            git_commit=run.git_commit,
            has_trials=int(run.has_trials),
            removed_rows=run.removed_rows,
            **{name: _json(getattr(run, name)) for name in ("dataset", "config", "versions", "command", "mapping", "counts", "usage")},
        )
    )
    assert inserted.inserted_primary_key is not None
    key = int(inserted.inserted_primary_key[0])
    if run.metrics:
        connection.execute(schema.run_metrics.insert(), [_metric_values(key, metric) for metric in run.metrics])
    return key


def _metric_values(key: int, metric: RunMetric) -> dict[str, Any]:
    return {
        "run": key,
        "metric": metric.index,
        "name": metric.name,
        "base": metric.base,
        "version": metric.version,
        "signature": metric.signature,
        "options": _json(metric.options),
        "threshold": metric.threshold,
        "direction": metric.direction,
        "type": metric.type,
        "low": metric.low,
        "high": metric.high,
        "categories": _json(metric.categories),
    }


def _json(value: Any) -> str:
    return escape_surrogates(dumps(value)) or ""


def _encodable(sample: SampleRow) -> SampleRow:
    ordinal, sample_id, task, trial, cluster, hashes, tags, slices, row = sample
    hashes = escape_surrogates(hashes) or ""
    return ordinal, sample_id, task, trial, cluster, hashes, escape_surrogates(tags), escape_surrogates(slices), escape_surrogates(row)


class RunWriter:
    """The writer of one run. Use from one thread."""

    def __init__(self, engine: Engine, place: Place, key: int, run_id: str, *, keep: object = None) -> None:
        self._keep = keep  # a store closes when nobody holds it; its writers do
        self._engine = engine
        self._place = place
        self._dialect = dialect_of(engine)
        self._key = key
        self.run_id = run_id

    def add(self, samples: Sequence[SampleRow], results: Sequence[ResultRow]) -> None:
        """Store a group of rows with their results in one transaction (best 2 000 rows or more).

        A row and all its results belong in one group. JSON texts are stored as given. StoreError when the group cannot be stored: then
        nothing of it is, and all groups before it are.
        """
        samples = storable(samples)
        with told(self._place):
            try:
                self._insert(samples, results)
            except UnicodeEncodeError:  # a lone surrogate in JSON text, seen by the driver; too rare to look for in every text
                self._insert([_encodable(sample) for sample in samples], [(*result[:4], escape_surrogates(result[4])) for result in results])

    def sign(self, signatures: Mapping[int, str]) -> None:
        """Set the signatures of metrics, by their index: what a probe found out is part of them. StoreError when that cannot be stored."""
        table = schema.run_metrics
        with told(self._place), writing(self._engine) as connection:
            for index, signature in signatures.items():
                connection.execute(table.update().where(table.c.run == self._key, table.c.metric == index).values(signature=to_column(signature)))

    def rename(self, name: str) -> None:
        """Give the run another name. StoreError when that cannot be stored."""
        with told(self._place), writing(self._engine) as connection:
            connection.execute(schema.runs.update().where(schema.runs.c.run == self._key).values(name=to_column(name)))

    def add_calls(self, calls: Sequence[StoredCall]) -> None:
        """Store recorded calls of a run file with their users, in one transaction. StoreError when they cannot be stored."""
        if not calls:
            return
        with told(self._place), writing(self._engine) as connection:
            driver = Driver(connection)
            rows = [call_row(one.key, one, run=self._key if one.paid else None, imported=one.imported, recorded_at=one.recorded_at) for one in calls]
            numbers = insert_calls(driver, rows)
            link_calls(driver, [(self._key, *use, number) for one, number in zip(calls, numbers, strict=True) for use in one.uses])

    def finish(
        self,
        status: RunStatus,
        reason: str | None = None,
        *,
        elapsed_s: float | None = None,
        counts: Mapping[str, Any] | None = None,
        usage: Mapping[str, Any] | None = None,
    ) -> None:
        """Say how the run ended. Without this call it stays `incomplete`. StoreError when that cannot be stored."""
        with told(self._place), writing(self._engine) as connection:
            connection.execute(
                schema.runs.update()
                .where(schema.runs.c.run == self._key)
                .values(
                    status=status, reason=optional(reason, to_column), elapsed_s=elapsed_s, counts=_json(dict(counts or {})), usage=_json(dict(usage or {}))
                )
            )

    def _insert(self, samples: Sequence[SampleRow], results: Sequence[ResultRow]) -> None:
        groups: tuple[tuple[Table, Sequence[tuple[Any, ...]]], ...] = (
            (schema.samples, [sample[:8] for sample in samples]),
            (schema.contents, [(sample[0], sample[8]) for sample in samples if sample[8] is not None]),
            (schema.results, results),
        )
        with writing(self._engine) as connection:
            for table, rows in groups:
                if rows:
                    self._dialect.insert(connection, table, self._key, rows)


def begin_run(engine: Engine, place: Place, run: RunInfo, *, keep: object = None) -> RunWriter:
    """Store a run's own row, committed, and give the writer of the rest. StoreError when the id is taken."""
    with told(place, spent=False), writing(engine) as connection:
        taken = connection.execute(schema.runs.select().with_only_columns(schema.runs.c.run).where(schema.runs.c.run_id == run.run_id)).first()
        if taken is not None:
            raise StoreError(f"the store {place.shown} already has a run {run.run_id}; a run is never written over")
        key = insert_run(connection, run)
    return RunWriter(engine, place, key, run.run_id, keep=keep)
