from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import CellTimeoutError
from measurand.formula.edit import levenshtein_ratio


def _distance(a: str, b: str) -> int:
    """The textbook table (Wagner & Fischer 1974)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
    return row[-1]


@given(st.text(alphabet="abé", max_size=12), st.text(alphabet="abé", max_size=12))
def test_the_ratio_is_that_of_the_textbook(a: str, b: str) -> None:
    longer = max(len(a), len(b))
    assert levenshtein_ratio(a, b) == pytest.approx(1 - _distance(a, b) / longer if longer else 1)


@given(st.text(), st.text())
def test_range_identity_and_symmetry(a: str, b: str) -> None:
    assert levenshtein_ratio(a, a) == 1
    assert 0 <= levenshtein_ratio(a, b) == levenshtein_ratio(b, a) <= 1


def test_texts_too_long_to_compare_are_refused_and_equal_ones_are_not() -> None:
    long = "ab" * 200_000
    assert levenshtein_ratio(long, long) == 1
    with pytest.raises(CellTimeoutError, match="comparing 400000 with 400001 characters"):
        levenshtein_ratio(long, long + "a")
