"""How many requests are in flight, and how many requests and tokens a minute: one gate per runtime, which opens for the lowest order first."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from typing import Final

from attrs import define

from measurand.core.errors import ModelStoppedError

_RESERVED_DESCRIPTORS: Final = 64  # the store, the data, the terminal, the interpreter


def descriptors_left() -> int | None:
    """How many connections one runtime may open: half of what the process's descriptor limit leaves, since other models and the store share it. None: no limit known."""
    try:
        import resource
    except ImportError:  # no such limit on Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else max(1, (soft - _RESERVED_DESCRIPTORS) // 2)


@define
class _Bucket:
    """A token bucket: full at first, refilled evenly over a minute. May be overdrawn when a request turns out dearer than estimated."""

    capacity: float
    level: float
    filled_at: float

    def wait_for(self, amount: float, now: float) -> float:
        """Seconds until `amount` is there; what is more than the bucket holds waits for a full one."""
        self.level = min(self.capacity, self.level + (now - self.filled_at) * self.capacity / 60)
        self.filled_at = now
        return max(0.0, (min(amount, self.capacity) - self.level) * 60 / self.capacity)


class Limiter:
    """A gate with places. `enter` waits for one, `leave` gives it back; `pause` shuts the gate for everyone, `abort` for ever.

    `warning`: why fewer requests are in flight than asked for; None when they are not.
    """

    def __init__(
        self,
        concurrency: int,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        descriptors: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.concurrency = concurrency if descriptors is None else min(concurrency, descriptors)
        self.warning = (
            f"{concurrency} requests at once need more open files than this process may have; {self.concurrency} are in flight (raise it with ulimit -n)"
            if self.concurrency < concurrency
            else None
        )
        self.in_flight = 0
        self._clock = clock
        now = clock()
        self._requests = _Bucket(requests_per_minute, requests_per_minute, now) if requests_per_minute else None
        self._tokens = _Bucket(tokens_per_minute, tokens_per_minute, now) if tokens_per_minute else None
        self._waiting: list[tuple[tuple[int, int], int, float, asyncio.Future[None]]] = []
        self._resting: set[asyncio.Future[None]] = set()
        self._entered = 0
        self._shut_until = now
        self._alarm: asyncio.TimerHandle | None = None
        self._aborted: str | None = None

    @property
    def counts_tokens(self) -> bool:
        """Whether `enter` needs an estimate of tokens."""
        return self._tokens is not None

    async def enter(self, order: tuple[int, int] = (0, 0), tokens: float = 0) -> None:
        """Waits until the gate is open, a place is free, and a request and its `tokens` fit into the minute. Lower orders go first, equal ones as they came.

        Raises `ModelStoppedError` after `abort`.
        """
        if self._aborted is not None:
            raise ModelStoppedError(self._aborted)
        if not self._waiting and self._seconds_until_open(tokens) == 0:
            self._take(tokens)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._entered += 1
        heapq.heappush(self._waiting, (order, self._entered, tokens, turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave()  # the place was given in the same moment
            raise

    def leave(self, more_tokens: float = 0) -> None:
        """Gives a place back. `more_tokens`: by how much the request was dearer (negative: cheaper) than `enter` was told."""
        self.in_flight -= 1
        if self._tokens is not None:
            self._tokens.level -= more_tokens
        self._admit()

    def pause(self, seconds: float) -> None:
        """Nobody enters for so long; a longer pause that is under way stays."""
        self._shut_until = max(self._shut_until, self._clock() + seconds)

    async def rest(self, seconds: float) -> None:
        """Sleeps without a place. Raises `ModelStoppedError` at once when `abort` is called."""
        if self._aborted is not None:
            raise ModelStoppedError(self._aborted)
        rest: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resting.add(rest)
        alarm = asyncio.get_running_loop().call_later(seconds, _wake, rest)
        try:
            await rest
        finally:
            alarm.cancel()
            self._resting.discard(rest)

    def abort(self, why: str) -> None:
        """Everyone who waits, rests or comes later gets a `ModelStoppedError` that says why; who is inside is not disturbed."""
        self._aborted = self._aborted or why
        for sleeper in [*self._resting, *(turn for *_, turn in self._waiting)]:
            if not sleeper.done():
                sleeper.set_exception(ModelStoppedError(self._aborted))  # one each: a shared exception would collect everyone's traceback
        self._waiting.clear()

    def _seconds_until_open(self, tokens: float) -> float:
        """0: now; infinite: when someone leaves."""
        if self.in_flight >= self.concurrency:
            return float("inf")
        now = self._clock()
        wait = self._shut_until - now
        if self._requests is not None:
            wait = max(wait, self._requests.wait_for(1, now))
        if self._tokens is not None:
            wait = max(wait, self._tokens.wait_for(tokens, now))
        return max(0.0, wait)

    def _take(self, tokens: float) -> None:
        self.in_flight += 1
        if self._requests is not None:
            self._requests.level -= 1
        if self._tokens is not None:
            self._tokens.level -= tokens

    def _admit(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        while self._waiting:
            _, _, tokens, turn = self._waiting[0]
            if turn.done():  # cancelled while it waited
                heapq.heappop(self._waiting)
                continue
            wait = self._seconds_until_open(tokens)
            if wait > 0:
                if wait != float("inf"):
                    self._alarm = asyncio.get_running_loop().call_later(wait, self._admit)
                return
            heapq.heappop(self._waiting)
            self._take(tokens)
            turn.set_result(None)


def _wake(rest: asyncio.Future[None]) -> None:
    if not rest.done():
        rest.set_result(None)
