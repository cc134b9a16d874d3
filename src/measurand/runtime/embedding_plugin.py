"""Embeddings of a provider from an installed package: `async embed(texts)` gives an array [n, d], or a list of vectors."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from measurand.config.runtimes import EMBEDDING_PROVIDERS, EmbeddingSettings
from measurand.core.errors import CellError, InvalidResponseError
from measurand.core.exchange import TokenUsage
from measurand.runtime.embedding import Embedded, Embedding
from measurand.runtime.embedding_vectors import usable
from measurand.runtime.keys import Keys, bearer
from measurand.runtime.patience import Patience
from measurand.runtime.providers import load_provider, plugin_attempt
from measurand.runtime.retry import Line
from measurand.runtime.service import open_line
from measurand.runtime.tokens import estimate

if TYPE_CHECKING:
    from measurand.runtime.embedding_vectors import Vector

BATCH: Final = 96


class PluginEmbedding(Embedding):
    """Asks the plugin within our limits."""

    batch_size = BATCH

    def __init__(self, name: str, settings: EmbeddingSettings, made: Any, line: Line, keys: Keys) -> None:
        super().__init__(name, settings, line)
        self._made = made
        self._keys = keys

    async def embed(self, texts: Sequence[str], *, order: tuple[int, int] = (0, 0)) -> Embedded:
        began = time.perf_counter()

        async def attempt(seconds: float) -> Any:
            nonlocal began
            began = time.perf_counter()
            return await plugin_attempt(lambda: self._made.embed(list(texts)), seconds, self._keys)

        given = await self._line.call(attempt, order=order)
        latency = time.perf_counter() - began
        usage = TokenUsage(sum(estimate(text) for text in texts), 0, reported=False)
        return Embedded(tuple(usable(_vectors(given, len(texts)))), usage, latency, self.settings.model)

    async def close(self) -> None:
        close = getattr(self._made, "close", None)
        if close is not None:
            await close()


def open_plugin_embedding(
    name: str, settings: EmbeddingSettings, *, environ: Mapping[str, str], concurrency: int | None, patience: Patience
) -> PluginEmbedding:
    """The embedding model of a table whose provider is not built in."""
    section = f"embeddings.{name}"
    made = load_provider(settings, section=section, environ=environ, built_in=EMBEDDING_PROVIDERS, method="embed")
    line = open_line(settings, section=section, concurrency=concurrency, patience=patience)
    return PluginEmbedding(name, settings, made, line, Keys(settings, section=section, environ=environ, key_header=bearer))


def _vectors(given: Any, count: int) -> list[Vector | CellError]:
    import numpy as np

    try:
        rows = [np.asarray(row, dtype=np.float32) for row in given]
    except (TypeError, ValueError):
        raise InvalidResponseError(f"the plugin gives {type(given).__name__}, which is no list of vectors") from None
    if len(rows) != count:
        raise InvalidResponseError(f"the plugin gives {len(rows)} vectors for {count} texts")
    return [row if row.ndim == 1 else InvalidResponseError("the plugin gives what is no vector for this text") for row in rows]
