"""`ask = "together"`: every metric of a row is driven to its next request, then all pending requests of one visibility class go as one.

Two classes, so that no question sees a reference that it should not: metrics that name a reference field, and those that do not. What is recorded is
each question's own answer, under a key with the hash of the class's questions: another selection of metrics is another context for every question.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from measurand.core.errors import CellError, InvalidResponseError, RefusedError
from measurand.core.exchange import Completion, TokenUsage
from measurand.core.instance import Instance
from measurand.core.request import Ask, Request, Verdict
from measurand.judge import Exchange, Reply, Row, Unreadable, asked, is_reference, together
from measurand.judge.ask import mean
from measurand.run.asking.call_key import call_key
from measurand.run.asking.failures import UnreadError, error_of
from measurand.run.asking.panel import asked_of
from measurand.run.record_json import request_json
from measurand.run.store.values import CallStatus
from measurand.runtime.tokens import estimate

if TYPE_CHECKING:
    from measurand.run.asking.caller import Caller
    from measurand.run.asking.desk import Desk


@frozen(eq=False)
class _Pending:
    request: Request[Any]
    index: int
    draw: int
    key: str
    told: dict[str, Any]
    answer: asyncio.Future[Any]


class Waves:
    """The waves of one row. `begin` and `end` say which metrics are under way, so that a wave knows when it is whole."""

    def __init__(self, desk: Desk, row: Row, ordinal: int) -> None:
        self._desk = desk
        self._row = row
        self._ordinal = ordinal
        self._under_way = 0
        self._pending: dict[tuple[str, str], list[_Pending]] = {}
        self._awaited: list[list[asyncio.Future[Any]]] = []
        self._sent: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        """One metric more is under way."""
        self._under_way += 1

    def end(self) -> None:
        """A metric is done; the others may be waiting for it."""
        self._under_way -= 1
        self._fire()

    async def replies(self, request: Request[Any], index: int, one: Instance) -> list[Reply | BaseException]:
        """Each judge's answer to one metric's next request, or why there is none, once the wave that holds it is answered."""
        draws = range(one.draws if isinstance(request, Ask) else 1)
        of_judges = [[self._put(request, index, one, judge, draw) for draw in draws] for judge in asked_of(one, request)]
        awaited = [answer for answers in of_judges for answer in answers]
        self._awaited.append(awaited)
        self._fire()
        try:
            await asyncio.wait(awaited)
        finally:
            self._awaited.remove(awaited)
        return [_reply(request, answers) for answers in of_judges]

    def _put(self, request: Request[Any], index: int, one: Instance, judge: str, draw: int) -> asyncio.Future[Any]:
        kind = class_of(one)
        caller = self._desk.callers[judge]
        alone = asked(request, self._row, evolve(caller.ways, single="sampled", items="sampled"), draws=1, max_input_tokens=None, count=estimate)
        told = {**request_json(alone.parts[0].request), "together": self._desk.class_hashes[kind]}
        if draw:
            told["draw"] = draw
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        key = call_key("chat", caller.model.identity, told)
        self._pending.setdefault((judge, kind), []).append(_Pending(request, index, draw, key, told, answer))
        return answer

    def _fire(self) -> None:
        waiting = sum(not all(one.done() for one in answers) for answers in self._awaited)  # who is answered and not awake yet may ask more
        if waiting < self._under_way or not self._pending:
            return
        waves, self._pending = self._pending, {}
        for (judge, _), pending in waves.items():
            for draw in sorted({one.draw for one in pending}):
                task = asyncio.get_running_loop().create_task(self._wave(self._desk.callers[judge], [one for one in pending if one.draw == draw], draw))
                self._sent.add(task)
                task.add_done_callback(self._sent.discard)

    async def _wave(self, caller: Caller, pending: list[_Pending], draw: int) -> None:
        """Answers every question of the wave, then asks once more what could not be read, and nothing else."""
        try:
            unread = await self._answered(caller, _by_key(pending), draw)
            if unread:
                again = [evolve(one, **_repair(caller, one, str(found))) for group, found in unread for one in group]
                for group, found in await self._answered(caller, _by_key(again), draw, "; ".join(str(found) for _, found in unread)):
                    said = f"the judge's reply cannot be read, also when asked again: {found}"
                    await self._deliver(caller, group, InvalidResponseError(said, details={"reply": found.reply}))
        except BaseException as error:  # noqa: BLE001  # whatever it is, those who wait are told
            for one in pending:
                if not one.answer.done():
                    one.answer.set_exception(error if isinstance(error, Exception) else InvalidResponseError("the wave was ended"))

    async def _deliver(self, caller: Caller, group: list[_Pending], answer: Any) -> None:
        for one in group[1:]:
            await caller.books.share(one.key, (self._ordinal, one.index))
        for one in group:
            if isinstance(answer, CellError):
                one.answer.set_exception(answer)
            else:
                one.answer.set_result(answer)

    async def _answered(self, caller: Caller, by_key: Mapping[str, list[_Pending]], draw: int, wrong: str = "") -> list[tuple[list[_Pending], UnreadError]]:
        """Answers questions from the record, and all that are not in it in one request; delivers what can be read, and gives what cannot."""
        missing, unread = set(), []
        for key in sorted(by_key):  # in one order for all rows: they wait for each other's keys
            group = by_key[key]
            recorded = await caller.books.find(key, (self._ordinal, group[0].index))
            if recorded is None:
                missing.add(key)
            elif isinstance(found := _of_json(group[0].request, recorded.reply), UnreadError):
                unread.append((group, found))
            else:
                await self._deliver(caller, group, found)
        groups = [group for key, group in by_key.items() if key in missing]
        try:
            return [*unread, *(await self._asked(caller, groups, draw, wrong) if groups else ())]
        finally:
            for key in missing:
                await caller.books.give_back(key)

    async def _asked(self, caller: Caller, groups: list[list[_Pending]], draw: int, wrong: str) -> list[tuple[list[_Pending], UnreadError]]:
        """Sends one request, records each question's own answer, delivers those that can be read, and gives the others."""
        exchange = together([group[0].request for group in groups], self._row, draw=draw)
        if wrong:
            exchange = exchange.repair(wrong)
        try:
            completion = await caller.send(exchange.request, (self._ordinal, groups[0][0].index))
        except CellError as fault:
            if fault.code != "budget_exceeded":
                for group in groups:
                    await caller.books.keep(group[0].key, caller.faulty(group[0].told, fault), (self._ordinal, group[0].index))
                    await self._deliver(caller, group, fault)
            raise
        try:
            readings = exchange.read(completion)
        except (Unreadable, RefusedError) as error:
            readings = [error] * len(groups)
        unread = []
        for place, (group, reading) in enumerate(zip(groups, readings, strict=True)):
            found = UnreadError(str(reading), completion.text) if isinstance(reading, Unreadable) else reading
            await self._record(caller, completion, exchange, group[0], found, place, len(groups))
            if isinstance(found, UnreadError):
                unread.append((group, found))
            else:
                await self._deliver(caller, group, found)
        return unread

    async def _record(self, caller: Caller, completion: Completion, exchange: Exchange, one: _Pending, found: Any, place: int, of: int) -> None:
        call = caller.new_call(
            {**one.told, "sent": request_json(exchange.request)} if place == 0 else one.told,
            _to_json(found),
            completion,
            status=_status(completion, found),
            usage=_share(completion.usage, place, of),
            calls=int(place == 0),
        )
        await caller.books.keep(one.key, call, (self._ordinal, one.index))


def _by_key(pending: list[_Pending]) -> dict[str, list[_Pending]]:
    by_key: dict[str, list[_Pending]] = {}
    for one in pending:
        by_key.setdefault(one.key, []).append(one)
    return by_key


def _repair(caller: Caller, one: _Pending, wrong: str) -> dict[str, Any]:
    """What is different where the question is asked again: a key of its own, so that a replay finds both replies."""
    told = {**one.told, "repair": wrong}
    return {"told": told, "key": call_key("chat", caller.model.identity, told)}


def _status(completion: Completion, found: Any) -> CallStatus:
    if isinstance(found, UnreadError):
        return "truncated" if completion.finish == "length" else "unreadable"
    return "refused" if isinstance(found, CellError) else "ok"


def class_of(one: Instance) -> str:
    """The visibility class of a metric: "reference" when it names a field that holds what was expected."""
    return "reference" if is_reference(parameter.field for parameter in one.metric.parameters) else "subject"


def class_hashes(instances: Mapping[int, Instance]) -> dict[str, str]:
    """For each class, four hex digits over the questions of the metrics that are asked together in it."""
    hashes = {}
    for kind in ("subject", "reference"):
        names = sorted(f"{one.metric.name}|{one.metric.version}" for one in instances.values() if one.ask == "together" and class_of(one) == kind)
        hashes[kind] = hashlib.blake2b("\n".join(names).encode(), digest_size=2).hexdigest()
    return hashes


def _share(usage: TokenUsage, place: int, of: int) -> TokenUsage:
    """A question's part of what a request cost; the first takes what does not divide."""

    def part(whole: int) -> int:
        return whole // of + (whole % of if place == 0 else 0)

    return TokenUsage(part(usage.input_tokens), part(usage.output_tokens), part(usage.cached_tokens), usage.reported)


def _reply(request: Request[Any], answers: Sequence[asyncio.Future[Any]]) -> Reply | BaseException:
    """What one judge said in all its draws; the first draw that failed is why there is nothing."""
    failed = [error for error in [answer.exception() for answer in answers] if error is not None]
    return failed[0] if failed else _combined(request, [answer.result() for answer in answers])


def _combined(request: Request[Any], readings: list[Any]) -> Reply:
    if len(readings) == 1:
        return Reply(readings[0], (_draw(0, readings[0]),) if isinstance(request, Ask) else (), ())
    draws = tuple(_draw(number, reading) for number, reading in enumerate(readings))
    return Reply(mean(readings), draws, ())


def _draw(number: int, reading: Any) -> dict[str, Any]:
    if isinstance(reading, Verdict):
        return {"draw": number, "probabilities": dict(reading.probabilities)}
    return {"draw": number, "values": [one.value for one in reading if isinstance(one, Verdict)]}


def _to_json(found: Any) -> dict[str, Any]:
    """A reading as it is recorded."""
    if isinstance(found, UnreadError):
        return {"error": {"code": "unreadable", "message": str(found), "reply": found.reply}}
    if isinstance(found, CellError):
        return {"error": {"code": found.code, "message": found.message}}
    if isinstance(found, Verdict):
        return {"answer": dict(found.probabilities)}
    return {"answer": [dict(one.probabilities) if isinstance(one, Verdict) else one for one in found]}


def _of_json(request: Request[Any], reply: Mapping[str, Any]) -> Any:
    """The reading that was recorded, or the error it was."""
    if "error" in reply:
        told = reply["error"]
        return UnreadError(told["message"], str(told.get("reply", ""))) if told["code"] == "unreadable" else error_of(told)
    answer = reply["answer"]
    if not isinstance(request, Ask):
        return list(answer)
    return Verdict(request.form, answer) if request.over is None else [Verdict(request.form, one) for one in answer]
