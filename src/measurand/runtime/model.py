"""A named model that can be asked: `open_model` makes one of its settings, `Model.complete` asks it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from measurand.config.runtimes import MODEL_PROVIDERS, ModelSettings
from measurand.core.errors import ConfigError, Problem
from measurand.core.exchange import Completion, ModelRequest
from measurand.runtime.chat import WIRES, HttpChat
from measurand.runtime.keys import Keys, bearer
from measurand.runtime.learned import Learned
from measurand.runtime.patience import PATIENCE, Patience
from measurand.runtime.providers import PluginChat, load_provider
from measurand.runtime.retry import Counters, Line
from measurand.runtime.service import open_line, open_service

_THINKERS: Final = re.compile(r"o\d\b|chatgpt")
_LETTERS: Final = re.compile(r"[a-z]+")


class _Asked(Protocol):
    @property
    def line(self) -> Line: ...

    async def complete(self, request: ModelRequest, order: tuple[int, int]) -> Completion: ...

    async def close(self) -> None: ...


class Model:
    """A model as the run knows it. Belongs to the event loop that first asks it."""

    def __init__(self, name: str, settings: ModelSettings, asked: _Asked, learned: Learned) -> None:
        self.name = name
        self.settings = settings
        self.identity = identity_of(settings)
        """What of the settings is part of a recorded call's key: JSON, no secrets, nothing that changes no answer."""
        self.family = settings.family or family_of(settings.model)
        """For the independence rule; None where the name does not say."""
        self._asked = asked
        self._learned = learned

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {self.settings.provider}, {self.settings.model!r})"

    async def complete(self, request: ModelRequest, *, order: tuple[int, int] = (0, 0)) -> Completion:
        """Asks, when it is this call's turn: the lowest `order` waiting goes first.

        Raises `RateLimitedError`, `CellTimeoutError`, `ProviderError`, `RefusedError`, `InvalidResponseError` when this call gets no answer, `ModelStoppedError`
        when no call will (and then for every call that waits): the key is refused also after reading it again, or absent; the account is
        empty; a parameter that the config sets is refused; certificate or proxy are refused; a server that has never answered knows no such path
        or model, redirects, gives the same refusal to every call (`service.SAME_REFUSALS`), or cannot be reached many times in a row.
        """
        return await self._asked.complete(request, order)

    @property
    def learned(self) -> dict[str, str]:
        """What the model refuses, as far as known: parameter → what is sent instead, "dropped" or "none". For the record, and for `learn`."""
        return dict(self._learned.facts)

    def learn(self, facts: Mapping[str, str]) -> None:
        """Takes over what an earlier run has `learned`, so that it is not refused again."""
        self._learned.learn(facts)
        for name in facts:
            self._asked.line.note(self._learned.note(name))

    @property
    def counters(self) -> Counters:
        """Attempts, retries, faults so far."""
        return self._asked.line.counters

    @property
    def notes(self) -> list[str]:
        """What a user should know of it: refusals learned, waits that were cut, fewer connections than asked for."""
        return list(self._asked.line.notes)

    @property
    def concurrency(self) -> int:
        """How many requests may be in flight: max_concurrency, or what the descriptor limit allows."""
        return self._asked.line.limiter.concurrency

    @property
    def stopped(self) -> str | None:
        """Why it is not asked any more; None while it is."""
        return self._asked.line.stopped

    async def close(self) -> None:
        """Closes every connection."""
        await self._asked.close()


def open_model(
    name: str,
    settings: ModelSettings,
    *,
    environ: Mapping[str, str],
    resolve: Callable[[str], Path],
    concurrency: int | None = None,
    patience: Patience = PATIENCE,
) -> Model:
    """The model of `[models.NAME]`; opens no socket, and needs no key before the first call.

    `resolve` finds paths of the config; `concurrency` replaces max_concurrency; `patience`: the times between attempts. Raises `ConfigError` for an unknown
    provider, a plugin that fails, certificate files that cannot be used, and an extra_body that is no JSON.
    """
    section = f"models.{name}"
    _check_extra_body(settings, section)
    learned = Learned(settings, section)
    wire = WIRES.get(settings.provider)
    if wire is None:
        made = load_provider(settings, section=section, environ=environ, built_in=MODEL_PROVIDERS, method="complete")
        line = open_line(settings, section=section, concurrency=concurrency, patience=patience)
        keys = Keys(settings, section=section, environ=environ, key_header=bearer)
        return Model(name, settings, PluginChat(made, line, keys), learned)
    service = open_service(
        settings,
        section=section,
        environ=environ,
        resolve=resolve,
        concurrency=concurrency,
        key_header=wire.key_header,
        headers=wire.HEADERS,
        patience=patience,
    )
    return Model(name, settings, HttpChat(settings, wire, service, learned), learned)


def identity_of(settings: ModelSettings) -> dict[str, Any]:
    """Who answers, and how it is asked to: the part of the settings that a recorded call's key depends on."""
    parts = {
        "provider": settings.provider,
        "identity": settings.identity or settings.address(),
        "model": settings.model,
        "temperature": settings.temperature,
        "max_output_tokens": settings.max_output_tokens,
        "extra_body": settings.extra_body or None,
        "query": settings.query or None,
    }
    return {key: value for key, value in parts.items() if value is not None}


def family_of(model: str) -> str | None:
    """The first word of a model's name without its publisher: "openai/gpt-5-mini" → gpt, "o3" → gpt, "claude-…" → claude; None where it begins with no letter."""
    name = model.rpartition("/")[2].lower()
    if _THINKERS.match(name):
        return "gpt"
    word = _LETTERS.match(name)
    return word[0] if word is not None else None


def _check_extra_body(settings: ModelSettings, section: str) -> None:
    try:
        json.dumps(settings.extra_body, allow_nan=False)
    except (TypeError, ValueError) as error:
        hint = "write strings, finite numbers, booleans, lists and tables"
        raise ConfigError(Problem("bad_value", f"[{section}] extra_body", f"cannot be sent as JSON ({error})", hint)) from None
