"""Runs of words that one text has from another, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from measurand.formula.normalise import joins_words
from measurand.formula.visible import visible


class Copied(NamedTuple):
    """How many of the distinct runs of the sources occur in the text, how many there are, and where in the text they stand (spans, merged)."""

    found: int
    total: int
    spans: tuple[tuple[int, int], ...]


def copied(sources: Iterable[str], text: str, size: int) -> Copied:
    """The runs of `size` words of the sources that occur in the text. Letter case and punctuation do not matter; a script without spaces has a word a character."""
    wanted: set[tuple[str, ...]] = set()
    for source in sources:
        words = [word for word, _, _ in _words(source)]
        wanted.update(zip(*(words[shift:] for shift in range(size)), strict=False))
    if not wanted:
        return Copied(0, 0, ())
    placed = list(_words(text))
    runs = zip(*([word for word, _, _ in placed[shift:]] for shift in range(size)), strict=False)
    hits = [(at, run) for at, run in enumerate(runs) if run in wanted]
    seen = visible(text)
    spans = tuple(seen.original(placed[first][1], placed[last][2]) for first, last in _merged((at, at + size - 1) for at, _ in hits))
    return Copied(len({run for _, run in hits}), len(wanted), spans)


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Each word in lower case with its span in the visible text."""
    plain = visible(text).text.lower()
    for match in _word().finditer(plain):
        start, end = match.span()
        if match[0].isascii():
            yield match[0], start, end
            continue
        for at in range(start, end):
            if at + 1 == end or not (joins_words(plain[at]) and joins_words(plain[at + 1])):
                yield plain[start : at + 1], start, at + 1
                start = at + 1


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


def _merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ascending spans of words, those that touch or overlap as one."""
    open_: tuple[int, int] | None = None
    for first, last in spans:
        if open_ is not None and first <= open_[1] + 1:
            open_ = (open_[0], last)
        else:
            if open_ is not None:
                yield open_
            open_ = (first, last)
    if open_ is not None:
        yield open_
