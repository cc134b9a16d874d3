"""The one place that tries again. A call waits for its turn, is attempted, and after a fault waits and is attempted again, within its retries and deadline."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from attrs import define, field

from measurand.core.errors import ModelStoppedError
from measurand.runtime.faults import AttemptError, HungError, ThrottledError, UntrustedError
from measurand.runtime.limiter import Limiter
from measurand.runtime.patience import PATIENCE, Patience

T = TypeVar("T")

HUNG_ATTEMPTS: Final = 2  # a call that hangs costs its timeout and one more try, whatever max_retries is
_UNREACHABLE_CALLS: Final = 20
_NOTES: Final = 20


@define
class Counters:
    """What happened on a line so far."""

    attempts: int = 0
    """Requests sent."""
    retries: int = 0
    """Requests sent again after a fault."""
    rate_limited: int = 0
    """Answers 429."""
    timeouts: int = 0
    """Requests without an answer in time."""
    faults: int = 0
    """Other attempts that failed: 5xx, broken connections, replies that are none."""
    adapted: int = 0
    """Requests sent again without what the server refuses."""
    waited_s: float = 0.0
    """Seconds of waiting between attempts, summed over calls."""


@define
class Line:
    """The way to one server: its gate, its retries, and whether it is still worth asking."""

    limiter: Limiter
    section: str
    timeout_s: float = 60.0
    max_retries: int = 5
    deadline_s: float | None = None
    patience: Patience = PATIENCE
    counters: Counters = field(factory=Counters)
    notes: dict[str, None] = field(factory=dict)
    """What a user should know: waits that were cut, for instance. In order, each once."""
    succeeded: bool = False
    """Whether any call has."""
    _unreachable: int = 0
    stopped: str | None = None
    """Why nothing is asked any more; None while it is."""

    def stop(self, why: str) -> ModelStoppedError:
        """Ends all asking: who waits gets the error, nobody sends again. Returns the error to raise; the first reason stays."""
        self.stopped = self.stopped or why
        self.limiter.abort(self.stopped)
        return ModelStoppedError(self.stopped)

    def note(self, said: str) -> None:
        """Keeps a sentence for the user, once; of very many the first."""
        if len(self.notes) < _NOTES:
            self.notes[f"[{self.section}] {said}"] = None

    async def call(
        self,
        attempt: Callable[[float], Awaitable[T]],
        *,
        order: tuple[int, int] = (0, 0),
        tokens: float = 0,
        spent: Callable[[T], float] | None = None,
    ) -> T:
        """Awaits `attempt(seconds it may take)` until it succeeds. The deadline counts from the first attempt, not from the waiting before it.

        `tokens`: an estimate for the limit a minute, corrected by `spent(result)`. Raises the last attempt's `CellError` when retries or time
        are used up, `ModelStoppedError` when the server is not worth asking, and what `attempt` raises besides `AttemptError`.
        """
        trial = _Trial(self.deadline_s)
        while True:
            try:
                result = await self._attempted(attempt, trial, order, tokens, spent)
            except AttemptError as error:
                await self._rest_after(error, trial)
            except (UntrustedError, ModelStoppedError) as error:
                raise self.stop(str(error)) from None
            else:
                self.succeeded = True
                self._unreachable = 0
                return result

    async def _attempted(
        self, attempt: Callable[[float], Awaitable[T]], trial: _Trial, order: tuple[int, int], tokens: float, spent: Callable[[T], float] | None
    ) -> T:
        await self.limiter.enter(order, tokens)
        dearer = 0.0
        try:
            self.counters.attempts += 1
            self.counters.retries += trial.attempts > 0
            result = await attempt(trial.next(self.timeout_s))
            dearer = spent(result) - tokens if spent is not None else 0.0
            return result
        finally:
            self.limiter.leave(dearer)

    async def _rest_after(self, error: AttemptError, trial: _Trial) -> None:
        """Waits before the next attempt, or raises because there is none."""
        self._count(error)
        trial.hung += isinstance(error, HungError)
        left = trial.left()
        if trial.attempts > self.max_retries or trial.hung >= HUNG_ATTEMPTS or left == 0:
            raise self._given_up(error, trial)
        wait = self.patience.backoff(trial.attempts - 1) if error.told_s is None else self.patience.told(error.told_s)
        if error.told_s is not None and error.told_s > self.patience.longest_told_s:
            trial.remark = f"it asked to wait {error.told_s:.0f} s, which is cut to {self.patience.longest_told_s:g} s"
        if left is not None and wait >= left:
            trial.remark = f"it asked to wait {error.told_s:.0f} s, which deadline_seconds cuts" if error.told_s is not None else trial.remark
            wait = left / 2  # half for waiting, half for one last answer
        if trial.remark:
            self.note(f"{error.message}; {trial.remark}")
        if isinstance(error, ThrottledError) or error.told_s is not None:
            self.limiter.pause(wait)
        self.counters.waited_s += wait
        await self.limiter.rest(wait)

    def _count(self, error: AttemptError) -> None:
        if isinstance(error, ThrottledError):
            self.counters.rate_limited += 1
        elif isinstance(error, HungError):
            self.counters.timeouts += 1
        else:
            self.counters.faults += 1

    def _given_up(self, error: AttemptError, trial: _Trial) -> Exception:
        tried = f"given up after {trial.attempts} request{'s' * (trial.attempts != 1)} in {trial.elapsed():.1f} s"
        message = "; ".join(part for part in (error.message, trial.remark, tried) if part)
        self._unreachable = self._unreachable + 1 if error.unreachable else 0
        if self._unreachable >= max(_UNREACHABLE_CALLS, 2 * self.limiter.concurrency):
            return self.stop(f"[{self.section}] cannot be reached: {self._unreachable} calls in a row failed; the last: {message}")
        return error.cell_error(message)


class _Trial:
    """One call on its way: attempts made, time used."""

    def __init__(self, deadline_s: float | None) -> None:
        self.attempts = 0
        self.hung = 0
        self.remark = ""
        self._deadline_s = deadline_s
        self._started: float | None = None

    def next(self, timeout_s: float) -> float:
        """Seconds that the attempt which begins now may take."""
        if self._started is None:
            self._started = time.monotonic()
        self.attempts += 1
        left = self.left()
        return timeout_s if left is None else max(0.001, min(timeout_s, left))

    def elapsed(self) -> float:
        """Seconds since the first attempt began."""
        return time.monotonic() - self._started if self._started is not None else 0.0

    def left(self) -> float | None:
        """Seconds until the deadline, at least 0; None without one."""
        return None if self._deadline_s is None else max(0.0, self._deadline_s - self.elapsed())
