"""A text as a reader sees it, with the way back to its own offsets: what detectors search, so that disguises of characters do not hide a finding."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import cache
from typing import NamedTuple

_LIKE_ASCII = {0x2018: "'", 0x2019: "'", 0x02BC: "'", 0xFF07: "'", 0x0130: "I", 0x2212: "-", 0x2043: "-"}


class Visible(NamedTuple):
    """`text` has one character for each visible one of the original; `skipped` has, for each invisible one, how many visible ones stand before it."""

    text: str
    skipped: tuple[int, ...] = ()

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that a non-empty span of `text` stands for."""
        if not self.skipped:
            return start, end
        return start + bisect_right(self.skipped, start), end + bisect_right(self.skipped, end - 1)


def visible(text: str) -> Visible:
    """The text as it is seen, one character for one.

    Invisible characters (Unicode Cf: zero-width, soft hyphen, marks of direction) go; digits of every script, full-width and styled letters, spaces, dashes
    and apostrophes become those of ASCII.
    """
    if text.isascii():
        return Visible(text)
    table = _table()
    plain = text.translate(table)
    if len(plain) == len(text):
        return Visible(plain)
    places = [place for place, character in enumerate(text) if table[ord(character)] is None]
    return Visible(plain, tuple([place - count for count, place in enumerate(places)]))


class _Table(dict[int, "str | None"]):
    """What becomes of a character; learned as characters are met."""

    def __missing__(self, code: int) -> str | None:
        self[code] = becomes = _becomes(chr(code))
        return becomes


@cache
def _table() -> _Table:
    return _Table(_LIKE_ASCII)


def _becomes(character: str) -> str | None:
    kind = unicodedata.category(character)
    if kind == "Cf":
        return None
    if kind == "Zs":
        return " "
    if kind == "Pd":
        return "-"
    if kind == "Nd":
        return str(unicodedata.decimal(character))
    if kind == "No":  # a superscript two is no digit of the number before it
        return character
    compatible = unicodedata.normalize("NFKC", character)
    return compatible if len(compatible) == 1 else character
