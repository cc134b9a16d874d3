"""Recorded calls in the database: found by key, inserted, linked to who used them. All inside the caller's transaction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sqlalchemy import Connection, select

from measurand.run.store import schema
from measurand.run.store.driver import Driver, in_groups
from measurand.run.store.plain_text import to_column
from measurand.run.store.strict_json import dumps, escape_surrogates, loads
from measurand.run.store.values import NewCall, Recorded

Mode: TypeAlias = Literal["cache", "live", "replay"]
MODES: Final[tuple[Mode, ...]] = ("cache", "live", "replay")

_LATEST: Final = 200
_COUNTED: Final = 100
_ENOUGH: Final = 20
_LONG: Final = 500_000  # characters that are counted in a few milliseconds
_LOOKED_AT: Final = 5_000
_READ: Final = 500  # those that are no request of their own among them
_COLUMNS: Final = ("call", "key", "kind", "model", "status", "request", "reply", "usage", "served", "run", "imported", "recorded_at")


class CallRow(NamedTuple):
    """A call as the table takes it, without its number."""

    key: str
    kind: str
    model: str
    status: str
    request: str | None
    reply: str | None
    usage: str
    served: str | None
    run: int | None
    imported: int
    recorded_at: str


class Reusable(NamedTuple):
    """Which records answer a claim."""

    only_ok: bool
    imported: bool
    run: int | None = None
    """Only those that this run made."""

    @classmethod
    def by(cls, mode: Mode, run: int | None, *, trust_imported: bool) -> Reusable:
        """What a mode may reuse."""
        if mode == "replay":
            return cls(only_ok=False, imported=True)
        if mode == "live":
            return cls(only_ok=True, imported=False, run=-1 if run is None else run)
        return cls(only_ok=True, imported=trust_imported)


def call_row(key: str, call: NewCall, *, run: int | None, imported: bool = False, keep_texts: bool = True, recorded_at: str | None = None) -> CallRow:
    """A call for the table. `keep_texts` False: neither what was asked nor what was answered, but for facts about a model. ValueError for what is no JSON."""
    about_a_model = call.kind in ("probe", "learned")
    return CallRow(
        key,
        call.kind,
        to_column(call.model),
        call.status,
        _text(call.request) if keep_texts or about_a_model else None,
        _text(call.reply) if keep_texts or about_a_model else None,
        _text(call.usage) or "{}",
        _text(call.served),
        run,
        int(imported),
        recorded_at or datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _text(value: dict[str, Any] | None) -> str | None:
    if value is None:
        return None
    text = dumps(value)
    return text if text.isascii() else escape_surrogates(text)


def insert_calls(driver: Driver, rows: Sequence[CallRow]) -> list[int]:
    """Insert calls; their numbers, in order. Inside `begin_calls`."""
    if not rows:
        return []
    numbers = driver.dialect.new_calls(driver, len(rows))
    driver.insert(f"calls ({', '.join(_COLUMNS)})", [(number, *row) for number, row in zip(numbers, rows, strict=True)])
    return numbers


def link_calls(driver: Driver, links: Sequence[tuple[int, int, int, int]]) -> None:
    """Say who used which call: (run, ordinal, metric, call); one said before stays."""
    driver.insert("run_calls", links, "ON CONFLICT DO NOTHING")


def find_calls(driver: Driver, keys: Iterable[str], reusable: Reusable) -> dict[str, Recorded]:
    """The newest record of each key that may be reused."""
    where, fixed = _condition(driver, reusable)
    found: dict[str, tuple[Any, ...]] = {}
    for some in in_groups(keys):
        statement = f"SELECT key, call, status, reply, usage, kind, imported, served FROM calls WHERE key IN ({driver.places(len(some))}){where} ORDER BY call"  # noqa: S608
        for row in driver.rows(statement, (*some, *fixed)):
            found[row[0]] = row
    return {key: _recorded(row) for key, row in found.items()}


def known_keys(driver: Driver, keys: Iterable[str], reusable: Reusable) -> Iterator[str]:
    """Those of the keys that have a record which may be reused."""
    where, fixed = _condition(driver, reusable)
    for some in in_groups(keys):
        statement = f"SELECT DISTINCT key FROM calls WHERE key IN ({driver.places(len(some))}){where}"  # noqa: S608
        yield from (row[0] for row in driver.rows(statement, (*some, *fixed)))


def calls_used(driver: Driver, run: int, keys: Sequence[str]) -> dict[str, int]:
    """The newest call of each key that this run has used or made."""
    place = driver.place
    found: dict[str, int] = {}
    for some in in_groups(keys):
        statement = (
            f"SELECT key, call FROM calls WHERE key IN ({driver.places(len(some))}) "  # noqa: S608
            f"AND (run = {place} OR EXISTS (SELECT 1 FROM run_calls WHERE run_calls.call = calls.call AND run_calls.run = {place})) ORDER BY call"
        )
        found.update((key, call) for key, call in driver.rows(statement, (*some, run, run)))
    return found


def _condition(driver: Driver, reusable: Reusable) -> tuple[str, tuple[int, ...]]:
    words = " AND reply IS NOT NULL"
    if reusable.only_ok:
        words += " AND status = 'ok'"
    if not reusable.imported:
        words += " AND imported = 0"
    if reusable.run is None:
        return words, ()
    return f"{words} AND run = {driver.place}", (reusable.run,)


def _recorded(row: Any) -> Recorded:
    _, call, status, reply, usage, kind, imported, served = row
    return Recorded(call, status, loads(reply), loads(usage), kind, bool(imported), None if served is None else loads(served))


def counted_requests(connection: Connection, model: str) -> list[tuple[dict[str, Any], int]]:
    """(request, input tokens that the server reported) of the last chat calls of a model that were made from here, at most 100 among the store's last 5 000.

    Of questions that went together only the first, which holds what was sent. Long requests are fewer: 20 are enough.
    """
    calls = schema.calls.c
    newest = connection.execute(select(calls.call).order_by(calls.call.desc()).limit(1)).scalar() or 0
    where = (calls.model == to_column(model), calls.kind == "chat", calls.status == "ok", calls.imported == 0, calls.call > newest - _LOOKED_AT)
    found: list[tuple[dict[str, Any], int]] = []
    characters = 0
    statement = select(calls.request, calls.usage).where(*where, calls.request.is_not(None)).order_by(calls.call.desc()).limit(_READ)
    for request, told in connection.execute(statement):
        usage = loads(told)
        if usage.get("reported") and usage.get("calls", 1):
            found.append((loads(request), int(usage["input_tokens"])))
            characters += len(request)
        if len(found) >= _COUNTED or (len(found) >= _ENOUGH and characters > _LONG):
            break
    return found


def mean_latency(connection: Connection, model: str) -> float | None:
    """Mean seconds of the last chat calls of a model that were made from here."""
    calls = schema.calls.c
    where = (calls.model == to_column(model), calls.kind == "chat", calls.status == "ok", calls.imported == 0)
    usages = connection.execute(select(calls.usage).where(*where).order_by(calls.call.desc()).limit(_LATEST)).scalars()
    found = [latency for usage in usages if (latency := loads(usage).get("latency_s"))]
    return math.fsum(found) / len(found) if found else None
