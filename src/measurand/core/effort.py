"""How long one metric may work on one row. Formulas whose work can outgrow the row ask `still_time` in their loops."""

from __future__ import annotations

from contextvars import ContextVar
from math import inf
from time import monotonic
from typing import Final

from measurand.core.errors import CellTimeoutError

SECONDS: Final = 5.0
"""More than any real row takes: what runs into it was made to, or is far too large for its metric."""

_deadline: ContextVar[float] = ContextVar("_deadline", default=inf)


def begin() -> None:
    """A cell begins: its time runs from now. A bare formula, called outside a cell, has all the time there is."""
    _deadline.set(monotonic() + SECONDS)


def end() -> None:
    """The cell ended."""
    _deadline.set(inf)


def still_time() -> None:
    """Raises `CellTimeoutError` when the cell's time is over."""
    if monotonic() > _deadline.get():
        raise CellTimeoutError(f"the metric worked on this row for more than {SECONDS:g} s")
