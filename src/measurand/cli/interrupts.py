"""SIGTERM, which whoever runs a job sends before killing it, ends a run as Ctrl-C does: what is in flight is waited for a moment, and kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Inside, SIGTERM raises KeyboardInterrupt. Outside the main thread nothing changes: signals are not delivered there."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(signum: int, frame: FrameType | None) -> NoReturn:  # the signature of handlers
    raise KeyboardInterrupt
