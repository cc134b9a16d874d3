"""A run's scores, statuses, tasks and clusters as arrays: what the statistics take. One pass, flat memory, 9 bytes a row and metric kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from attrs import frozen
from sqlalchemy import Connection, Select, func, select

from measurand.run.store import schema
from measurand.run.store.values import NOT_STORED, FloatArray, Int8Array, Int32Array, Int64Array, ScoreColumns

CHUNK: Final = 10_000
_BYTES_A_ROW: Final = 9
_BATCH_BYTES: Final = 9_000_000  # 1 000 000 rows of one metric: memory stays what the run itself needs


@frozen(eq=False)
class RowOrder:
    """Which array position an ordinal has. Ordinals without gaps, the usual case, need no array."""

    count: int
    first: int
    ordinals: Int64Array | None

    def positions(self, ordinals: Sequence[int]) -> Int64Array:
        """The positions of some of the run's ordinals."""
        wanted = np.array(ordinals, dtype=np.int64)
        return wanted - self.first if self.ordinals is None else np.searchsorted(self.ordinals, wanted).astype(np.int64)


def row_order(connection: Connection, key: int) -> RowOrder:
    """The order of a run's stored rows."""
    ordinal = schema.samples.c.ordinal
    of_run = schema.samples.c.run == key
    count, first, last = connection.execute(select(func.count(), func.min(ordinal), func.max(ordinal)).where(of_run)).one()
    if count == 0 or last - first + 1 == count:
        return RowOrder(count, first or 0, None)
    return RowOrder(count, first, stored_ordinals(connection, key))


def stored_ordinals(connection: Connection, key: int) -> Int64Array:
    """The ordinals of a run's stored rows, ascending."""
    statement = select(schema.samples.c.ordinal).where(schema.samples.c.run == key).order_by(schema.samples.c.ordinal)
    chunks = [np.array([row[0] for row in chunk], dtype=np.int64) for chunk in chunks_of(connection, statement)]
    return np.concatenate(chunks) if chunks else np.empty(0, dtype=np.int64)


def chunks_of(connection: Connection, statement: Select[Any], size: int = CHUNK) -> Iterator[Sequence[Any]]:
    """The rows of a query in chunks, never all at once."""
    only_here = {"stream_results": True, "yield_per": size}  # not of the connection: other statements on it may write
    with connection.execute(statement, execution_options=only_here) as result:
        yield from result.partitions(size)


def metrics_at_once(rows: int) -> int:
    """How many metrics' columns are read in one pass, so that arrays stay bounded."""
    return max(1, _BATCH_BYTES // (_BYTES_A_ROW * max(rows, 1)))


def read_scores(connection: Connection, key: int, order: RowOrder, metrics: Sequence[int]) -> list[ScoreColumns]:
    """Several metrics' results as arrays, in one pass over the run's results."""
    columns = {metric: _empty(order.count) for metric in metrics}
    table = schema.results.c
    statement = select(table.ordinal, table.metric, table.status, table.score).where(table.run == key).order_by(table.ordinal, table.metric)
    if len(metrics) == 1:
        statement = statement.where(table.metric == metrics[0])
    for chunk in chunks_of(connection, statement):
        _place_chunk(chunk, order, columns)
    return [columns[metric] for metric in metrics]


def _empty(count: int) -> ScoreColumns:
    status: Int8Array = np.full(count, NOT_STORED, dtype=np.int8)
    score: FloatArray = np.full(count, np.nan)
    return ScoreColumns(status, score)


def _place_chunk(chunk: Sequence[Any], order: RowOrder, columns: dict[int, ScoreColumns]) -> None:
    ordinals, metric_of, statuses, scores = zip(*chunk, strict=True)
    positions = order.positions(ordinals)
    owner = np.array(metric_of, dtype=np.int64)
    status = np.array(statuses, dtype=np.int8)
    score = np.array(scores, dtype=np.float64)  # None becomes NaN
    for metric, column in columns.items():
        of_metric = owner == metric
        column.status[positions[of_metric]] = status[of_metric]
        column.score[positions[of_metric]] = score[of_metric]


def task_codes(connection: Connection, key: int, order: RowOrder) -> Int32Array:
    """One number a row, equal where the task is."""
    codes, _ = _codes(connection, key, order, schema.samples.c.task)
    return codes


def cluster_codes(connection: Connection, key: int, order: RowOrder) -> Int32Array | None:
    """One number a row, equal where the cluster is; a row without one is its own cluster. None when no row has one."""
    codes, distinct = _codes(connection, key, order, schema.samples.c.cluster)
    if distinct == 0:
        return None
    alone = codes < 0
    codes[alone] = np.arange(distinct, distinct + int(alone.sum()), dtype=np.int32)
    return codes


def _codes(connection: Connection, key: int, order: RowOrder, column: Any) -> tuple[Int32Array, int]:
    # The database sorts, spilling to disk when it must; a dictionary of a million texts would not.
    statement = select(column, schema.samples.c.ordinal).where(schema.samples.c.run == key, column.is_not(None)).order_by(column)
    codes: Int32Array = np.full(order.count, -1, dtype=np.int32)
    current: str | None = None
    distinct = 0
    for chunk in chunks_of(connection, statement):
        numbers = []
        for text, _ in chunk:
            if text != current:
                current = text
                distinct += 1
            numbers.append(distinct - 1)
        codes[order.positions([row[1] for row in chunk])] = numbers
    return codes, distinct
