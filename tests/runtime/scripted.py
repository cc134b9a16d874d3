"""A server that answers what a test has written down, whatever it is asked, and keeps what it was sent: for wire formats and bodies the mock server does not speak."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

from tests.servers.on_thread import OnThread


@dataclass(frozen=True)
class Sent:
    """A request as it arrived; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Says:
    """One answer. `body`: JSON, or bytes as they are."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0


class ScriptedServer(OnThread):
    """Gives its answers in order, the last one for ever."""

    def __init__(self, *answers: Says) -> None:
        super().__init__()
        self.sent: list[Sent] = []
        self._answers = list(answers)
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    def _cut_all(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    await self._answer(reader, writer)
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.sent.append(Sent(first.split()[1], headers, json.loads(body)))
        says = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        await asyncio.sleep(says.wait)
        raw = says.body if isinstance(says.body, bytes) else json.dumps(says.body).encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in {**says.headers, "Content-Length": str(len(raw))}.items())
        writer.write(f"HTTP/1.1 {says.status} X\r\n{head}\r\n".encode() + raw)
        await writer.drain()


def chat_reply(content: Any = "yes", **more: Any) -> dict[str, Any]:
    """A chat completion with this content; `message`, `choice` and `reply` take further keys of each."""
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **more.pop("choice", {})}
    return {"model": "served", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}, **more}
