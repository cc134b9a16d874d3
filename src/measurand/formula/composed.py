"""Composed characters (Unicode normalisation, UAX #15), within bounds: ordering a run of marks takes the square of its length."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Literal

from measurand.core.errors import InvalidFieldError

MOST_MARKS: Final = 1_000
"""Combining marks in a row. Writing has a handful; a million would take minutes."""


def composed(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """The text in normal form. Raises `InvalidFieldError` where more than `MOST_MARKS` combining marks follow each other."""
    if text.isascii():
        return text
    if len(text) > MOST_MARKS and _too_many_marks()(text):
        raise InvalidFieldError(f"a text holds more than {MOST_MARKS} combining marks in a row")
    return unicodedata.normalize(form, text)


@cache
def _too_many_marks() -> Callable[[str], Any]:
    import regex

    search: Callable[[str], Any] = regex.compile(rf"(?<!\p{{M}})\p{{M}}{{{MOST_MARKS + 1}}}").search
    return search
