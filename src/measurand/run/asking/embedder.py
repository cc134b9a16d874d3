"""One embedding model as the cells of a run ask it: texts of many rows in one request, each text recorded by itself, none asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import define, field, frozen

from measurand.core.errors import CellError
from measurand.core.exchange import TokenUsage
from measurand.run.asking.books import Books
from measurand.run.asking.budget import Amount, Budget
from measurand.run.asking.call_key import call_key
from measurand.run.asking.failures import error_of
from measurand.run.asking.gate import Gate
from measurand.run.asking.sharing import Sharing
from measurand.run.record_json import served_json, usage_json, vector_json, vector_of
from measurand.run.store.values import NewCall, Use
from measurand.runtime.embedding import Embedding
from measurand.runtime.prices import Price, cost
from measurand.runtime.tokens import estimate

_GATHER_S: Final = 0.005
"""How long the first text of a batch waits for others."""


@frozen(eq=False)
class _Waiting:
    text: str
    key: str
    use: Use
    vector: asyncio.Future[Any]


@define(eq=False)
class Embedder:
    """One embedding model of a run."""

    name: str
    model: Embedding
    books: Books
    budget: Budget
    gate: Gate
    sharing: Sharing
    price: Price | None
    _batch: list[_Waiting] = field(factory=list)
    _tasks: set[asyncio.Task[None]] = field(factory=set)

    async def vectors(self, texts: Sequence[str], use: Use) -> list[list[float]]:
        """One vector a text, in order. Raises a `CellError`, or what ends the run."""
        found = await asyncio.gather(*(self._vector(text, use) for text in texts), return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException):
                raise one
        return [one for one in found if not isinstance(one, BaseException)]

    async def _vector(self, text: str, use: Use) -> list[float]:
        key = call_key("embedding", self.model.identity, text)
        vector: list[float] = await self.sharing.once(key, use, lambda: self._fetched(text, key, use), lambda: self.books.share(key, use))
        return vector

    async def _fetched(self, text: str, key: str, use: Use) -> list[float]:
        recorded = await self.books.find(key, use)
        if recorded is not None:
            if "error" in recorded.reply:
                raise error_of(recorded.reply["error"])
            return _numbers(recorded.reply)
        waiting = _Waiting(text, key, use, asyncio.get_running_loop().create_future())
        try:
            self._join(waiting)
            found: list[float] = await waiting.vector
            return found
        except BaseException:
            await self.books.give_back(key)
            raise

    def _join(self, waiting: _Waiting) -> None:
        self._batch.append(waiting)
        if len(self._batch) >= self.model.batch_size:
            self._send()
        elif len(self._batch) == 1:
            asyncio.get_running_loop().call_later(_GATHER_S, self._send)

    def _send(self) -> None:
        batch, self._batch = self._batch, []
        if batch:
            task = asyncio.get_running_loop().create_task(self._answered(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answered(self, batch: list[_Waiting]) -> None:
        try:
            await self._paid(batch)
        except CellError as fault:
            if fault.code != "budget_exceeded":
                unpaid = [usage_json(TokenUsage(0, 0), 0.0, 0.0, int(place == 0)) for place in range(len(batch))]
                await asyncio.gather(*(self._record(one, fault, usage, None) for one, usage in zip(batch, unpaid, strict=True)))
            for one in batch:
                _fail(one, fault)
        except BaseException as error:  # noqa: BLE001  # whatever it is, those who wait are told
            for one in batch:
                _fail(one, error)

    async def _paid(self, batch: list[_Waiting]) -> None:
        self.gate.check()
        sizes = [estimate(one.text) for one in batch]
        usd = 0.0 if self.price is None else sum(sizes) * self.price.input / 1e6
        most = Amount(1, sum(sizes), usd)
        await self.gate.within(self.budget, most)
        actual = Amount(calls=1)
        try:
            answered = await self.model.embed([one.text for one in batch], order=batch[0].use)
            paid = None if self.price is None else cost(self.price, answered.usage)
            actual = Amount(1, answered.usage.input_tokens, paid or 0.0)
            self.books.tally.paid(answered.usage, paid)
        finally:
            await self.budget.settle(most, actual)
        parts = _parts(answered.usage.input_tokens, sizes)
        usages = []
        for place, tokens in enumerate(parts):
            share = TokenUsage(tokens, 0, 0, answered.usage.reported)
            paid_share = None if self.price is None else cost(self.price, share)
            usages.append(usage_json(share, round(answered.latency_s, 6) if place == 0 else 0.0, paid_share, int(place == 0)))
        await asyncio.gather(*(self._record(one, vector, usage, answered.model) for one, vector, usage in zip(batch, answered.vectors, usages, strict=True)))
        for one, vector in zip(batch, answered.vectors, strict=True):
            if isinstance(vector, CellError):
                _fail(one, vector)
            elif not one.vector.done():
                one.vector.set_result(_numbers(vector_json(vector)))

    async def _record(self, one: _Waiting, vector: Any, usage: dict[str, Any], served: str | None) -> None:
        failed = isinstance(vector, CellError)
        reply = {"error": {"code": vector.code, "message": vector.message}} if failed else vector_json(vector)
        call = NewCall(
            kind="embedding",
            model=self.model.settings.model,
            status="fault" if failed else "ok",
            request={"text": one.text},
            reply=reply,
            usage=usage,
            served=served_json(served),
        )
        await self.books.keep(one.key, call, one.use)


def _numbers(reply: Mapping[str, Any]) -> list[float]:
    """A recorded vector as a metric takes it."""
    return [float(number) for number in vector_of(reply)]


def _parts(whole: int, sizes: Sequence[int]) -> list[int]:
    """A batch's tokens, divided among its texts by their estimated sizes; the sum is the whole."""
    total = sum(sizes) or 1
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return [whole * ends[place + 1] // total - whole * ends[place] // total for place in range(len(sizes))]


def _fail(one: _Waiting, error: BaseException) -> None:
    if not one.vector.done():
        one.vector.set_exception(error if isinstance(error, Exception) else CellError("the call was ended"))
