"""An age as it is typed: 12h, 90d, 8w."""

from __future__ import annotations

from typing import Final

from measurand.core.errors import Problem, UsageError

_DIGITS: Final = 5  # more would lie before the calendar begins
_IN_DAYS: Final = {"h": 1 / 24, "d": 1.0, "w": 7.0}


def days(text: str, where: str) -> float:
    """The age in days. Raises `UsageError` for what is none."""
    number = text[:-1]
    if text[-1:] not in _IN_DAYS or not number.isdecimal() or len(number) > _DIGITS:
        raise UsageError(Problem("bad_option", where, f"'{text}' is no age", "a number with h, d or w: 12h, 90d, 8w"))
    return int(number) * _IN_DAYS[text[-1]]
