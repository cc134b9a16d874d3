"""One model as the cells of a run ask it: from the record where it may be, else paid for, recorded, and only then used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from measurand.core.errors import CellError, InvalidResponseError, RefusedError
from measurand.core.exchange import Completion, ModelRequest, TokenUsage
from measurand.judge import Exchange, Unreadable, Ways
from measurand.run.asking.books import Books
from measurand.run.asking.budget import REPLY_TOKENS, Amount, Budget
from measurand.run.asking.call_key import call_key
from measurand.run.asking.failures import UnreadError, error_of
from measurand.run.asking.gate import Gate
from measurand.run.asking.sharing import Sharing
from measurand.run.record_json import completion_json, completion_of, request_json, served_json, usage_json
from measurand.run.store.values import CallKind, CallStatus, NewCall, Recorded, Use
from measurand.runtime.model import Model
from measurand.runtime.prices import Price, cost
from measurand.runtime.tokens import estimate_request


@define(eq=False)
class Caller:
    """One judge of a run. `ways` is known once the model is probed."""

    name: str
    model: Model
    books: Books
    budget: Budget
    gate: Gate
    sharing: Sharing
    price: Price | None
    ways: Ways
    _first_of_row: dict[int, asyncio.Future[None]] = field(factory=dict)

    async def answer(self, exchange: Exchange, use: Use, *, ahead: int = 0) -> Any:
        """What the reply says, after one repair at most. Raises a `CellError`, or what ends the run.

        `ahead`: how many rows earlier than its own it is this call's turn; for requests whose replies others wait for.
        """
        try:
            return await self._once(exchange, use, ahead)
        except UnreadError as first:
            try:
                return await self._once(exchange.repair(str(first)), use, ahead)
            except UnreadError as second:
                raise InvalidResponseError(f"the judge's reply cannot be read, also when asked again: {second}", details={"reply": second.reply}) from None

    async def _once(self, exchange: Exchange, use: Use, ahead: int) -> Any:
        told = request_json(exchange.request)
        key = call_key("chat", self.model.identity, told)
        return await self.sharing.once(key, use, lambda: self._fetched(key, told, exchange, use, ahead), lambda: self.books.share(key, use))

    async def _fetched(self, key: str, told: Mapping[str, Any], exchange: Exchange, use: Use, ahead: int) -> Any:
        recorded = await self.books.find(key, use)
        if recorded is not None:
            return _reading(recorded, exchange.read)
        try:
            return await self._paid(key, told, exchange, use, ahead)
        except BaseException:
            await self.books.give_back(key)
            raise

    async def _paid(self, key: str, told: Mapping[str, Any], exchange: Exchange, use: Use, ahead: int) -> Any:
        try:
            completion = await self.send(exchange.request, use, ahead)
        except CellError as fault:
            if fault.code != "budget_exceeded":
                await self.books.keep(key, self.faulty(told, fault), use)
            raise
        status: CallStatus = "ok"
        wrong: Exception | None = None
        reading: Any = None
        try:
            reading = exchange.read(completion)
        except Unreadable as unreadable:
            status, wrong = ("truncated" if completion.finish == "length" else "unreadable"), UnreadError(str(unreadable), completion.text)
        except RefusedError as refused:
            status, wrong = "refused", refused
        await self.books.keep(key, self.new_call(told, completion_json(completion), completion, status=status), use)
        if wrong is not None:
            raise wrong
        return reading

    async def send(self, request: ModelRequest, use: Use, ahead: int = 0) -> Completion:
        """Sends one request that is not recorded, within the budget; settles what it cost."""
        self.gate.check()
        alone = self.model.settings.prefix_cache
        if alone:
            await self._after_first(use[0])
        tally = self.books.tally
        estimated = estimate_request(request) if self.budget.bounded or tally.learning else 0
        most = self._most(request, estimated)
        await self.gate.within(self.budget, most)
        actual = Amount(calls=1)
        try:
            completion = await self.model.complete(request, order=(use[0] - ahead, use[1]))
            paid = cost(self.price, completion.usage) if self.price is not None else 0.0
            actual = Amount(1, completion.usage.input_tokens + completion.usage.output_tokens, paid)
            if estimated:
                tally.compare(estimated, completion.usage)
            tally.paid(completion.usage, None if self.price is None else paid)
            return completion
        finally:
            await self.budget.settle(most, actual)
            if alone:
                self._first_done(use[0])

    def _most(self, request: ModelRequest, estimated: int) -> Amount:
        """The most that the call may cost."""
        sent = round(estimated * self.books.tally.correction)
        received = request.max_tokens or self.model.settings.max_output_tokens or REPLY_TOKENS
        usd = 0.0 if self.price is None else (sent * self.price.input + received * self.price.output) / 1e6
        return Amount(1, sent + received, usd)

    def new_call(
        self,
        told: Mapping[str, Any] | None,
        reply: Mapping[str, Any],
        completion: Completion,
        *,
        status: CallStatus = "ok",
        kind: CallKind = "chat",
        usage: TokenUsage | None = None,
        calls: int = 1,
    ) -> NewCall:
        """A call as it is recorded. `usage` and `calls` where it is a part of one request."""
        part = completion.usage if usage is None else usage
        return NewCall(
            kind=kind,
            model=self.model.settings.model,
            status=status,
            request=None if told is None else dict(told),
            reply=dict(reply),
            usage=usage_json(part, round(completion.latency_s, 6) if calls else 0.0, None if self.price is None else cost(self.price, part), calls),
            served=served_json(completion.model, completion.fingerprint),
        )

    def faulty(self, told: Mapping[str, Any], fault: CellError) -> NewCall:
        """A call without an answer, as it is recorded."""
        return NewCall(
            kind="chat",
            model=self.model.settings.model,
            status="refused" if isinstance(fault, RefusedError) else "fault",
            request=dict(told),
            reply={"error": {"code": fault.code, "message": fault.message}},
            usage=usage_json(TokenUsage(0, 0), 0.0, 0.0),
        )

    async def _after_first(self, ordinal: int) -> None:
        """With a prefix cache the first request of a row goes alone; the others follow its reply and share what it warmed."""
        first = self._first_of_row.get(ordinal)
        if first is None:
            self._first_of_row[ordinal] = asyncio.get_running_loop().create_future()
        else:
            await asyncio.shield(first)

    def _first_done(self, ordinal: int) -> None:
        first = self._first_of_row.get(ordinal)
        if first is not None and not first.done():
            first.set_result(None)

    def row_ended(self, ordinal: int) -> None:
        """Forgets what was kept for the row."""
        self._first_of_row.pop(ordinal, None)


def _reading(recorded: Recorded, read: Callable[[Completion], Any]) -> Any:
    """What a recorded call says; it fails as it failed then."""
    reply = recorded.reply
    if "error" in reply:
        raise error_of(reply["error"])
    completion = completion_of(reply)
    try:
        return read(completion)
    except Unreadable as unreadable:
        raise UnreadError(str(unreadable), completion.text) from None
