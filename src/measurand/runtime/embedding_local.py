"""`provider = "local"`: vectors computed on this machine, in a thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from measurand.config.runtimes import EmbeddingSettings
from measurand.core.exchange import TokenUsage
from measurand.runtime import local
from measurand.runtime.embedding import Embedded, Embedding
from measurand.runtime.embedding_vectors import usable
from measurand.runtime.limiter import Limiter
from measurand.runtime.retry import Line
from measurand.runtime.tokens import by_rates


class LocalEmbedding(Embedding):
    """One batch at a time: a second thread would only share the processor. Its tokens are estimated and cost nothing.

    The package is needed by the first call, not before: a replay does without it.
    """

    batch_size = local.BATCH

    def __init__(self, name: str, settings: EmbeddingSettings) -> None:
        super().__init__(name, settings, Line(Limiter(1), f"embeddings.{name}"))

    async def embed(self, texts: Sequence[str], *, order: tuple[int, int] = (0, 0)) -> Embedded:
        problem = local.problem_with(self.settings.model, self._line.section)
        if problem is not None:
            raise self._line.stop(str(problem))
        await self._line.limiter.enter(order)
        try:
            self.counters.attempts += 1
            began = time.perf_counter()
            vectors = usable(await asyncio.to_thread(local.embed, texts))
            latency = time.perf_counter() - began
        finally:
            self._line.limiter.leave()
        tokens = sum(by_rates(text) for text in texts)
        return Embedded(tuple(vectors), TokenUsage(tokens, 0, reported=False), latency, local.weights())

    async def close(self) -> None:
        """Nothing is open."""
