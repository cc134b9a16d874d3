"""Runs of words that one text has from another, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
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
        wanted.update(_runs(_words(source)[0], size))
    if not wanted:
        return Copied(0, 0, ())
    words, starts, ends = _words(text)
    hits: list[int] = []
    found: set[tuple[str, ...]] = set()
    for at, run in enumerate(_runs(words, size)):
        if run in wanted:
            hits.append(at)
            found.add(run)
    seen = visible(text)
    spans = tuple(seen.original(starts[first], ends[last]) for first, last in _merged(hits, size))
    return Copied(len(found), len(wanted), spans)


def _runs(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(islice(words, shift, None) for shift in range(size)), strict=False)


def _words(text: str) -> tuple[list[str], list[int], list[int]]:
    """The words in lower case, and where each starts and ends in the visible text."""
    plain = visible(text).text.lower()
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _word().finditer(plain):
        start, end = match.span()
        cuts = [end] if match[0].isascii() else [at for at in range(start + 1, end) if not (_joins(plain[at - 1]) and _joins(plain[at]))] + [end]
        for cut in cuts:
            words.append(plain[start:cut])
            starts.append(start)
            ends.append(cut)
            start = cut
    return words, starts, ends


_joins = lru_cache(maxsize=1 << 16)(joins_words)


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


def _merged(hits: Iterable[int], size: int) -> Iterator[tuple[int, int]]:
    """(first word, last word) of each stretch covered by runs that begin at these words; ascending, those that touch as one."""
    first = last = -1
    for at in hits:
        if first < 0:
            first = at
        elif at > last + 1:
            yield first, last
            first = at
        last = at + size - 1
    if first >= 0:
        yield first, last
