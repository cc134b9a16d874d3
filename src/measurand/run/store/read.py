"""Reading: the list of runs, and one run's rows, results and arrays."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias

from sqlalchemy import ColumnElement, Connection, Engine, Select, and_, func, or_, select

from measurand.core.errors import Problem, UsageError, did_you_mean
from measurand.core.result import NO_USAGE, CallUsage
from measurand.run.store import schema
from measurand.run.store.columns import RowOrder, chunks_of, cluster_codes, metrics_at_once, read_scores, row_order, task_codes
from measurand.run.store.faults import told
from measurand.run.store.place import Place
from measurand.run.store.plain_text import from_column, optional, to_column
from measurand.run.store.strict_json import loads
from measurand.run.store.usage import calls_of_row, calls_of_run, imported_calls, served_models, totals, usage_by_metric, usage_of, uses_calls
from measurand.run.store.values import (
    ERROR,
    NOT_APPLICABLE,
    OK,
    CallTotals,
    Int32Array,
    RunInfo,
    RunMetric,
    ScoreColumns,
    ServedModel,
    StoredCall,
    StoredResult,
    StoredSample,
)

Verdict: TypeAlias = Literal["ok", "failed", "not_applicable", "error"]
"""Which results: `failed` are those on the bad side of their metric's threshold."""

VERDICTS: Final = ("ok", "failed", "not_applicable", "error")

_CHUNK: Final = 2_000
_IN_ONE_QUERY: Final = 500  # run keys of one `IN (…)`


def select_runs(connection: Connection, *where: ColumnElement[bool], limit: int | None = None) -> list[tuple[int, RunInfo]]:
    """Runs with their keys, newest first."""
    runs = schema.runs.c
    rows = connection.execute(select(schema.runs).where(*where).order_by(runs.started_at.desc(), runs.run.desc()).limit(limit)).all()
    metrics: dict[int, list[RunMetric]] = {row.run: [] for row in rows}
    keys = list(metrics)
    table = schema.run_metrics.c
    for start in range(0, len(keys), _IN_ONE_QUERY):
        some = keys[start : start + _IN_ONE_QUERY]
        for metric in connection.execute(select(schema.run_metrics).where(table.run.in_(some)).order_by(table.run, table.metric)):
            metrics[metric.run].append(_run_metric(metric))
    return [(row.run, _run_info(row, tuple(metrics[row.run]))) for row in rows]


def _run_metric(row: Any) -> RunMetric:
    return RunMetric(
        index=row.metric,
        name=row.name,
        base=row.base,
        version=row.version,
        signature=row.signature,
        options=loads(row.options),
        threshold=row.threshold,
        direction=row.direction,
        type=row.type,
        low=row.low,
        high=row.high,
        categories=loads(row.categories),
    )


def _run_info(row: Any, metrics: tuple[RunMetric, ...]) -> RunInfo:
    return RunInfo(
        run_id=row.run_id,
        name=optional(row.name, from_column),
        project=from_column(row.project),
        started_at=row.started_at,
        dataset=loads(row.dataset),
        config=loads(row.config),
        plan_id=row.plan_id,
        metrics=metrics,
        git_commit=row.git_commit,
        versions=loads(row.versions),
        command=loads(row.command),
        mapping=loads(row.mapping),
        has_trials=bool(row.has_trials),
        status=row.status,
        reason=optional(row.reason, from_column),
        elapsed_s=row.elapsed_s,
        counts=loads(row.counts),
        usage=loads(row.usage),
        removed_rows=row.removed_rows,
    )


class StoredRun:
    """One run, read from a store or a run file. As a context manager it closes what was opened for it alone."""

    def __init__(self, engine: Engine, place: Place, key: int, info: RunInfo, *, keep: object = None, close: Callable[[], None] | None = None) -> None:
        self._engine = engine
        self._place = place
        self._key = key
        self.info = info
        self._keep = keep  # a store closes when nobody holds it; its runs do
        self._close = None if close is None else weakref.finalize(self, close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened for this run alone: a run file's temporary copy, or the store of `open_run`."""
        if self._close is not None:
            self._close()

    def __len__(self) -> int:
        """How many rows are stored."""
        return self._order.count

    def result_count(self) -> int:
        """How many results are stored."""
        with told(self._place), self._engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(schema.results).where(schema.results.c.run == self._key)).scalar_one()

    def metric(self, name: str) -> RunMetric:
        """The run's metric of this name. UsageError with the nearest when there is none."""
        for metric in self.info.metrics:
            if metric.name == name:
                return metric
        names = [metric.name for metric in self.info.metrics]
        hint = did_you_mean(name, names) or f"it has {', '.join(names) or 'none'}"
        raise UsageError(Problem("unknown_metric", "--metric", f"run {self.info.run_id} has no metric {name!r}", hint))

    def results(
        self,
        metric: int | str | None = None,
        status: Verdict | Collection[Verdict] | None = None,
        sample_id: str | None = None,
        *,
        sort: Literal["score"] | None = None,
        limit: int | None = None,
        after: tuple[int, int] | None = None,
    ) -> Iterator[StoredResult]:
        """Results in row order, metric by metric; `sort="score"`: lowest first, those without a score last.

        metric: index or name. status: one of `ok`, `failed`, `not_applicable`, `error`, or several (any of them).
        after: (ordinal, metric) of the last result seen; what follows it in the same order. UsageError for an unknown metric or row id.
        """
        where = [schema.results.c.run == self._key]
        if metric is not None:
            where.append(schema.results.c.metric == (self.metric(metric).index if isinstance(metric, str) else metric))
        if status is not None:
            where.append(or_(*(_has(verdict) for verdict in ({status} if isinstance(status, str) else status))))
        if sample_id is not None:
            where.append(schema.results.c.ordinal == self._ordinal_of(sample_id))
        return self._stream_results(where, sort, limit, after)

    def _stream_results(
        self, where: Sequence[ColumnElement[bool]], sort: Literal["score"] | None, limit: int | None, after: tuple[int, int] | None
    ) -> Iterator[StoredResult]:
        results, samples = schema.results.c, schema.samples.c
        order: tuple[Any, ...] = (results.ordinal, results.metric)
        if sort == "score":
            order = (results.score.is_(None), results.score, *order)
        statement = (
            select(results.ordinal, samples.id, samples.task, samples.trial, results.metric, results.status, results.score, results.rest)
            .join(schema.samples, and_(samples.run == results.run, samples.ordinal == results.ordinal))
            .join(schema.run_metrics, and_(schema.run_metrics.c.run == results.run, schema.run_metrics.c.metric == results.metric))
            .where(*where)
            .order_by(*order)
            .limit(limit)
        )
        if after is not None:
            statement = statement.where(self._follows(after, sort))
        with told(self._place), self._engine.connect() as connection:
            for chunk in chunks_of(connection, statement, _CHUNK):
                usage = usage_of(connection, self._key, [row[0] for row in chunk]) if self._uses_calls else {}
                for ordinal, sample_id, task, trial, metric, status, score, rest in chunk:
                    detail = {} if rest is None else loads(rest)
                    used = usage.get((ordinal, metric), NO_USAGE)
                    yield StoredResult(ordinal, from_column(sample_id), from_column(task), trial, metric, status, score, detail, used)

    def _follows(self, after: tuple[int, int], sort: Literal["score"] | None) -> ColumnElement[bool]:
        results = schema.results.c
        ordinal, metric = after
        later = or_(results.ordinal > ordinal, and_(results.ordinal == ordinal, results.metric > metric))
        if sort is None:
            return later
        with told(self._place), self._engine.connect() as connection:
            where = (results.run == self._key, results.ordinal == ordinal, results.metric == metric)
            score = connection.execute(select(results.score).where(*where)).scalar()
        if score is None:
            return and_(results.score.is_(None), later)
        return or_(results.score.is_(None), results.score > score, and_(results.score == score, later))

    def samples(self, *, after: int | None = None, limit: int | None = None) -> Iterator[StoredSample]:
        """Rows in order. after: the ordinal of the last one seen."""
        samples = schema.samples.c
        statement = self._select_samples().order_by(samples.ordinal).limit(limit)
        if after is not None:
            statement = statement.where(samples.ordinal > after)
        for row in self._rows(statement):
            yield _stored_sample(row)

    def row(self, sample_id: str) -> StoredSample:
        """One row by its id. UsageError when the run has none."""
        statement = self._select_samples().where(schema.samples.c.ordinal == self._ordinal_of(sample_id))
        return _stored_sample(next(iter(self._rows(statement))))

    def call_totals(self) -> CallTotals:
        """What all the calls come to that the run used, as recorded: Σ of the usage of its results. Of an incomplete run also those in flight."""
        with told(self._place), self._engine.connect() as connection:
            return totals(connection, self._key)

    def paid_totals(self) -> CallTotals:
        """What all the calls come to that the run itself made, also those whose results were given up: what a budget has been spent on."""
        with told(self._place), self._engine.connect() as connection:
            return totals(connection, self._key, paid=True)

    def usage_by_metric(self) -> dict[int, CallUsage]:
        """What is charged to the results of each metric, by its index; -1: what no result is charged with. No entry for one without calls."""
        with told(self._place), self._engine.connect() as connection:
            return usage_by_metric(connection, self._key) if self._uses_calls else {}

    def cost_by_metric(self) -> dict[int, float | None]:
        """US dollars charged to the results of each metric that used calls, by its index; None where a price is not known."""
        return {metric: usage.cost_usd for metric, usage in self.usage_by_metric().items()}

    def calls(self, sample_id: str) -> list[StoredCall]:
        """Every request and reply that the results of one row used, in the order they were made. UsageError for an unknown row id."""
        ordinal = self._ordinal_of(sample_id)
        with told(self._place), self._engine.connect() as connection:
            return calls_of_row(connection, self._key, ordinal)

    def all_calls(self, *, by_first_use: bool = False) -> Iterator[StoredCall]:
        """Every call that the run used, in the order they were made, or by first use: those of the whole run, then row by row."""
        with told(self._place), self._engine.connect() as connection:
            yield from calls_of_run(connection, self._key, by_first_use=by_first_use)

    def call_counts(self) -> tuple[int, int]:
        """How many different calls the run used, and how many uses there are."""
        used = schema.run_calls.c
        with told(self._place), self._engine.connect() as connection:
            statement = select(func.count(used.call.distinct()), func.count()).where(used.run == self._key)
            calls, uses = connection.execute(statement).one()
        return calls, uses

    def imported_calls(self) -> int:
        """How many of the calls that the run used were imported, not made from here: what a gate says."""
        with told(self._place), self._engine.connect() as connection:
            return imported_calls(connection, self._key)

    def served_models(self) -> list[ServedModel]:
        """What answered, by the names that servers give their models; more than one of a model means that it changed during the run."""
        with told(self._place), self._engine.connect() as connection:
            return served_models(connection, self._key)

    @cached_property
    def _uses_calls(self) -> bool:
        with told(self._place), self._engine.connect() as connection:
            return uses_calls(connection, self._key)

    def score_columns(self, metric: int) -> ScoreColumns:
        """One metric's statuses and scores over the rows, in order."""
        with told(self._place), self._engine.connect() as connection:
            return read_scores(connection, self._key, self._order, [metric])[0]

    def all_score_columns(self) -> Iterator[tuple[RunMetric, ScoreColumns]]:
        """Every metric with its columns; several are read in one pass, as many as fit into 9 MB."""
        at_once = metrics_at_once(self._order.count)
        for start in range(0, len(self.info.metrics), at_once):
            batch = self.info.metrics[start : start + at_once]
            with told(self._place), self._engine.connect() as connection:
                columns = read_scores(connection, self._key, self._order, [metric.index for metric in batch])
            for metric in batch:
                yield metric, columns.pop(0)  # not kept here: two metrics' arrays at once are not needed

    def unit_codes(self) -> tuple[Int32Array | None, Int32Array | None]:
        """(task of each row as a number, only when the run has trials; cluster of each row as a number, only when a row has one).

        A row without a cluster among rows with one is a cluster of its own. Read once.
        """
        return self._unit_codes

    @cached_property
    def _unit_codes(self) -> tuple[Int32Array | None, Int32Array | None]:
        order = self._order
        with told(self._place), self._engine.connect() as connection:
            tasks = task_codes(connection, self._key, order) if self.info.has_trials else None
            return tasks, cluster_codes(connection, self._key, order)

    @cached_property
    def _order(self) -> RowOrder:
        with told(self._place), self._engine.connect() as connection:
            return row_order(connection, self._key)

    def _ordinal_of(self, sample_id: str) -> int:
        samples = schema.samples.c
        with told(self._place), self._engine.connect() as connection:
            where = (samples.run == self._key, samples.id == to_column(sample_id))
            ordinal = connection.execute(select(samples.ordinal).where(*where)).scalar()
        if ordinal is None:
            raise UsageError(Problem("unknown_row", "--id", f"run {self.info.run_id} has no row {sample_id!r}", "`metrics results RUN` lists the ids"))
        return int(ordinal)

    def _select_samples(self) -> Select[Any]:
        samples, contents = schema.samples.c, schema.contents.c
        return (
            select(samples.ordinal, samples.id, samples.task, samples.trial, samples.cluster, samples.task_hashes, samples.tags, samples.slices, contents.row)
            .join(schema.contents, and_(contents.run == samples.run, contents.ordinal == samples.ordinal), isouter=True)
            .where(samples.run == self._key)
        )

    def _rows(self, statement: Select[Any]) -> Iterator[Any]:
        with told(self._place), self._engine.connect() as connection:
            for chunk in chunks_of(connection, statement, _CHUNK):
                yield from chunk


def _has(verdict: Verdict) -> ColumnElement[bool]:
    results, metrics = schema.results.c, schema.run_metrics.c
    plain = {"ok": OK, "not_applicable": NOT_APPLICABLE, "error": ERROR}
    if verdict in plain:
        return results.status == plain[verdict]
    if verdict != "failed":
        raise ValueError(f"{verdict!r} is no status of a result; allowed: {', '.join(VERDICTS)}")
    # A descriptive metric (direction "none") and one without a threshold have no `passed`, so nothing fails.
    return or_(
        and_(metrics.direction == "higher", results.score < metrics.threshold),
        and_(metrics.direction == "lower", results.score >= metrics.threshold),
    )


def _stored_sample(row: Any) -> StoredSample:
    ordinal, sample_id, task, trial, cluster, task_hashes, tags, slices, record = row
    return StoredSample(
        ordinal,
        from_column(sample_id),
        from_column(task),
        trial,
        optional(cluster, from_column),
        loads(task_hashes),
        None if tags is None else loads(tags),
        None if slices is None else loads(slices),
        None if record is None else loads(record),
    )
