from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.effort import _deadline
from measurand.core.errors import CellTimeoutError
from measurand.formula.assignment import best_assignment

WEIGHTS = st.sampled_from([0, 0, 1, 2, 3, 7, 10**30])
TABLES = st.integers(0, 4).flatmap(lambda width: st.lists(st.lists(WEIGHTS, min_size=width, max_size=width), max_size=4))


def _total(weights: list[list[int]], given_: list[int | None]) -> int:
    return sum(weights[row][column] for row, column in enumerate(given_) if column is not None)


def _largest(weights: list[list[int]]) -> int:
    """By trying every way."""
    width = max(len(weights), *(len(row) for row in weights)) if weights else 0
    padded = [[*row, *[0] * (width - len(row))] for row in weights]
    return max((sum(row[column] for row, column in zip(padded, order, strict=False)) for order in permutations(range(width))), default=0)


@given(TABLES)
def test_the_total_is_the_largest_there_is(weights: list[list[int]]) -> None:
    given_ = best_assignment(weights)
    columns = [column for column in given_ if column is not None]
    assert len(given_) == len(weights)
    assert len(set(columns)) == len(columns)
    assert all(column is None or weights[row][column] > 0 for row, column in enumerate(given_))
    assert _total(weights, given_) == _largest(weights)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([], []),
        ([[]], [None]),
        ([[0]], [None]),
        ([[2, 1], [2, 0]], [1, 0]),
        ([[3, 2], [3, 3], [1, 0]], [0, 1, None]),
        ([[1, 1, 1]], [0]),
    ],
)
def test_who_is_given_what(weights: list[list[int]], expected: list[int | None]) -> None:
    assert best_assignment(weights) == expected


def test_a_table_too_large_ends_with_the_cell_s_time() -> None:
    token = _deadline.set(0.0)
    try:
        with pytest.raises(CellTimeoutError):
            best_assignment([[1]])
    finally:
        _deadline.reset(token)
