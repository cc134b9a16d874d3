"""Embeddings of a server that speaks OpenAI's `/embeddings`, or of an Azure deployment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from measurand.config.runtimes import EmbeddingSettings
from measurand.core.errors import CellError, InvalidResponseError
from measurand.core.exchange import TokenUsage
from measurand.runtime import azure
from measurand.runtime.embedding import Embedded, Embedding
from measurand.runtime.embedding_vectors import vectors_of
from measurand.runtime.faults import DeclinedError
from measurand.runtime.keys import bearer
from measurand.runtime.patience import Patience
from measurand.runtime.service import Reply, Service, open_service
from measurand.runtime.tokens import estimate
from measurand.runtime.usage import count

SERVERS: Final = ("openai", "azure")
BATCH: Final = 96
_PER_REQUEST: Final = frozenset({400, 413, 422})
"""Statuses of a refusal that may lie in one of the texts: too long, empty, or too many at once."""


class HttpEmbedding(Embedding):
    """Sends nothing but model, input and extra_body; reads numbers and base64."""

    batch_size = BATCH

    def __init__(self, name: str, settings: EmbeddingSettings, service: Service, path: str) -> None:
        super().__init__(name, settings, service.line)
        self._service = service
        self._path = path
        self._length: int | None = None

    async def embed(self, texts: Sequence[str], *, order: tuple[int, int] = (0, 0)) -> Embedded:
        if not texts:
            return Embedded((), TokenUsage(0, 0), 0.0, None)
        try:
            embedded = await self._asked(texts, order)
        except _DivisibleError:
            middle = len(texts) // 2
            return _joined(await self.embed(texts[:middle], order=order), await self.embed(texts[middle:], order=order))
        except DeclinedError as error:
            # Not one text is to blame, or the only one: the refusal is each text's, unless the server refuses everything, which ends the model after three.
            return Embedded((error,) * len(texts), TokenUsage(0, 0), 0.0, None)
        self._length = self._length or next((len(one) for one in embedded.vectors if not isinstance(one, CellError)), None)
        return embedded

    async def close(self) -> None:
        await self._service.close()

    async def _asked(self, texts: Sequence[str], order: tuple[int, int]) -> Embedded:
        expected = sum(estimate(text) for text in texts) if self._line.limiter.counts_tokens else 0

        def adapt(error: DeclinedError) -> bool:  # raising in here keeps a refusal of many texts out of the count of those that stop a model
            if len(texts) > 1 and (error.per_row or error.status in _PER_REQUEST):
                raise _DivisibleError
            return False

        return await self._service.post(
            self._path,
            lambda: {"model": self.settings.model, "input": list(texts), **self.settings.extra_body},
            read=lambda reply: _read(reply, texts, self._length),
            order=order,
            tokens=expected,
            spent=lambda embedded: embedded.usage.input_tokens,
            adapt=adapt,
        )


class _DivisibleError(Exception):
    """The server refuses these texts together; which of them it minds is found by halves."""


def open_http_embedding(
    name: str,
    settings: EmbeddingSettings,
    *,
    environ: Mapping[str, str],
    resolve: Callable[[str], Path],
    concurrency: int | None,
    patience: Patience,
) -> HttpEmbedding:
    """The embedding model of a table whose provider is asked over HTTP."""
    on_azure = settings.provider == "azure"
    service = open_service(
        settings,
        section=f"embeddings.{name}",
        environ=environ,
        resolve=resolve,
        concurrency=concurrency,
        key_header=azure.key_header if on_azure else bearer,
        patience=patience,
    )
    return HttpEmbedding(name, settings, service, azure.deployment_path(settings, "/embeddings") if on_azure else "/embeddings")


def _read(reply: Reply, texts: Sequence[str], length: int | None) -> Embedded:
    if not isinstance(reply.body, dict):
        raise InvalidResponseError("the server's reply is no JSON object with a list of vectors under `data`")
    vectors = vectors_of(reply.body.get("data"), len(texts), length)
    model = reply.body.get("model")
    return Embedded(tuple(vectors), _usage(reply.body.get("usage"), texts), reply.latency_s, model if isinstance(model, str) else None)


def _usage(said: Any, texts: Sequence[str]) -> TokenUsage:
    tokens = count(said, "prompt_tokens")
    if tokens is not None:
        return TokenUsage(tokens, 0)
    return TokenUsage(sum(estimate(text) for text in texts), 0, reported=False)


def _joined(first: Embedded, second: Embedded) -> Embedded:
    usage = TokenUsage(
        first.usage.input_tokens + second.usage.input_tokens,
        0,
        reported=first.usage.reported and second.usage.reported,
    )
    return Embedded(first.vectors + second.vectors, usage, first.latency_s + second.latency_s, first.model or second.model)
