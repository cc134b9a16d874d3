"""Embeddings as they come over the wire: numbers or base64, in any order; and what makes a vector unusable."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from measurand.core.errors import CellError, InvalidResponseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]


def vectors_of(entries: Any, count: int, length: int | None = None) -> list[Vector | CellError]:
    """The vectors of `count` texts, in their order, from a reply's `data`: attached by `index`, by position only where no entry has one.

    A text whose vector is absent, given twice, unreadable, of another length than `length` or the others', not finite or zero has an error in its place. Raises
    `InvalidResponseError` for a reply that is no list of vectors, or that has an index that no text has.
    """
    found: dict[int, Vector | CellError] = {}
    for index, entry in _indexed(entries, count):
        twice = index in found
        found[index] = InvalidResponseError("the server sent more than one vector for this text") if twice else _vector(entry.get("embedding"))
    return usable([found.get(index, InvalidResponseError("the server sent no vector for this text")) for index in range(count)], length)


def usable(vectors: Sequence[Vector | CellError], length: int | None = None) -> list[Vector | CellError]:
    """The vectors with errors in place of those that no similarity can be computed from. `length`: what they must have; None: what most of them have."""
    import numpy as np

    lengths = Counter(len(one) for one in vectors if not isinstance(one, CellError))
    expected = length or (lengths.most_common(1)[0][0] if lengths else 0)

    def checked(vector: Vector | CellError) -> Vector | CellError:
        if isinstance(vector, CellError):
            return vector
        if len(vector) != expected or not expected:
            return InvalidResponseError(f"the server sent a vector of {len(vector)} numbers, where others have {expected}")
        if not np.isfinite(vector).all():
            return InvalidResponseError("the server sent a vector with NaN or an infinity in it")
        if not vector.any():
            return InvalidResponseError("the server sent a vector of zeros, which has no direction")
        return vector

    return [checked(one) for one in vectors]


def _indexed(entries: Any, count: int) -> list[tuple[int, Mapping[str, Any]]]:
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InvalidResponseError("the server's reply has no list of vectors under `data`")
    if not any("index" in one for one in entries):
        if len(entries) != count:
            raise InvalidResponseError(f"the server sent {len(entries)} vectors without index for {count} texts")
        return list(enumerate(entries))
    indices = [one.get("index") for one in entries]
    wrong = [one for one in indices if not isinstance(one, int) or isinstance(one, bool) or not 0 <= one < count]
    if wrong:
        raise InvalidResponseError(f"the server sent a vector with the index {wrong[0]!r} for {count} texts")
    return list(zip(indices, entries, strict=True))


def _vector(value: Any) -> Vector | CellError:
    import numpy as np

    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
        if isinstance(value, list) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in value):
            with np.errstate(over="ignore"):  # what is too large for a float32 is found as an infinity
                return np.array(value, dtype=np.float32)
    except (binascii.Error, ValueError, OverflowError):
        pass
    return InvalidResponseError("the server sent what is no vector for this text")
