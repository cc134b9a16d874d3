"""Texts into vectors, by whoever a `[embeddings.NAME]` table names: a server, this machine, a plugin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from measurand.config.runtimes import EmbeddingSettings
from measurand.core.errors import CellError
from measurand.core.exchange import TokenUsage
from measurand.runtime.patience import PATIENCE, Patience
from measurand.runtime.retry import Counters, Line

if TYPE_CHECKING:
    from measurand.runtime.embedding_vectors import Vector


@frozen(eq=False)
class Embedded:
    """What one call gave."""

    vectors: tuple[Vector | CellError, ...]
    """For each text, in their order, its float32 vector, finite and not zero; or the error of exactly that text."""
    usage: TokenUsage
    latency_s: float
    """Seconds from sending to the reply, without waiting for a place and between retries."""
    model: str | None
    """What the server calls the model that answered."""


class Embedding(ABC):
    """A named embedding model as the run knows it. Belongs to the event loop that first asks it."""

    batch_size: int
    """Texts that are best sent together; any number may be."""

    def __init__(self, name: str, settings: EmbeddingSettings, line: Line) -> None:
        self.name = name
        self.settings = settings
        self.identity = identity_of(settings)
        """What of the settings is part of a recorded call's key: JSON, no secrets, nothing that changes no vector."""
        self._line = line

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.settings.provider}, {self.settings.model!r})"

    @abstractmethod
    async def embed(self, texts: Sequence[str], *, order: tuple[int, int] = (0, 0)) -> Embedded:
        """The vectors of some texts, when it is this call's turn: the lowest `order` waiting goes first.

        Raises `RateLimitedError`, `CellTimeoutError`, `ProviderError`, `InvalidResponseError` when the call failed for all of them, and
        `ModelStoppedError` when no call makes sense any more, for the reasons that `Model.complete` has.
        """

    @abstractmethod
    async def close(self) -> None:
        """Closes what is open."""

    @property
    def counters(self) -> Counters:
        """Attempts, retries, faults so far."""
        return self._line.counters

    @property
    def notes(self) -> list[str]:
        """What a user should know: waits that were cut, fewer connections than asked for."""
        return list(self._line.notes)

    @property
    def concurrency(self) -> int:
        """How many requests may be in flight."""
        return self._line.limiter.concurrency

    @property
    def stopped(self) -> str | None:
        """Why it is not asked any more; None while it is."""
        return self._line.stopped


def open_embedding(
    name: str,
    settings: EmbeddingSettings,
    *,
    environ: Mapping[str, str],
    resolve: Callable[[str], Path],
    concurrency: int | None = None,
    patience: Patience = PATIENCE,
) -> Embedding:
    """The embedding model of the table `[embeddings.NAME]`; opens no socket, loads no weights, and needs no key before the first call.

    `resolve` finds paths of the config; `concurrency` replaces max_concurrency; `patience`: the times between attempts. Raises `ConfigError` for a
    certificate file that cannot be used, an unknown provider, and a plugin that fails; what keeps local models from working `local.problem_with` says.
    """
    from measurand.runtime.embedding_http import SERVERS, open_http_embedding
    from measurand.runtime.embedding_local import LocalEmbedding
    from measurand.runtime.embedding_plugin import open_plugin_embedding

    if settings.provider == "local":
        return LocalEmbedding(name, settings)
    if settings.provider in SERVERS:
        return open_http_embedding(name, settings, environ=environ, resolve=resolve, concurrency=concurrency, patience=patience)
    return open_plugin_embedding(name, settings, environ=environ, concurrency=concurrency, patience=patience)


def identity_of(settings: EmbeddingSettings) -> dict[str, Any]:
    """Who embeds, and how it is asked to."""
    parts = {
        "provider": settings.provider,
        "identity": settings.identity or settings.address(),
        "model": settings.model,
        "extra_body": settings.extra_body or None,
        "query": settings.query or None,
    }
    return {key: value for key, value in parts.items() if value is not None}
