"""Edit distance of texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from measurand.core.errors import CellTimeoutError
from measurand.formula.composed import composed

LARGEST: Final = 100_000_000_000
"""Characters of one text times characters of the other: beyond, the search for the fewest edits takes more than a few seconds."""


def levenshtein_ratio(a: str, b: str) -> float:
    """1 − edits / length of the longer text, over composed (NFC) characters, in [0, 1]; symmetric. Two empty texts: 1.

    Raises `CellTimeoutError` for different texts of more than `LARGEST` pairs of characters.
    """
    if not (a.isascii() and b.isascii()):
        a, b = composed(a), composed(b)
    if a == b:
        return 1.0
    if len(a) * len(b) > LARGEST:
        raise CellTimeoutError(f"comparing {len(a)} with {len(b)} characters would take too long; the product may be at most {LARGEST}")
    return _similarity()(a, b)


@cache
def _similarity() -> Callable[[str, str], float]:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity
