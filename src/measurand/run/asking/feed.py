"""Rows for an event loop from an iterator that may block: the next line of a pipe can be long in coming."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class Feed(Generic[T]):
    """One daemon thread that takes the next element when it is asked to; it never keeps the process alive."""

    def __init__(self, elements: Iterator[T]) -> None:
        self._elements = elements
        self._asked: queue.SimpleQueue[asyncio.Future[T | None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="measurand-rows", daemon=True).start()

    async def next(self) -> T | None:
        """The next element, None at the end. Raises what the iterator raises."""
        future: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self._asked.put(future)
        return await future

    def close(self) -> None:
        """Lets the thread end."""
        self._asked.put(None)

    def _work(self) -> None:
        while (future := self._asked.get()) is not None:
            found: T | None = None
            error: Exception | None = None
            try:
                found = next(self._elements, None)
            except Exception as raised:  # noqa: BLE001  # raised where the element was asked for
                error = raised
            with suppress(RuntimeError):  # the loop is gone, and with it whoever asked
                future.get_loop().call_soon_threadsafe(_settle, future, found, error)


def _settle(future: asyncio.Future[T | None], found: T | None, error: Exception | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(found)
