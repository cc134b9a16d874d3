"""Patterns that strangers write (rows, options, schemas): searched by the `regex` package, which can be interrupted."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from measurand.core.errors import CellTimeoutError, InvalidFieldError

SECONDS: Final = 0.1
"""How long one match may take."""
LONGEST: Final = 10_000
"""Characters of a pattern."""


def found(pattern: str, text: str, *, whole: bool = False, ignore_case: bool = False, field: str | None = None) -> bool:
    """Whether the pattern matches somewhere in the text (`whole`: all of it). `field` is where the pattern came from.

    Raises `InvalidFieldError` for what is no pattern, `CellTimeoutError` after `SECONDS`.
    """
    compiled = _compiled(pattern, ignore_case, field)
    match = compiled.fullmatch if whole else compiled.search
    try:
        return match(text, timeout=SECONDS) is not None
    except TimeoutError:
        raise CellTimeoutError(f"the pattern {pattern!r:.80} took more than {SECONDS} s on a text of {len(text)} characters", field) from None


@lru_cache(maxsize=256)
def _compiled(pattern: str, ignore_case: bool, field: str | None) -> Any:
    import regex

    if len(pattern) > LONGEST:
        raise InvalidFieldError(f"the pattern has {len(pattern)} characters; at most {LONGEST} are allowed", field)
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise InvalidFieldError(f"the pattern {pattern!r:.80} is no regular expression: {error or type(error).__name__}", field) from None
