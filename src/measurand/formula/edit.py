"""Edit distance of texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache


def levenshtein_ratio(a: str, b: str) -> float:
    """1 − edits / length of the longer text, over composed (NFC) characters, in [0, 1]; symmetric. Two empty texts: 1."""
    if not (a.isascii() and b.isascii()):
        a, b = unicodedata.normalize("NFC", a), unicodedata.normalize("NFC", b)
    return _similarity()(a, b)


@cache
def _similarity() -> Callable[[str, str], float]:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity
