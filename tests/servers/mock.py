"""A mock of the OpenAI HTTP API that tests start in their own process, or as a process of its own.

    with MockServer(latency_ms=200, faults={"429": 0.1}) as mock:
        ...  # mock.base_url, mock.log, mock.stats(), mock.configure(faults={})

    python -m tests.servers.mock --port 8765 --set latency_ms=200 --set 'faults={"429": 0.1}' --log requests.jsonl

Serves POST …/chat/completions (also at an Azure deployment's path), POST …/embeddings and GET …/models. Every other behaviour is a setting of
`mock_settings.Settings`. As a process it is steered by GET /__stats, /__log, POST /__reset and /__config.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
import sys
from pathlib import Path
from typing import Any

from tests.servers.mock_http import Connection
from tests.servers.mock_service import Service
from tests.servers.mock_settings import Answer, Settings
from tests.servers.on_thread import OnThread

__all__ = ["Answer", "MockServer", "Settings"]


class MockServer(OnThread):
    """A mock server on a free port of the loopback. `tls`: it speaks HTTPS with this context."""

    def __init__(self, tls: ssl.SSLContext | None = None, **settings: Any) -> None:
        super().__init__()
        self._service = Service(Settings().changed(settings))
        self._tls = tls
        self._connections: set[_Tracked] = set()

    @property
    def root(self) -> str:
        """The server's address without a path."""
        return f"{'https' if self._tls else 'http'}://{self.host}"

    @property
    def base_url(self) -> str:
        """What goes into `base_url`."""
        return f"{self.root}/v1"

    @property
    def log(self) -> list[dict[str, Any]]:
        """Every request, in the order of arrival, answered or not: endpoint, path, headers, body, status, fault, t0, t1, in_flight, hash, gone, tokens."""
        return list(self._service.log)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._service.settings

    def bodies(self, endpoint: str = "chat") -> list[dict[str, Any]]:
        """The bodies of all requests to an endpoint."""
        return [one["body"] for one in self.log if one["endpoint"] == endpoint]

    def statuses(self) -> list[int | None]:
        """The status of every request; None while it is open, or if its client went away or was cut off."""
        return [one["status"] for one in self.log]

    def stats(self) -> dict[str, Any]:
        """Counts over the log: calls, status, faults, tokens, most_in_flight, repeated_bodies …"""
        return self._service.stats()

    def configure(self, **changes: Any) -> None:
        """Changes settings, for requests that come from now on."""
        self._service.configure(**changes)

    def reset(self) -> None:
        """Forgets the log and what faults were given; the settings stay."""
        self.on_loop(self._service.reset)

    def drop_connections(self) -> None:
        """Resets every connection there is, as a server does that is killed; the port stays open."""
        self.on_loop(self._cut_all)

    async def _listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: _Tracked(self._service, self._connections), "127.0.0.1", 0, ssl=self._tls, backlog=1024)

    def _cut_all(self) -> None:
        for connection in list(self._connections):
            connection.cut()


class _Tracked(Connection):
    """A connection that can be cut from outside."""

    def __init__(self, service: Service, all_of_them: set[_Tracked]) -> None:
        super().__init__(service.answer)
        self._all = all_of_them

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._all.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._all.discard(self)

    def cut(self) -> None:
        assert self._transport is not None
        self._transport.abort()


# ---------------------------------------------------------------- as a process


def setting(text: str) -> tuple[str, Any]:
    """`name=value` from a command line; the value is JSON, or a text."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


async def serve(arguments: argparse.Namespace) -> None:
    """Serves until the process is ended."""
    with Path(arguments.log).open("a", encoding="utf-8") if arguments.log else sys.stderr as log:  # noqa: ASYNC230  # a log line is short
        service = Service(Settings().changed(dict(arguments.set)), log if arguments.log else None, keep_bodies=arguments.keep_bodies)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(service.answer), "127.0.0.1", arguments.port, backlog=4096)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        async with server:
            await server.serve_forever()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="default: a free one; the address is the first line printed")
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=VALUE", help="a setting; VALUE is JSON or a text")
    parser.add_argument("--log", help="JSON Lines, one for each request")
    parser.add_argument("--keep-bodies", action="store_true", help="bodies stand in the log too")
    try:
        asyncio.run(serve(parser.parse_args()))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
