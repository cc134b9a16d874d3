"""Executing metrics that ask: rows are begun in order, several at once, and handed over as they end. Results belong to rows by their ordinal, not by order."""

from __future__ import annotations

import asyncio
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, TypeAlias

from attrs import evolve

from measurand.core.cell import ERROR, OK, EvaluationContext, Outcome, Program
from measurand.core.errors import MeasurandError, RunIncompleteError
from measurand.core.instance import Instance
from measurand.core.result import passed
from measurand.data.dataset import RecordRow
from measurand.run.asking.desk import Desk
from measurand.run.asking.feed import Feed
from measurand.run.loop import in_loop

Scored: TypeAlias = tuple[RecordRow, list[Outcome]]

_LAST_WORDS_S: Final = 2.5
"""How long calls in flight may go on after an interrupt; their replies are kept."""

_ROWS_MORE: Final = 4


class Asking:
    """Scores rows with instances that ask. Iterate over it; `close` it, or exhaust it, to end what is in flight."""

    def __init__(
        self,
        program: Program,
        rows: Iterator[RecordRow],
        make_desk: Callable[[], Desk],
        prepared: Callable[[Desk], None] | None = None,
        *,
        usages: bool = False,
    ) -> None:
        self._program = program
        self._rows = rows
        self._make_desk = make_desk
        self._prepared = prepared
        self._usages = usages
        self._done: queue.SimpleQueue[Scored | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self.desk: Desk | None = None
        self._work = in_loop(self._all())
        self._ended = False

    @property
    def notes(self) -> list[str]:
        """What a user should know of the models, as far as they were asked."""
        return self.desk.notes if self.desk is not None else []

    def next(self, seconds: float) -> Scored | None:
        """The next row that is done, or None when none was within `seconds`. Raises StopIteration at the end, or what ended the run."""
        if self._ended:
            raise StopIteration
        try:
            found = self._done.get(timeout=seconds)
        except queue.Empty:
            return None
        if found is None:
            self._ended = True
            if self._error is not None:
                raise self._error
            raise StopIteration
        return found

    def interrupt(self) -> Iterator[Scored]:
        """Sends nothing more, waits a moment for what is in flight, and gives the rows that ended meanwhile."""
        if self.desk is not None:
            self.desk.stop(RunIncompleteError("interrupted"))
        until = time.monotonic() + _LAST_WORDS_S
        with suppress(StopIteration, MeasurandError):
            while time.monotonic() < until:
                found = self.next(0.1)
                if found is not None:
                    yield found
        self.close()

    def close(self) -> None:
        """Ends everything that is in flight."""
        if not self._work.done():
            self._work.cancel()
            with suppress(BaseException):
                self._work.result(timeout=5)

    async def _all(self) -> None:
        try:
            self.desk = self._make_desk()
            async with self.desk as desk:
                if self._prepared is not None:
                    self._prepared(desk)
                await self._rows_of(desk)
        except BaseException as error:  # noqa: BLE001  # it is raised where the rows are read
            self._error = error
        finally:
            self._done.put(None)

    async def _rows_of(self, desk: Desk) -> None:
        feed = Feed(self._rows)
        under_way: set[asyncio.Task[None]] = set()
        try:
            await self._begin_rows(desk, feed, under_way)
            while under_way:
                await _some_done(under_way)
        finally:
            feed.close()
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
        if desk.gate.ended is not None:
            raise desk.gate.ended
        exceeded = desk.gate.reason()
        if exceeded is not None:
            raise exceeded

    async def _begin_rows(self, desk: Desk, feed: Feed[RecordRow], under_way: set[asyncio.Task[None]]) -> None:
        """Begins rows in their order, a few more at once than there are places, so that no place is ever empty."""
        alone = sum(one.ask != "together" for one in desk.instances.values())
        of_a_row = alone + (alone < len(desk.instances))  # requests that a row has under way at once, at least
        window = min(desk.at_once, -(-2 * desk.at_once // of_a_row)) + _ROWS_MORE
        try:
            while not desk.gate.closed and (row := await feed.next()) is not None:
                under_way.add(asyncio.create_task(self._row(desk, row)))
                while len(under_way) >= window:
                    await _some_done(under_way)
        except MeasurandError as error:  # the rows are not those that were planned
            desk.stop(error)

    async def _row(self, desk: Desk, row: RecordRow) -> None:
        record = row.record
        at_desk = desk.row(row.ordinal, record.fields)
        try:
            values = self._program.read(record.fields)
            outcomes: list[Any] = self._program.computed(values)
            asking = self._program.asking
            context = EvaluationContext(record.fields, record.id, record.task, record.trial)
            for index in asking:
                if desk.instances[index].ask == "together":
                    at_desk.waves.begin()

            async def cell(index: int) -> Outcome:
                one = desk.instances[index]
                try:
                    outcome = await self._program.ask(index, values, evolve(context, answer=at_desk.answering(index, one)))
                finally:
                    if one.ask == "together":
                        at_desk.waves.end()
                if _is_explained(one, outcome):
                    await at_desk.explain(index, one)
                return outcome

            found = await asyncio.gather(*(cell(index) for index in asking), return_exceptions=True)
            for index, outcome in zip(asking, found, strict=True):
                if isinstance(outcome, BaseException):
                    if isinstance(outcome, MeasurandError):
                        desk.stop(outcome)
                        return
                    raise outcome
                outcomes[index] = _kept(outcome, at_desk.kept(index))
                if self._usages:  # where nothing is stored from which it could be computed
                    status, score, rest = outcomes[index]
                    outcomes[index] = status, score, {**(rest or {}), "usage": desk.tally.usage_of((row.ordinal, index))}
            self._done.put((row, outcomes))
        finally:
            at_desk.close()


def _is_explained(one: Instance, outcome: Outcome) -> bool:
    """Whether a reason is asked for this outcome."""
    status, score, _ = outcome
    if one.explain == "off" or not one.judge or status != OK:
        return False
    return one.explain == "all" or passed(score, one.threshold, one.metric.direction) is False


async def _some_done(tasks: set[asyncio.Task[None]]) -> None:
    """Waits for at least one and takes it out; raises what a row raised that is no cell's error."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    tasks -= done
    for task in done:
        task.result()


def _kept(outcome: Outcome, kept: dict[str, Any]) -> Outcome:
    """The outcome with what its judges' answers add."""
    if not kept:
        return outcome
    status, score, rest = outcome
    more = dict(rest or {})
    if "draws" in kept and status != ERROR:
        more["draws"] = kept["draws"]
    if "details" in kept:
        more["details"] = {**more.get("details", {}), **kept["details"]}
    return status, score, more or None
