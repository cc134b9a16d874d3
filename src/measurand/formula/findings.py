"""What a detector found: its kind and where it stands, and how it is shown without being told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

SHOWN: Final = 50
"""Findings that the details list one by one; `count` has all of them."""
_HIDDEN: Final = "***"
_LONGEST_PATH: Final = 200
_TELLING: Final = 5  # characters from which on the first and the last are shown


class Finding(NamedTuple):
    """`kind` in words of the detector; `start` and `end` are offsets into the text that was searched, in characters."""

    kind: str
    start: int
    end: int


class Place(NamedTuple):
    """A text of a row, where it stands (`output`, `tool_calls[2].arguments.body`), and what was found in it."""

    where: str
    text: str
    findings: Sequence[Finding]


def masked(text: str) -> str:
    """The first and the last character around stars, whatever stood between; nothing but stars for a text of fewer than five characters."""
    return f"{_shown(text[0])}{_HIDDEN}{_shown(text[-1])}" if len(text) >= _TELLING else _HIDDEN


def _shown(character: str) -> str:
    return character if character.isalnum() else "*"


def told(places: Iterable[Place]) -> dict[str, Any]:
    """The details of a result: `count`, `kinds` (how many of each), `findings` (the first fifty: kind, start, end, where, masked); {} for none."""
    every = [(place, finding) for place in places for finding in place.findings]
    if not every:
        return {}
    kinds: dict[str, int] = {}
    for _, finding in every:
        kinds[finding.kind] = kinds.get(finding.kind, 0) + 1
    return {"count": len(every), "kinds": kinds, "findings": [_told(place, finding) for place, finding in every[:SHOWN]]}


def _told(place: Place, finding: Finding) -> dict[str, Any]:
    kind, start, end = finding
    return {"kind": kind, "start": start, "end": end, "where": _short(place.where), "masked": masked(place.text[start:end])}


def _short(where: str) -> str:
    return where if len(where) <= _LONGEST_PATH else f"{where[:_LONGEST_PATH]}…"


def apart(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order of place, without those that overlap one given before them: of two readings of a text the first given counts."""
    from bisect import bisect_left

    kept: list[tuple[int, int, str]] = []
    for kind, start, end in findings:
        at = bisect_left(kept, (end, -1, ""))
        if at == 0 or kept[at - 1][1] <= start:
            kept.insert(at, (start, end, kind))
    return [Finding(kind, start, end) for start, end, kind in kept]


def texts_in(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Every text in a JSON value with its path, keys too (`where.key` for what stands under it); numbers as JSON writes them."""
    waiting = [(where, value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, str):
            yield path, one
        elif isinstance(one, Mapping):
            waiting += [(f"{path}.{key}", inner) for key, inner in reversed(list(one.items()))]
            yield from ((f"{path} (key)", key) for key in one if isinstance(key, str))
        elif isinstance(one, (list, tuple)):
            waiting += [(f"{path}[{index}]", inner) for index, inner in reversed(list(enumerate(one)))]
        elif isinstance(one, (int, float)) and not isinstance(one, bool):
            yield path, repr(one)
