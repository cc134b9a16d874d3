"""A server asked over HTTP within its limits: keys, gate, retries and what its refusals mean, for chat models and embeddings alike."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import frozen

from measurand.config.runtimes import RuntimeTable
from measurand.runtime.faults import DeclinedError, UnavailableError
from measurand.runtime.http import Answer, Headers, Sender, encoded, open_sender
from measurand.runtime.keys import KeyHeader, Keys, bearer
from measurand.runtime.limiter import Limiter, descriptors_left
from measurand.runtime.patience import PATIENCE, Patience
from measurand.runtime.proxies import proxy_for
from measurand.runtime.retry import Line
from measurand.runtime.verdict import lasting, refusal, said_in

T = TypeVar("T")
Body = Mapping[str, Any]

SAME_REFUSALS: Final = (3, 20)
"""So many calls declined with the same words, before any has succeeded, stop the model, since all others would be: three when no other call is on its way,
else as many as may be in flight (at most twenty), lest quick refusals of bad rows outrun slow answers to good ones."""


@frozen
class Reply:
    """The JSON of a successful answer, and the seconds from sending to it."""

    body: Any
    latency_s: float


class Service:
    """Posts JSON bodies and gives their replies; `line` has counters, notes and limits."""

    def __init__(self, sender: Sender, keys: Keys, line: Line) -> None:
        self.sender = sender
        self.keys = keys
        self.line = line
        self._refusals: dict[str, int] = {}

    async def post(
        self,
        path: str,
        body: Callable[[], Body],
        *,
        read: Callable[[Reply], T],
        order: tuple[int, int] = (0, 0),
        tokens: float = 0,
        spent: Callable[[T], float] | None = None,
        adapt: Callable[[DeclinedError], bool] | None = None,
    ) -> T:
        """Posts `body()` to base_url + `path` until it succeeds, and gives what `read` makes of the reply. The body is made anew when its turn has come.

        `order`: whose turn it is first; `tokens`: estimated, for tokens_per_minute, `spent`: what they were. `read` may raise `UnavailableError` (the
        reply is none: ask again) or any `CellError` (that is the answer). `adapt` says of a declined request whether its body is another one now; else the call ends.
        Raises `CellError`s, and `ModelStoppedError` when no request to this server makes sense any more: the key is refused twice, the
        account is empty, certificate or proxy are refused; before any success also an unknown path or model, a redirect, or the same refusal again and again.
        """
        if self.keys.problem is not None:
            raise self.line.stop(self.keys.problem)
        while True:
            try:
                return await self.line.call(partial(self._attempt, path, body, read), order=order, tokens=tokens, spent=spent)
            except DeclinedError as error:
                if adapt is None or not adapt(error):
                    raise self._given_up(error) from None
                self.line.counters.adapted += 1

    async def close(self) -> None:
        """Closes every connection."""
        await self.sender.close()

    async def _attempt(self, path: str, body_now: Callable[[], Body], read: Callable[[Reply], T], seconds: float) -> T:
        content = encoded(body_now())
        generation = self.keys.generation
        began = time.perf_counter()
        answer = await self.sender.post(path, content, headers=self.keys.headers, timeout_s=seconds)
        if answer.status in {401, 403}:
            answer, generation = await self._with_renewed_keys(path, content, answer, generation, seconds)
        latency = time.perf_counter() - began
        answer = Answer(answer.status, answer.headers, self.keys.scrubbed(answer.content))
        body = _json(answer)
        if not 200 <= answer.status < 300 or _is_error(body):
            raise refusal(answer, said_in(answer.content), url=self.sender.url(path), section=self.line.section, sent=content, hide=self.keys.hide)
        if body is _NO_JSON:
            raise UnavailableError(f'{self.sender.url(path)} answered {answer.status} with what is no JSON: "{self._quoted(answer)}"')
        self.keys.worked(generation)
        return read(Reply(body, latency))

    async def _with_renewed_keys(self, path: str, content: bytes, answer: Answer, generation: int, seconds: float) -> tuple[Answer, int]:
        """The answer with keys read again, and which they were. Raises `ModelStoppedError` when those are refused as well."""
        while answer.status in {401, 403}:
            said = said_in(self.keys.scrubbed(answer.content))
            verdict = refusal(answer, said, url=self.sender.url(path), section=self.line.section, sent=content, hide=self.keys.hide)
            if not isinstance(verdict, DeclinedError):
                raise verdict
            if not self.keys.renewed(generation):
                raise self.line.stop(f"{verdict.message}; {self._whose_key()}")
            if self.keys.problem is not None:
                raise self.line.stop(self.keys.problem)
            generation = self.keys.generation
            self.line.counters.attempts += 1
            self.line.counters.retries += 1
            answer = await self.sender.post(path, content, headers=self.keys.headers, timeout_s=seconds)
        return answer, generation

    def _whose_key(self) -> str:
        named = repr(self.keys)
        if named == "Keys(none)":
            return f"[{self.line.section}] sends no key: api_key_env names the variable that holds it"
        return f"the key of [{self.line.section}] is refused, also after reading it again: {named[5:-1]}"

    def _given_up(self, error: DeclinedError) -> Exception:
        if self.line.succeeded or error.per_row:
            return error
        always = lasting(error)
        if always is not None:
            return self.line.stop(f"[{self.line.section}]: {error.message}; {always}")
        seen = self._refusals[error.words] = self._refusals.get(error.words, 0) + 1
        fewest, most = SAME_REFUSALS
        limiter = self.line.limiter
        if seen >= (fewest if limiter.in_flight == 0 else max(fewest, min(limiter.concurrency, most))):
            return self.line.stop(f"[{self.line.section}]: {error.message}; {seen} calls got the same answer and none another")
        return error

    def _quoted(self, answer: Answer) -> str:
        return self.keys.hide(said_in(answer.content).message)


def open_service(
    settings: RuntimeTable,
    *,
    section: str,
    environ: Mapping[str, str],
    resolve: Callable[[str], Path],
    concurrency: int | None = None,
    key_header: KeyHeader = bearer,
    headers: Headers = (),
    patience: Patience = PATIENCE,
) -> Service:
    """The service of a `[models.…]` or `[embeddings.…]` table whose provider is asked over HTTP; opens no socket.

    `section`: "models.judge". `concurrency` replaces max_concurrency; `headers`: the provider's own. Raises `ConfigError` for certificate files that cannot be used; an absent key
    ends the first call, not this one, so that a replay needs none.
    """
    line = open_line(settings, section=section, concurrency=concurrency, patience=patience)
    sender = open_sender(settings, section=section, environ=environ, resolve=resolve, connections=line.limiter.concurrency, headers=headers)
    proxy = proxy_for(sender.address, settings.proxy, environ)
    keys = Keys(settings, section=section, environ=environ, key_header=key_header, proxy=proxy)
    return Service(sender, keys, line)


def open_line(settings: RuntimeTable, *, section: str, concurrency: int | None = None, patience: Patience = PATIENCE) -> Line:
    """The gate and retries that a table sets."""
    limiter = Limiter(
        concurrency or settings.max_concurrency,
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
        descriptors=descriptors_left(),
    )
    line = Line(
        limiter,
        section,
        timeout_s=settings.timeout_seconds,
        max_retries=settings.max_retries,
        deadline_s=settings.deadline_seconds,
        patience=patience,
    )
    if limiter.warning is not None:
        line.note(limiter.warning)
    return line


_NO_JSON: Final = object()


def _json(answer: Answer) -> Any:
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError):
        return _NO_JSON


def _is_error(body: Any) -> bool:
    """Gateways that have begun their answer before the model failed write the error into a 200."""
    return isinstance(body, dict) and bool(body.get("error")) and not any(body.get(name) for name in ("choices", "data", "content", "answers"))
