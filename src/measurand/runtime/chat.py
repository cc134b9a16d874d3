"""A chat model asked over HTTP: the wire format of its provider, and what it turns out to refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import ModelStoppedError
from measurand.core.exchange import Completion, ModelRequest
from measurand.runtime import anthropic, azure, openai, systemone
from measurand.runtime.faults import DeclinedError
from measurand.runtime.learned import Learned
from measurand.runtime.retry import Line
from measurand.runtime.service import Reply, Service
from measurand.runtime.tokens import estimate_request


class Wire(Protocol):
    """A provider's wire format: what is posted where, and how a reply is read. Each is a module of its own."""

    @property
    def GIVES_LOGPROBS(self) -> bool:  # noqa: N802  # the modules' constant
        """Whether replies can have the log-probabilities of their tokens."""

    @property
    def HEADERS(self) -> Sequence[tuple[str, str]]:  # noqa: N802
        """Sent with every request, unless the config sets them."""

    def key_header(self, key: str, /) -> tuple[str, str]:
        """Name and value of the header that holds the key."""

    def path(self, settings: ModelSettings, /) -> str:
        """Below base_url."""

    def body(self, request: ModelRequest, settings: ModelSettings, facts: Mapping[str, str], /) -> dict[str, Any]:
        """The request, without what `facts` says is refused."""

    def completion(self, reply: Reply, request: ModelRequest, /) -> Completion:
        """The reply; raises `UnavailableError` where it is none."""


WIRES: Final[Mapping[str, Wire]] = {"openai": openai, "azure": azure, "anthropic": anthropic, "systemone": systemone}


class HttpChat:
    """A model behind a `Service`."""

    def __init__(self, settings: ModelSettings, wire: Wire, service: Service, learned: Learned) -> None:
        self._settings = settings
        self._wire = wire
        self._service = service
        self._learned = learned
        self._path = wire.path(settings)

    @property
    def line(self) -> Line:
        """Its gate, retries and counters."""
        return self._service.line

    async def complete(self, request: ModelRequest, order: tuple[int, int]) -> Completion:
        """Sends the request, again without what turns out to be refused. Raises as `Service.post` does."""
        if request.logprobs and self._settings.p == "logprobs" and not self._wire.GIVES_LOGPROBS:
            key = f"[{self.line.section}] p"
            raise self.line.stop(f'{key} = "logprobs", but the provider {self._settings.provider} gives no log-probabilities: write p = "sampled"')
        sent: dict[str, Any] = self._body(request)

        def body() -> dict[str, Any]:
            nonlocal sent
            sent = self._body(request)
            return sent

        return await self._service.post(
            self._path,
            body,
            read=lambda reply: self._wire.completion(reply, request),
            order=order,
            tokens=self._estimate(request) if self.line.limiter.counts_tokens else 0,
            spent=_spent if self.line.limiter.counts_tokens else None,
            adapt=lambda error: self._adapted(error, request, sent),
        )

    async def close(self) -> None:
        """Closes every connection."""
        await self._service.close()

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        return self._wire.body(request, self._settings, self._learned.facts)

    def _adapted(self, error: DeclinedError, request: ModelRequest, sent: dict[str, Any]) -> bool:
        """Whether the request is another one now, without what was refused. What another call has learned meanwhile is not learned again."""
        if self._body(request) != sent:
            return True
        try:
            before = dict(self._learned.facts)
            if not self._learned.refused(error, sent):
                return False
        except ModelStoppedError as stopped:
            raise self.line.stop(str(stopped)) from None
        for name, value in self._learned.facts.items():
            if before.get(name) != value:
                self.line.note(self._learned.note(name))
        return self._body(request) != sent

    def _estimate(self, request: ModelRequest) -> int:
        return estimate_request(request) + (request.max_tokens or self._settings.max_output_tokens or 0)


def _spent(completion: Completion) -> int:
    return completion.usage.input_tokens + completion.usage.output_tokens
