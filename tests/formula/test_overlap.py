from __future__ import annotations

import warnings
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.overlap import Overlap, f1, jaccard, multiset_overlap

TOKENS = st.lists(st.sampled_from("abcdefg"), max_size=60)


@given(TOKENS, TOKENS)
def test_shared_tokens_are_those_of_a_counter(given_: list[str], wanted: list[str]) -> None:
    assert multiset_overlap(given_, wanted) == (sum((Counter(given_) & Counter(wanted)).values()), len(given_), len(wanted))


@given(TOKENS, TOKENS)
def test_f1_lies_between_precision_and_recall_and_is_symmetric(a: list[str], b: list[str]) -> None:
    overlap = multiset_overlap(a, b)
    low, high = sorted((overlap.precision, overlap.recall))
    assert low - 1e-12 <= f1(overlap) <= high + 1e-12
    assert f1(overlap) == f1(multiset_overlap(b, a))


@given(TOKENS)
def test_identity_is_the_maximum(a: list[str]) -> None:
    overlap = multiset_overlap(a, list(a))
    assert (overlap.precision, overlap.recall, f1(overlap), jaccard(a, a)) == (1, 1, 1, 1)


@given(TOKENS, TOKENS)
def test_jaccard_is_symmetric_and_in_range(a: list[str], b: list[str]) -> None:
    assert 0 <= jaccard(a, b) == jaccard(b, a) <= 1


@pytest.mark.parametrize(
    ("overlap", "expected"), [(Overlap(0, 0, 0), (1, 1, 1)), (Overlap(0, 0, 2), (0, 0, 0)), (Overlap(0, 2, 0), (0, 0, 0)), (Overlap(0, 9, 9), (0, 0, 0))]
)
def test_empty_sides_and_no_overlap_give_0_or_1_without_a_warning(overlap: Overlap, expected: tuple[float, float, float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (overlap.precision, overlap.recall, f1(overlap)) == expected
