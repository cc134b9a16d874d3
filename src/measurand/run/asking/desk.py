"""Everything that one run asks: its models with their limits, the record of calls, the budget. Lives in one event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any, Self

from attrs import evolve

from measurand.config import Settings
from measurand.config.runtimes import WITHOUT_LOGPROBS
from measurand.core.errors import CacheMissError, CellError, MeasurandError, RunIncompleteError
from measurand.core.exchange import TokenUsage
from measurand.core.instance import Instance
from measurand.judge import Probe, probe, ways
from measurand.run.asking.books import Books
from measurand.run.asking.budget import NOTHING, Amount, Budget
from measurand.run.asking.call_key import call_key
from measurand.run.asking.caller import Caller
from measurand.run.asking.embedder import Embedder
from measurand.run.asking.gate import Gate
from measurand.run.asking.row import RowDesk
from measurand.run.asking.sharing import Sharing
from measurand.run.asking.tally import Tally
from measurand.run.asking.waves import class_hashes
from measurand.run.record import Ledger
from measurand.run.record_json import completion_json, completion_of, request_json, usage_json
from measurand.run.store import Store
from measurand.run.store.values import OF_THE_RUN, NewCall
from measurand.runtime.embedding import open_embedding
from measurand.runtime.model import open_model
from measurand.runtime.prices import price_of


class Desk:
    """Answers the requests of a run's metrics. Opened in the event loop that uses it."""

    def __init__(self, settings: Settings, instances: Mapping[int, Instance], store: Store, ledger: Ledger, spent: Amount = NOTHING) -> None:
        run = settings.run
        self._settings = settings
        self._store = store
        self.instances = dict(instances)
        self.mode = run.mode
        self.min_judges = run.min_judges
        self.gate = Gate()
        self.tally = Tally()
        self.books = Books(ledger, self.tally)
        self.budget = Budget(run.budget_usd, run.budget_calls, run.budget_tokens, spent)
        self._sharing = Sharing()
        self.class_hashes = class_hashes(instances)
        self.callers = {name: self._caller(name) for name in dict.fromkeys(name for one in instances.values() for name in one.judge)}
        names = dict.fromkeys(one.embedding for one in instances.values() if one.embedding is not None)
        self.embedders = {name: self._embedder(name) for name in names}

    @property
    def at_once(self) -> int:
        """How many requests may be in flight over all models."""
        every: list[Caller | Embedder] = [*self.callers.values(), *self.embedders.values()]
        return sum(one.model.settings.max_concurrency for one in every)

    @property
    def rows_ahead(self) -> int:
        """How many rows earlier than its own a request is made whose reply others wait for: about as many as are in flight."""
        return self.at_once // 3

    @property
    def notes(self) -> list[str]:
        """What a user should know of the models that were asked: refusals learned, waits that were cut, fewer connections than asked for."""
        every: list[Caller | Embedder] = [*self.callers.values(), *self.embedders.values()]
        return [note for one in every for note in one.model.notes]

    async def __aenter__(self) -> Self:
        try:
            for caller in self.callers.values():
                await self._prepare(caller)
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            for caller in self.callers.values():
                await self._keep_learned(caller)
        finally:
            await self._close()

    async def _close(self) -> None:
        for caller in self.callers.values():
            await caller.model.close()
        for embedder in self.embedders.values():
            await embedder.model.close()

    def row(self, ordinal: int, fields: Mapping[str, Any]) -> RowDesk:
        """Begins a row."""
        return RowDesk(self, ordinal, fields)

    def row_ended(self, ordinal: int) -> None:
        """Forgets what was kept for the row."""
        self._sharing.row_ended(ordinal)
        for caller in self.callers.values():
            caller.row_ended(ordinal)
        self.tally.row_ended(ordinal)

    def stop(self, error: MeasurandError) -> None:
        """Nothing new is sent from now on."""
        self.gate.end(error)

    def _caller(self, name: str) -> Caller:
        settings = self._settings.models[name]
        model = open_model(name, settings, environ=os.environ, resolve=self._settings.resolve)
        return Caller(name, model, self.books, self.budget, self.gate, self._sharing, price_of(settings), ways(settings.p, None))

    def _embedder(self, name: str) -> Embedder:
        settings = self._settings.embeddings[name]
        model = open_embedding(name, settings, environ=os.environ, resolve=self._settings.resolve)
        return Embedder(name, model, self.books, self.budget, self.gate, self._sharing, price_of(settings))

    # ---------------------------------------------------------------- what is learned of a model before it is asked

    async def _prepare(self, caller: Caller) -> None:
        """Takes over what was learned of the model, and finds out where its probabilities come from."""
        if self.mode != "replay":
            learned = await asyncio.to_thread(self._store.recorded, call_key("learned", caller.model.identity, None))
            if learned is not None:
                caller.model.learn(learned.reply)
        settings = caller.model.settings
        alone = any(one.ask != "together" for one in self.instances.values() if caller.name in one.judge)
        known = settings.p == "sampled" or settings.provider in WITHOUT_LOGPROBS or not alone
        found = None if known else await self._probe(caller)
        caller.ways = ways("typed" if settings.provider == "systemone" else settings.p, found)

    async def _probe(self, caller: Caller) -> Probe:
        """What the model can do, from the record where it was asked before."""
        exchange = probe()
        told = request_json(exchange.request)
        key = call_key("probe", caller.model.identity, told)
        try:
            recorded = await self.books.find(key, OF_THE_RUN)
        except CacheMissError as error:
            raise RunIncompleteError(f"[models.{caller.name}] cannot be replayed: {error.message}") from None
        if recorded is not None:
            found: Probe = exchange.read(completion_of(recorded.reply))
            return found
        try:
            completion = await caller.send(exchange.request, OF_THE_RUN)
            await self.books.keep(key, caller.new_call(told, completion_json(completion), completion, kind="probe"), OF_THE_RUN)
        except CellError as error:
            raise self.gate.reason() or RunIncompleteError(f"[models.{caller.name}] did not answer the first request: {error.message}") from None
        finally:
            await self.books.give_back(key)
        answered: Probe = exchange.read(completion)
        return answered

    async def _keep_learned(self, caller: Caller) -> None:
        if self.mode == "replay" or not caller.model.learned:
            return
        key = call_key("learned", caller.model.identity, None)
        known = await asyncio.to_thread(self._store.recorded, key)
        if known is not None and known.reply == caller.model.learned:
            await self.books.ledger.claim(key, OF_THE_RUN)  # so that this run's cassette has it too
        else:
            nothing = usage_json(TokenUsage(0, 0), 0.0, 0.0, 0)
            learned = NewCall(kind="learned", model=caller.model.settings.model, reply=dict(caller.model.learned), usage=nothing)
            await self.books.keep(key, learned, OF_THE_RUN)

    def signed(self) -> dict[int, Instance]:
        """The instances with where their probabilities come from in the signature, now that it is known."""
        return {index: evolve(one, signed=_with_p(one, self.callers)) for index, one in self.instances.items()}


def _with_p(one: Instance, callers: Mapping[str, Caller]) -> tuple[str, ...]:
    """The signature's parts with `p:` after what was set for sampling, as the contract orders them."""
    if not one.judge:
        return one.signed
    found = "+".join(dict.fromkeys(_way(one, callers[name]) for name in one.judge))
    before = [part for part in one.signed if part.startswith(("judge:", "embed:", "t:"))]
    return (*before, f"p:{found}", *(part for part in one.signed if part not in before and not part.startswith("p:")))


def _way(one: Instance, caller: Caller) -> str:
    question = one.metric.judged
    if one.ask == "together":
        return "sampled"
    if question is None:
        return caller.ways.single if caller.ways.single == caller.ways.items else f"{caller.ways.single}/{caller.ways.items}"
    return caller.ways.single if question.fold is None else caller.ways.items
