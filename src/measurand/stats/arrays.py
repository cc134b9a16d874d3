"""The arrays statistics are computed from: their types, and integer codes that name groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.int64]
"""One integer per row: rows with the same code are of one task (cluster)."""

_BLOCK = 1 << 16
_SPARSE = 4  # codes beyond this many times n are renumbered, so that a table by code stays of the order of n


def dense(codes: Codes) -> Codes:
    """The same grouping in codes 0 … of the order of n. A negative code means "in no group": such a row becomes a group of its own."""
    n = codes.size
    alone = codes < 0
    lonely = int(np.count_nonzero(alone))
    highest = int(codes.max(initial=-1))
    if lonely:
        codes = codes.copy()
        codes[alone] = highest + 1 + np.arange(lonely)
        highest += lonely
    if highest >= _SPARSE * n:
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return codes


def blocks(values: Floats) -> Iterator[Floats]:
    """The values in views of 65 536, so that what is computed from a million of them needs no second million."""
    for start in range(0, values.size, _BLOCK):
        yield values[start : start + _BLOCK]


def same_length(values: NDArray[np.generic], **others: NDArray[np.generic] | None) -> None:
    """Raise ValueError when one of the arrays is not one-dimensional or not as long as `values`."""
    for name, other in {"values": values, **others}.items():
        if other is not None and other.shape != (values.size,):
            raise ValueError(f"'{name}' has shape {other.shape}; one-dimensional with {values.size} entries is needed, one per row")
