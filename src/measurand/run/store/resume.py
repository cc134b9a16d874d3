"""An incomplete run is taken up again: rows whose results failed only because a call did are scored anew."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, select

from measurand.run.store import schema
from measurand.run.store.columns import chunks_of
from measurand.run.store.delete import numbers
from measurand.run.store.driver import Driver, in_groups
from measurand.run.store.strict_json import loads
from measurand.run.store.values import ERROR, GIVEN_UP

FAILED_CALLS: Final = frozenset({"rate_limited", "provider_error", "timeout", "invalid_response", "refused", "budget_exceeded", "cache_miss"})
"""The codes of errors that another attempt at a call may not have."""


def give_up_failed(connection: Connection, run: int) -> int:
    """Drop the rows that hold a result whose call failed; how many. Inside `writing`.

    Their replies stay recorded, and good ones are reused. What the row used is still known, so that it goes when the row is deleted.
    """
    failed = _rows_with_failed_calls(connection, run)
    uses = schema.run_calls
    for some in in_groups(failed):
        of_these = uses.c.ordinal.in_(numbers(some))
        found = connection.execute(select(uses.c.ordinal, uses.c.call).where(uses.c.run == run, of_these).distinct()).all()
        connection.execute(uses.delete().where(uses.c.run == run, of_these))
        Driver(connection).insert("run_calls", [(run, ordinal, GIVEN_UP, call) for ordinal, call in found])
        for table in (schema.results, schema.contents, schema.samples):
            connection.execute(table.delete().where(table.c.run == run, table.c.ordinal.in_(numbers(some))))
    return len(failed)


def _rows_with_failed_calls(connection: Connection, run: int) -> list[int]:
    results = schema.results.c
    statement = select(results.ordinal, results.rest).where(results.run == run, results.status == ERROR, results.rest.is_not(None)).order_by(results.ordinal)
    failed: dict[int, None] = {}
    for chunk in chunks_of(connection, statement):
        failed.update({ordinal: None for ordinal, rest in chunk if loads(rest).get("error", {}).get("code") in FAILED_CALLS})
    return list(failed)
