"""The same request, asked by several cells at once or by several metrics of a row, is made once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from attrs import define, field


@define(eq=False)
class Sharing:
    """Requests under way, and those answered for rows that are not done yet. Use from one event loop."""

    _answers: dict[str, asyncio.Future[Any]] = field(factory=dict)
    _of_row: dict[int, list[str]] = field(factory=dict)

    async def once(self, key: str, use: tuple[int, int], fetch: Callable[[], Awaitable[Any]], share: Callable[[], Awaitable[None]]) -> Any:
        """The answer to `key`: `fetch`ed by the first who asks; the others wait for it, and `share` notes that they use it too."""
        known = self._answers.get(key)
        if known is not None:
            try:
                return await asyncio.shield(known)
            finally:
                if known.done() and not known.cancelled():
                    await share()
        answer = asyncio.get_running_loop().create_future()
        self._answers[key] = answer
        self._of_row.setdefault(use[0], []).append(key)
        try:
            found = await fetch()
        except asyncio.CancelledError:
            answer.cancel()
            raise
        except Exception as error:
            answer.set_exception(error)
            answer.exception()  # whether anyone waits for it or not
            raise
        answer.set_result(found)
        return found

    def row_ended(self, ordinal: int) -> None:
        """Forgets the answers that were fetched for the row: from now on they are in the record."""
        for key in self._of_row.pop(ordinal, ()):
            self._answers.pop(key, None)
