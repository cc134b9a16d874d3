"""The recorded calls of a store as a whole: how many there are, what no run uses, calls from elsewhere. All inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen
from sqlalchemy import Connection, func, select

from measurand.run.store import schema
from measurand.run.store.calls import call_row, insert_calls
from measurand.run.store.driver import Driver, in_groups
from measurand.run.store.plain_text import from_column
from measurand.run.store.values import NewCall

_calls = schema.calls.c
_UNUSED = ~select(schema.run_calls.c.call).where(schema.run_calls.c.call == _calls.call).exists()


@frozen
class CallGroup:
    """Recorded calls of one model, kind and status."""

    model: str
    kind: str
    status: str
    imported: bool
    calls: int
    unused: int
    """Of those, used by no run."""
    bytes: int
    """Of requests and replies."""


@frozen
class Imported:
    """What an import did."""

    calls: int
    """Taken in."""
    known: int
    """Left out, as the store has a complete reply of its own, or the same one."""


def call_groups(connection: Connection) -> list[CallGroup]:
    """What is recorded, by model, kind, status and origin."""
    driver = Driver(connection)
    size = " + ".join(driver.dialect.bytes_of.format(f"COALESCE({name}, '')") for name in ("request", "reply"))
    unused = "SUM(CASE WHEN EXISTS (SELECT 1 FROM run_calls WHERE run_calls.call = calls.call) THEN 0 ELSE 1 END)"
    by = "model, kind, status, imported"
    found = driver.rows(f"SELECT {by}, COUNT(*), {unused}, SUM({size}) FROM calls GROUP BY {by} ORDER BY {by}")  # noqa: S608  # our own names
    return [CallGroup(from_column(row[0]), row[1], row[2], bool(row[3]), *map(int, row[4:])) for row in found]


def prune(connection: Connection, before: str | None, *, dry_run: bool) -> int:
    """Remove the calls that no run uses; with `before` (a moment in UTC) only those recorded earlier. How many."""
    doomed = [_UNUSED, *([] if before is None else [_calls.recorded_at < before])]
    count: int = connection.execute(select(func.count()).select_from(schema.calls).where(*doomed)).scalar_one()
    if count and not dry_run:
        connection.execute(schema.calls.delete().where(*doomed))
    return count


def import_calls(connection: Connection, calls: Iterable[tuple[str, NewCall]]) -> Imported:
    """Take in calls from elsewhere. What is recorded stays the newest of its key where it is complete."""
    driver = Driver(connection)
    newest = driver.rows("SELECT COALESCE(MAX(call), 0) FROM calls")[0][0]
    taken = known = 0
    for some in in_groups(calls):
        rows = [call_row(key, call, run=None, imported=True) for key, call in some]
        complete, replies = _there(driver, [row.key for row in rows], newest)
        new = [row for row in rows if row.key not in complete and (row.key, row.status, row.reply) not in replies]
        insert_calls(driver, new)
        taken += len(new)
        known += len(rows) - len(new)
    return Imported(taken, known)


def _there(driver: Driver, keys: Sequence[str], newest: int) -> tuple[set[str], set[tuple[str, str, str]]]:
    """The keys with a complete reply, and all (key, status, reply) that were there before."""
    statement = f"SELECT key, status, reply FROM calls WHERE key IN ({driver.places(len(keys))}) AND reply IS NOT NULL AND call <= {driver.place}"  # noqa: S608
    rows: Iterator[tuple[str, str, str]] = ((key, status, reply) for key, status, reply in driver.rows(statement, (*keys, newest)))
    found = set(rows)
    return {key for key, status, _ in found if status == "ok"}, found
