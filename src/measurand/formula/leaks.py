"""Planted strings that come out, under trivial disguises too."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from measurand.formula.findings import Finding, apart
from measurand.formula.normalise import joins_words
from measurand.formula.visible import visible

LONG_ENOUGH: Final = 8
"""Letters and digits from which on a canary is looked for inside words and under disguises; a shorter one counts as a whole word only."""


def canary_finds(canary: str, text: str) -> list[Finding]:
    """Where a canary stands in a text; kinds are `canary`, `canary.reversed`, `canary.hex`, `canary.base64`.

    Letter case, accents, and whatever stands between its letters and digits (spaces, marks, invisible characters) do not matter, nor do full-width and
    styled forms. In base64 (any of the three alignments, standard or URL alphabet) and in hexadecimal it stands as it was given.
    """
    letters = letters_of(canary)
    if not letters:
        return []
    seen = visible(text)
    bare, compact, coded = _forms(seen.text)
    if len(letters) < LONG_ENOUGH:
        spans: Iterable[tuple[tuple[int, int], str]] = [(match.span(), "canary") for match in _whole_words(canary).finditer(bare)]
    else:
        spans = _disguised(canary, letters, bare, compact, coded)
    return [Finding(kind, *seen.original(start, end)) for kind, start, end in apart(Finding(kind, *span) for span, kind in spans)]


def letters_of(canary: str) -> str:
    """What of a canary is compared: its letters and digits, lower-case and without accents. Empty for one that cannot be looked for."""
    return _marks().sub("", _bare(visible(canary).text))


def _disguised(canary: str, letters: str, bare: str, compact: str, coded: str) -> Iterator[tuple[tuple[int, int], str]]:
    raw = canary.encode("utf-8", "surrogatepass")
    for key, kind in ((letters, "canary"), (letters[::-1], "canary.reversed"), (raw.hex(), "canary.hex")):
        if key in compact:
            yield from ((match.span(), kind) for match in _spread(key, r"[\W_]*+").finditer(bare))
    for key in _base64_cores(raw):
        if key in coded:
            yield from ((match.span(), "canary.base64") for match in _spread(key, r"\s*+").finditer(coded))


def _base64_cores(raw: bytes) -> Iterator[str]:
    """What base64 makes of these bytes wherever they stand in a longer text: for each alignment, the characters that only they decide."""
    for shift in range(3):
        encoded = b64encode(b"\0" * shift + raw).decode()
        first = -(-shift * 8 // 6)
        last = (shift + len(raw)) * 8 // 6
        yield encoded[first:last]


class _Forms(NamedTuple):
    bare: str
    compact: str
    coded: str


@lru_cache(maxsize=2)
def _forms(text: str) -> _Forms:
    """A text as canaries are compared with it (several of a row with one text): character for character, letters and digits alone, and as base64."""
    bare = _bare(text)
    return _Forms(bare, _marks().sub("", bare), text.translate({45: "+", 95: "/"}))


class _Bare(dict[int, str]):
    """A letter without its accents; learned as letters are met."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFD", chr(code))
        self[code] = becomes = parts[0] if len(parts) > 1 and unicodedata.combining(parts[1]) else chr(code)
        return becomes


@cache
def _letters() -> _Bare:
    return _Bare()


def _bare(text: str) -> str:
    return text.lower() if text.isascii() else text.lower().translate(_letters())


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(r"[\W_]+")


@lru_cache(maxsize=256)
def _spread(key: str, between: str) -> re.Pattern[str]:
    return re.compile(between.join(map(re.escape, key)))


@lru_cache(maxsize=256)
def _whole_words(canary: str) -> re.Pattern[str]:
    """The words of a short canary with a few marks between them, not inside a longer word where its script has words."""
    words = _marks().sub(" ", _bare(visible(canary).text)).split()
    left = r"(?<![^\W_])" if joins_words(words[0][0]) else ""
    right = r"(?![^\W_])" if joins_words(words[-1][-1]) else ""
    return re.compile(left + r"[\W_]{1,3}".join(map(re.escape, words)) + right)
