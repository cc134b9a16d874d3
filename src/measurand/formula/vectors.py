"""Vectors of an embedding model: how alike two directions are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from measurand.core.errors import InvalidResponseError


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """a·b / (|a|·|b|), in [−1, 1]; exactly 1 for a vector and itself.

    Raises `InvalidResponseError` for what has no direction or cannot be compared: a zero or non-finite vector, two lengths.
    """
    if len(a) != len(b):
        raise InvalidResponseError(f"the embedding model gave vectors of {len(a)} and {len(b)} numbers, which cannot be compared")
    one, other = _scaled(a), _scaled(b)
    dot = math.fsum(x * y for x, y in zip(one, other, strict=True))
    norms = math.sqrt(math.fsum(x * x for x in one) * math.fsum(y * y for y in other))
    return max(-1.0, min(1.0, dot / norms))


def _scaled(vector: Sequence[float]) -> list[float]:
    """The vector divided by its largest component, so that no product leaves the range of a float."""
    numbers = [float(x) for x in vector]
    largest = max((abs(x) for x in numbers), default=0.0)
    if not all(map(math.isfinite, numbers)):
        raise InvalidResponseError("the embedding model gave a vector with NaN or infinity in it, which is no direction")
    if largest == 0.0:
        raise InvalidResponseError("the embedding model gave a vector of zeros, which has no direction")
    return [x / largest for x in numbers]
