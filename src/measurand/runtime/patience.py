"""How long to wait before the next attempt: what the server says, within reason, else a random time that grows."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from attrs import frozen


@frozen
class Patience:
    """The times between attempts, in seconds."""

    first_s: float = 0.5
    """Longest wait before the first retry; doubles with every further one."""
    longest_s: float = 30.0
    """Longest wait that we choose ourselves."""
    longest_told_s: float = 120.0
    """Longest wait that a server may ask for; what is longer is cut to it, and said."""
    uniform: Callable[[float, float], float] = random.uniform

    def backoff(self, retry: int) -> float:
        """Full jitter: anything between 0 and first · 2^retry, at most `longest_s`. `retry` counts from 0."""
        return self.uniform(0.0, min(self.longest_s, self.first_s * 2.0 ** min(retry, 30)))

    def told(self, seconds: float) -> float:
        """A wait the server asks for, cut to `longest_told_s`, and up to a tenth (at most a second) longer, so that not everyone comes back at once."""
        wait = min(seconds, self.longest_told_s)
        return wait + self.uniform(0.0, min(1.0, wait / 10))


PATIENCE: Final = Patience()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds until the time that Retry-After (seconds or an HTTP date) or retry-after-ms names; None where it is absent, past, or no time at all.

    A date counts from the server's own Date where it sends one, so that clocks need not agree.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None and seconds > 0:
            return seconds * unit
    moment = _date(headers.get("retry-after", ""))
    if moment is None:
        return None
    seconds = (moment - (_date(headers.get("date", "")) or datetime.now(UTC))).total_seconds()
    return seconds if seconds > 0 else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
