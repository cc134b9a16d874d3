"""A server of the tests on a thread with an event loop of its own, on a free port of the loopback."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

PATIENCE = 10.0


class OnThread(ABC):
    """Started by `with`, stopped at its end; stopped twice is stopped."""

    def __init__(self) -> None:
        self.port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._failure: OSError | None = None
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(PATIENCE), "the server did not start"
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Closes the port and every connection."""
        if self._thread.is_alive() and self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(PATIENCE)

    @property
    def host(self) -> str:
        """Host and port, as in a URL."""
        return f"127.0.0.1:{self.port}"

    @abstractmethod
    async def _listen(self) -> asyncio.Server:
        """Opens the port."""

    @abstractmethod
    def _cut_all(self) -> None:
        """Cuts every connection there is."""

    def on_loop(self, action: Callable[[], Any]) -> None:
        """Runs a function between two steps of the server, and waits for it."""
        assert self._loop is not None, "the server was not started"
        done = threading.Event()

        def run() -> None:
            action()
            done.set()

        self._loop.call_soon_threadsafe(run)
        assert done.wait(PATIENCE), "the server does not answer"

    def _run(self) -> None:
        try:
            asyncio.run(self._until_stopped())
        except OSError as error:
            self._failure = error
        finally:
            self._ready.set()

    async def _until_stopped(self) -> None:
        self._loop = asyncio.get_running_loop()
        server = await self._listen()
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        self._cut_all()
        await asyncio.sleep(0)
