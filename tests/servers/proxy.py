"""A forward proxy that keeps a list of who was asked for: CONNECT for https, absolute addresses for http."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final
from urllib.parse import urlsplit

from tests.servers.mock_http import HEAD_END
from tests.servers.on_thread import OnThread

_PORTS: Final = {"http": 80, "https": 443}


class ProxyServer(OnThread):
    """Connects to `hosts[name]` (a host and port) where a name stands there, to the address that was asked for otherwise.

    `refuse`: a status that every request is answered with, e.g. 407.
    """

    def __init__(self, hosts: dict[str, str] | None = None, refuse: int = 0) -> None:
        super().__init__()
        self.connected: list[str] = []
        """"host:port" of every CONNECT."""
        self.forwarded: list[str] = []
        """The address of every request without CONNECT."""
        self.credentials: list[str] = []
        """Proxy-Authorization of every request that has it."""
        self._hosts = hosts or {}
        self._refuse = refuse
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """What goes into `proxy`, or into HTTPS_PROXY."""
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
                await self._tunnel(reader, writer)
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(HEAD_END)
        method, target, rest = head.split(b" ", 2)
        asked = target.decode("latin-1")
        (self.connected if method == b"CONNECT" else self.forwarded).append(asked)
        self.credentials += [line.partition(b":")[2].decode().strip() for line in rest.splitlines() if line.lower().startswith(b"proxy-authorization:")]
        if self._refuse:
            writer.write(b"HTTP/1.1 %d Refused\r\nContent-Length: 0\r\n\r\n" % self._refuse)
            await writer.drain()
            return
        parts = urlsplit(asked if "://" in asked else f"https://{asked}")
        host, _, port = self._hosts.get(parts.hostname or "", f"{parts.hostname}:{parts.port or _PORTS[parts.scheme]}").rpartition(":")
        upstream_reader, upstream = await asyncio.open_connection(host, int(port))
        self._writers.add(upstream)
        try:
            if method == b"CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream.write(b" ".join((method, (parts.path or "/").encode() + (f"?{parts.query}".encode() if parts.query else b""), rest)))
            await asyncio.gather(_copy(reader, upstream), _copy(upstream_reader, writer))
        finally:
            self._writers.discard(upstream)
            upstream.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
