"""Removal: whole runs, one row everywhere, and every recorded call that nothing else uses. All inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from sqlalchemy import BindParameter, ColumnElement, Connection, Table, bindparam, func, select, tuple_

from measurand.run.store import schema
from measurand.run.store.plain_text import to_column
from measurand.run.store.values import Deleted

Doomed: TypeAlias = Callable[[Table], ColumnElement[bool]]
"""Which rows of a table are to go."""


def delete_runs(connection: Connection, keys: Sequence[int], *, dry_run: bool) -> Deleted:
    """Remove runs with all that is theirs."""

    def doomed(table: Table) -> ColumnElement[bool]:
        return table.c.run.in_(numbers(keys))

    counts = _remove(connection, doomed, runs=len(keys), dry_run=dry_run, paid_by=keys)
    if not dry_run:
        for table in (schema.run_metrics, schema.runs):
            connection.execute(table.delete().where(doomed(table)))
    return counts


def delete_row(connection: Connection, sample_id: str, *, dry_run: bool) -> Deleted:
    """Remove the row of this id from every run; the runs count it in `removed_rows`."""
    samples = schema.samples.c
    places = select(samples.run, samples.ordinal).where(samples.id == to_column(sample_id))

    def doomed(table: Table) -> ColumnElement[bool]:
        return samples.id == to_column(sample_id) if table is schema.samples else tuple_(table.c.run, table.c.ordinal).in_(places)

    keys = [row[0] for row in connection.execute(places.with_only_columns(samples.run).distinct())]
    if keys and not dry_run:
        for key in keys:
            connection.execute(schema.runs.update().where(schema.runs.c.run == key).values(removed_rows=schema.runs.c.removed_rows + 1))
    return _remove(connection, doomed, runs=len(keys), dry_run=dry_run)


def _remove(connection: Connection, doomed: Doomed, *, runs: int, dry_run: bool, paid_by: Sequence[int] = ()) -> Deleted:
    calls = _calls_nothing_else_uses(connection, doomed, paid_by)
    counts = Deleted(runs, _count(connection, schema.samples, doomed), _count(connection, schema.results, doomed), len(calls))
    if not dry_run:
        if calls:
            connection.execute(schema.calls.delete().where(schema.calls.c.call.in_(numbers(calls))))
        for table in schema.OF_A_ROW:
            connection.execute(table.delete().where(doomed(table)))
    return counts


def _calls_nothing_else_uses(connection: Connection, doomed: Doomed, paid_by: Sequence[int]) -> list[int]:
    """The calls that only what is doomed used; and those that a doomed run made and nothing uses, such as one in flight when it was killed."""
    used, calls = schema.run_calls, schema.calls
    elsewhere = used.alias()
    used_elsewhere = ~doomed(elsewhere)  # type: ignore[arg-type]  # an alias has the same columns
    statement = select(used.c.call).where(doomed(used), ~select(elsewhere.c.call).where(elsewhere.c.call == used.c.call, used_elsewhere).exists())
    found = set(connection.execute(statement).scalars())
    if paid_by:
        users = select(elsewhere.c.call).where(elsewhere.c.call == calls.c.call, used_elsewhere)
        found |= set(connection.execute(select(calls.c.call).where(calls.c.run.in_(numbers(paid_by)), ~users.exists())).scalars())
    return sorted(found)


def numbers(keys: Sequence[int]) -> BindParameter[Any]:
    """Some numbers for `IN`."""
    # Written into the statement: databases bound the number of parameters, not that of numbers.
    return bindparam("keys", list(keys), expanding=True, literal_execute=True)


def _count(connection: Connection, table: Table, doomed: Doomed) -> int:
    return connection.execute(select(func.count()).select_from(table).where(doomed(table))).scalar_one()
