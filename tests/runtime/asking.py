"""How these tests ask a model: opened on settings, asked some requests at once, closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from measurand.config.runtimes import ModelSettings
from measurand.core.exchange import ChatMessage, Completion, ModelRequest
from measurand.runtime.model import Model, open_model
from measurand.runtime.patience import Patience

QUICK = Patience(first_s=0.001, longest_s=0.01)
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}


def asks(text: str = "Is it so? Answer yes or no.", **more: Any) -> ModelRequest:
    return ModelRequest((ChatMessage("system", "You judge."), ChatMessage("user", text)), **more)


@frozen
class Outcome:
    """What became of every request, in their order, and the model after them."""

    results: list[Completion | Exception]
    model: Model

    @property
    def completion(self) -> Completion:
        (only,) = self.results
        assert isinstance(only, Completion), only
        return only

    @property
    def error(self) -> Exception:
        (only,) = self.results
        assert isinstance(only, Exception), only
        return only


def ask(
    base_url: str,
    *requests: ModelRequest,
    environ: Mapping[str, str] | None = None,
    patience: Patience = QUICK,
    one_by_one: bool = False,
    before: Callable[[Model], None] | None = None,
    **settings: Any,
) -> Outcome:
    """Asks all requests at once (one by one: in order); an error is a result."""
    table = ModelSettings(**{"provider": "openai", "model": "m", "base_url": base_url, "timeout_seconds": 20.0, **settings})

    async def run() -> Outcome:
        model = open_model("judge", table, environ=environ if environ is not None else {}, resolve=Path, patience=patience)
        if before is not None:
            before(model)
        try:
            return Outcome(await _all(model, requests or (asks(),), one_by_one), model)
        finally:
            await model.close()

    return asyncio.run(run())


async def _all(model: Model, requests: Sequence[ModelRequest], one_by_one: bool) -> list[Completion | Exception]:
    async def one(at: int, request: ModelRequest) -> Completion | Exception:
        try:
            return await model.complete(request, order=(at, 0))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is the outcome
            return error

    if one_by_one:
        return [await one(at, request) for at, request in enumerate(requests)]
    return list(await asyncio.gather(*(one(at, request) for at, request in enumerate(requests))))
