"""HTTP/1.1 for the mock servers: requests out of bytes, answers after a delay, connections that can be cut. Loopback only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Literal, Protocol

HEAD_END: Final = b"\r\n\r\n"

Ending = Literal["whole", "reset", "cut"]


@dataclass(frozen=True)
class HttpRequest:
    """A request as it arrived; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.split("?", 1)[0]


@dataclass(frozen=True)
class HttpResponse:
    """An answer: after `delay` seconds, ended as `ending` says (reset: nothing but a reset; cut: half of the body, then a close)."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    ending: Ending = "whole"

    @classmethod
    def of(cls, status: int, value: Any, **more: Any) -> HttpResponse:
        """A value as JSON."""
        return cls(status, json.dumps(value).encode(), **more)

    def encoded(self) -> bytes:
        try:
            reason = HTTPStatus(self.status).phrase
        except ValueError:
            reason = "Unknown"
        lines = [f"HTTP/1.1 {self.status} {reason}", f"Content-Length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, value in {"Content-Type": "application/json", **self.headers}.items()]
        return "\r\n".join(lines).encode("latin-1") + HEAD_END + self.body


class Ongoing(Protocol):
    """A request that is being answered."""

    response: HttpResponse

    def done(self, *, gone: bool) -> None:
        """Called once: the answer was sent, or the client had gone before."""


class Connection(asyncio.Protocol):
    """One client's connection: parses requests, asks `answer` for each, sends the answer when its time has come."""

    def __init__(self, answer: Callable[[HttpRequest], Ongoing]) -> None:
        self._answer = answer
        self._received = bytearray()
        self._waiting: dict[asyncio.TimerHandle, Ongoing] = {}
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        for timer, ongoing in self._waiting.items():
            timer.cancel()
            ongoing.done(gone=True)
        self._waiting.clear()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while request := take_request(self._received):
            ongoing = self._answer(request)
            self._schedule(ongoing)

    def _schedule(self, ongoing: Ongoing) -> None:
        def fire() -> None:
            del self._waiting[timer]
            ongoing.done(gone=False)
            self._send(ongoing.response)

        timer = asyncio.get_running_loop().call_later(ongoing.response.delay, fire)
        self._waiting[timer] = ongoing

    def _send(self, response: HttpResponse) -> None:
        assert self._transport is not None
        if response.ending == "reset":
            self._transport.abort()
        elif response.ending == "cut":
            self._transport.write(response.encoded()[: -(len(response.body) // 2) or None])
            self._transport.close()
        else:
            self._transport.write(response.encoded())


def take_request(received: bytearray) -> HttpRequest | None:
    """The first whole request, taken out of what was received; None while there is none."""
    head_end = received.find(HEAD_END)
    if head_end < 0:
        return None
    first, *lines = bytes(received[:head_end]).decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    start = head_end + len(HEAD_END)
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body, end = _chunked(received, start)
    else:
        end = start + int(headers.get("content-length", "0"))
        body = bytes(received[start:end]) if len(received) >= end else None
    if body is None:
        return None
    del received[:end]
    return HttpRequest(method, target, headers, body)


def _chunked(received: bytearray, start: int) -> tuple[bytes | None, int]:
    body = bytearray()
    place = start
    while True:
        line_end = received.find(b"\r\n", place)
        if line_end < 0:
            return None, start
        size = int(bytes(received[place:line_end]).split(b";")[0], 16)
        place = line_end + 2
        if len(received) < place + size + 2:
            return None, start
        if size == 0:
            return bytes(body), place + 2
        body += received[place : place + size]
        place += size + 2
