"""One event loop in a thread of its own, so that metrics which await run the same from a script, a notebook and a server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from functools import cache
from typing import Any, Final, TypeVar

T = TypeVar("T")

_AT_ONCE: Final = 16


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="measurand-loop", daemon=True).start()
    return loop


def in_loop(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Starts it; the future has its result."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop())


def run_all(coroutines: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs them with at most 16 under way at once and gives their results in order."""

    async def bounded() -> list[T]:
        places = asyncio.Semaphore(_AT_ONCE)

        async def one(coroutine: Coroutine[Any, Any, T]) -> T:
            async with places:
                return await coroutine

        return await asyncio.gather(*(one(coroutine) for coroutine in coroutines))

    return in_loop(bounded()).result()
