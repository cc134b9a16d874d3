"""What results and runs cost: from the recorded calls they used, computed when it is asked for.

A call is charged to its first user in the run, in the order of rows and metrics; the others count it as shared. So the results' usage adds up
to the run's, whatever finished first. Sums do not depend on the order of their parts, so that a replay gives the same digits.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, Self, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select

from measurand.core.result import CallUsage
from measurand.run.store import schema
from measurand.run.store.columns import chunks_of
from measurand.run.store.delete import numbers
from measurand.run.store.plain_text import from_column, to_column
from measurand.run.store.strict_json import loads
from measurand.run.store.values import OF_THE_RUN, CallTotals, ServedModel, StoredCall, Use

T = TypeVar("T")

_calls: Final = schema.calls.c
_uses: Final = schema.run_calls.c
_CHUNK: Final = 2_000
_COUNTED: Final = or_(_uses.metric >= 0, _uses.ordinal < 0)
"""Not the calls of results that were given up."""


class Charge(NamedTuple):
    """One use of a call. `first`: it is charged to this user."""

    use: Use
    model: str
    usage: dict[str, Any]
    first: bool


def uses_calls(connection: Connection, run: int) -> bool:
    """Whether anything is recorded as used by the run."""
    return connection.execute(select(_uses.call).where(_uses.run == run).limit(1)).first() is not None


def usage_of(connection: Connection, run: int, ordinals: Iterable[int]) -> dict[Use, CallUsage]:
    """The usage of the results of some rows that used calls; of the others there is none."""
    wanted = set(ordinals)
    own = _charges(connection, run, _uses.metric >= 0, _uses.ordinal.in_(numbers(sorted(wanted))))
    extra = (charge for charge in _of_the_run(connection, run) if charge.use[0] in wanted)
    return _added((charge.use, charge) for charge in chain(own, extra))


def usage_by_metric(connection: Connection, run: int) -> dict[int, CallUsage]:
    """What is charged to the results of each metric; -1: what no result is charged with (a probe in a run without any)."""
    found = _added((charge.use[1], charge) for charge in chain(_charges(connection, run, _uses.metric >= 0), _of_the_run(connection, run)))
    return {metric: found[metric] for metric in sorted(found)}


def totals(connection: Connection, run: int, *, paid: bool = False) -> CallTotals:
    """All calls that the run used; with `paid` all that it made, also those whose results were given up."""
    used = select(_uses.call).where(_uses.run == run, _COUNTED)
    statement = select(_calls.usage, _calls.run).where(_calls.run == run if paid else _calls.call.in_(used))
    calls = cached = unreported = read = written = 0
    costs: list[float | None] = []
    for usage, payer in _rows(connection, statement):
        one = loads(usage)
        number = one.get("calls", 1)
        calls += number
        cached += number if payer != run else 0
        unreported += 0 if one.get("reported") else number
        read += one.get("input_tokens", 0)
        written += one.get("output_tokens", 0)
        costs.append(one.get("cost_usd"))
    return CallTotals(calls=calls, cached_calls=cached, unreported_calls=unreported, input_tokens=read, output_tokens=written, cost_usd=_cost(costs))


def imported_calls(connection: Connection, run: int) -> int:
    """How many of the calls that the run used were imported."""
    used = select(_uses.call).where(_uses.run == run, _COUNTED)
    return connection.execute(select(func.count()).select_from(schema.calls).where(_calls.imported == 1, _calls.call.in_(used))).scalar_one()


def served_models(connection: Connection, run: int) -> list[ServedModel]:
    """What answered in a run, by the names that servers give their models, most calls first."""
    used = select(_uses.call).where(_uses.run == run, _COUNTED)
    number = func.count().label("number")
    statement = select(_calls.model, _calls.served, number).where(_calls.call.in_(used), _calls.served.is_not(None)).group_by(_calls.model, _calls.served)
    found = [(from_column(model), loads(served), count) for model, served, count in connection.execute(statement)]
    models = [ServedModel(model, served.get("model"), served.get("fingerprint"), count) for model, served, count in found]
    return sorted(models, key=lambda one: (one.model, -one.calls, one.name or "", one.fingerprint or ""))


def calls_of_row(connection: Connection, run: int, ordinal: int) -> list[StoredCall]:
    """The calls that the results of one row used, in the order they were made."""
    used: dict[int, list[Use]] = {}
    for call, metric in connection.execute(select(_uses.call, _uses.metric).where(_uses.run == run, _uses.ordinal == ordinal).order_by(_uses.metric)):
        if metric >= 0:
            used.setdefault(call, []).append((ordinal, metric))
    return [
        _stored(row, run, used[row.call]) for row in connection.execute(select(schema.calls).where(_calls.call.in_(numbers(list(used)))).order_by(_calls.call))
    ]


def calls_of_run(connection: Connection, run: int, *, by_first_use: bool) -> Iterator[StoredCall]:
    """Every call of a run with all its users, in the order they were made, or by first use; also those of results that were given up."""
    order = (_uses.ordinal, _uses.metric, _uses.call) if by_first_use else (_uses.call,)
    statement = select(schema.calls).join(schema.run_calls, _uses.call == _calls.call).where(_uses.run == run, ~_earlier()).order_by(*order)
    for chunk in chunks_of(connection, statement, _CHUNK):
        users: dict[int, list[Use]] = {row.call: [] for row in chunk}
        of_these = (
            select(_uses.call, _uses.ordinal, _uses.metric).where(_uses.run == run, _uses.call.in_(numbers(list(users)))).order_by(_uses.ordinal, _uses.metric)
        )
        for call, ordinal, metric in connection.execute(of_these):
            users[call].append((ordinal, metric))
        for row in chunk:
            yield _stored(row, run, users[row.call])


def _stored(row: Row[Any], run: int, uses: Sequence[Use]) -> StoredCall:
    return StoredCall(
        kind=row.kind,
        model=from_column(row.model),
        status=row.status,
        request=None if row.request is None else loads(row.request),
        reply=None if row.reply is None else loads(row.reply),
        usage=loads(row.usage),
        served=None if row.served is None else loads(row.served),
        key=row.key,
        imported=bool(row.imported),
        recorded_at=row.recorded_at,
        paid=row.run == run,
        uses=tuple(uses),
    )


def _charges(connection: Connection, run: int, *where: ColumnElement[bool]) -> Iterator[Charge]:
    statement = (
        select(_uses.ordinal, _uses.metric, _calls.model, _calls.usage, ~_earlier(counted=True))
        .join(schema.calls, _calls.call == _uses.call)
        .where(_uses.run == run, *where)
    )
    for ordinal, metric, model, usage, first in _rows(connection, statement):
        yield Charge((ordinal, metric), from_column(model), loads(usage), bool(first))


def _earlier(*, counted: bool = False) -> ColumnElement[bool]:
    """Whether the run has an earlier user of the same call. A call of the whole run is charged by `_of_the_run`, so such a use is no earlier one."""
    other = schema.run_calls.alias()
    before = or_(other.c.ordinal < _uses.ordinal, and_(other.c.ordinal == _uses.ordinal, other.c.metric < _uses.metric))
    where = [other.c.call == _uses.call, other.c.run == _uses.run, before]
    if counted:
        where += [other.c.metric >= 0]
    return select(other.c.call).where(*where).exists()


def _of_the_run(connection: Connection, run: int) -> list[Charge]:
    """The calls that serve the whole run, charged to the first result that asked the same model, else to the first that asked any."""
    charges = []
    for one in list(_charges(connection, run, _uses.ordinal < 0)):
        use = _first_use(connection, run, _calls.model == to_column(one.model)) or _first_use(connection, run) or OF_THE_RUN
        charges.append(Charge(use, one.model, one.usage, True))
    return charges


def _first_use(connection: Connection, run: int, *where: ColumnElement[bool]) -> Use | None:
    statement = select(_uses.ordinal, _uses.metric).join(schema.calls, _calls.call == _uses.call).where(_uses.run == run, _uses.metric >= 0, *where)
    found = connection.execute(statement.order_by(_uses.ordinal, _uses.metric).limit(1)).first()
    return None if found is None else (found[0], found[1])


class _Tally:
    """Adds up charges; numbers are kept, as their exact sum needs them all, but not the calls."""

    def __init__(self) -> None:
        self._calls = self._shared = self._input = self._output = 0
        self._costs: array[float] = array("d")
        self._latencies: array[float] = array("d")
        self._priced = True

    def add(self, charge: Charge) -> Self:
        if not charge.first:
            self._shared += 1
            return self
        one = charge.usage
        self._calls += one.get("calls", 1)
        self._input += one.get("input_tokens", 0)
        self._output += one.get("output_tokens", 0)
        self._latencies.append(one.get("latency_s") or 0.0)
        cost = one.get("cost_usd")
        if cost is None:
            self._priced = False
        else:
            self._costs.append(cost)
        return self

    @property
    def usage(self) -> CallUsage:
        cost = math.fsum(self._costs) if self._priced else None
        return CallUsage(self._calls, self._shared, self._input, self._output, cost, math.fsum(self._latencies))


def _added(charges: Iterable[tuple[T, Charge]]) -> dict[T, CallUsage]:
    tallies: dict[T, _Tally] = {}
    for whom, charge in charges:
        tallies.setdefault(whom, _Tally()).add(charge)
    return {whom: tally.usage for whom, tally in tallies.items()}


def _cost(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None


def _rows(connection: Connection, statement: Select[Any]) -> Iterator[Any]:
    for chunk in chunks_of(connection, statement, _CHUNK):
        yield from chunk
