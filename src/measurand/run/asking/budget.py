"""What a run may still spend. A call is sent only when it fits, at its dearest; what it really cost is settled when the reply is there."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from attrs import define, frozen

from measurand.core.errors import BudgetExceededError

REPLY_TOKENS: Final = 1_024
"""What a reply is taken to need at most where neither the request nor `max_output_tokens` bounds it."""


@frozen
class Amount:
    """Calls, tokens in both directions, and USD (0 where a price is not known)."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0


NOTHING: Final = Amount()


@define
class Budget:
    """The limits of one run and what is spent of them. Use from one event loop."""

    usd: float | None = None
    calls: int | None = None
    tokens: int | None = None
    spent: Amount = NOTHING
    """Settled, with what an earlier attempt at this run paid."""
    reserved: Amount = NOTHING
    _settled: Any = None

    @property
    def bounded(self) -> bool:
        """Whether there is any limit."""
        return self.usd is not None or self.calls is not None or self.tokens is not None

    async def reserve(self, most: Amount) -> None:
        """Waits while calls in flight may leave room. Raises `BudgetExceededError`, naming the limit, when `most` does not fit."""
        if self.bounded and self._settled is None:
            self._settled = asyncio.Condition()
        while True:
            exceeded = self._exceeded(most)
            if exceeded is None:
                self.reserved = _plus(self.reserved, most)
                return
            if not self.reserved.calls:
                raise BudgetExceededError(exceeded)
            async with self._settled:
                await self._settled.wait()

    async def settle(self, most: Amount, actual: Amount) -> None:
        """The call is over: its reservation goes, what it cost stays."""
        self.reserved = _plus(self.reserved, most, -1)
        self.spent = _plus(self.spent, actual)
        if self._settled is not None:
            async with self._settled:
                self._settled.notify_all()

    def _exceeded(self, most: Amount) -> str | None:
        used = _plus(self.spent, self.reserved)
        if self.usd is not None and used.usd + most.usd > self.usd + 1e-12:
            return f"budget_usd = {self.usd:g}: {used.usd:.4f} USD are spent, the next call may cost {most.usd:.4f}"
        if self.calls is not None and used.calls + most.calls > self.calls:
            return f"budget_calls = {self.calls}: {used.calls} calls are made"
        if self.tokens is not None and used.tokens + most.tokens > self.tokens:
            return f"budget_tokens = {self.tokens}: {used.tokens} are spent, the next call may need {most.tokens}"
        return None


def _plus(a: Amount, b: Amount, sign: int = 1) -> Amount:
    return Amount(a.calls + sign * b.calls, a.tokens + sign * b.tokens, a.usd + sign * b.usd)
