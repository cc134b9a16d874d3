"""Patterns that strangers write (rows, options, schemas): compiled within bounds, and searched by the `regex` package, which can be interrupted."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Final

from measurand.core.effort import still_time
from measurand.core.errors import CellTimeoutError, InvalidFieldError

SECONDS: Final = 0.1
"""How long one match may take."""
LONGEST: Final = 10_000
"""Characters of a pattern."""
LARGEST: Final = 20_000
"""Items of a pattern after its repeats are written out: compiling does that, and `(a{1000}){1000}` would fill the memory."""


def found(pattern: str, text: str, *, whole: bool = False, ignore_case: bool = False, field: str | None = None) -> bool:
    """Whether the pattern matches somewhere in the text (`whole`: all of it). `field` is where the pattern came from.

    Raises `InvalidFieldError` for what is no pattern or too large, `CellTimeoutError` when a match takes longer than `SECONDS`.
    """
    still_time()
    compiled = _compiled(pattern, ignore_case, field)
    match = compiled.fullmatch if whole else compiled.search
    try:
        return match(text, timeout=SECONDS) is not None
    except TimeoutError:
        raise CellTimeoutError(f"the pattern {pattern!r:.80} took more than {SECONDS} s on a text of {len(text)} characters", field) from None


def written_out(pattern: str) -> int:
    """How many items a pattern has when each repeat is written out as often as it must occur: `(ab){3}c{2,}` has 8."""
    sizes = [0]  # of the groups that are open
    last = 0  # of the item before a repeat
    for piece in _piece().finditer(pattern):
        if piece["open"]:
            sizes.append(0)
            last = 0
        elif piece["close"] and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif piece["least"]:
            sizes[-1] += last * (max(int(piece["least"][:9]), 1) - 1)
            last *= max(int(piece["least"][:9]), 1)
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)


@lru_cache(maxsize=256)
def _compiled(pattern: str, ignore_case: bool, field: str | None) -> Any:
    import regex

    if len(pattern) > LONGEST or written_out(pattern) > LARGEST:
        raise InvalidFieldError(
            f"the pattern {pattern!r:.80} is too large: at most {LONGEST} characters, and {LARGEST} items with its repeats written out", field
        )
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError, OverflowError, MemoryError, ValueError) as error:
        raise InvalidFieldError(f"the pattern {pattern!r:.80} is no regular expression: {error or type(error).__name__}", field) from None


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|(?P<open>\()|(?P<close>\))|\{(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL)
