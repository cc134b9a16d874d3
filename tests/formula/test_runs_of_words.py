"""Runs of words that one text has from another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.runs_of_words import copied

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "it's", "京都", "x", "1,000", "–"]), max_size=12).map(" ".join)


def test_counted_by_hand() -> None:
    found = copied(["a b c d e"], "x, A b; c y c D e", 3)
    assert (found.found, found.total) == (2, 3)
    assert found.spans == ((3, 9), (12, 17))


def test_a_run_that_comes_twice_counts_once() -> None:
    assert copied(["a b a b"], "a b a b", 2) == (2, 2, ((0, 7),))


def test_sources_are_not_joined() -> None:
    assert copied(["a b", "c d"], "b c", 2).found == 0


def test_fewer_words_than_a_run_are_none() -> None:
    assert copied(["a b"], "a b", 3) == (0, 0, ())


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_bounds_and_identity(source: str, text: str, size: int) -> None:
    found = copied([source], text, size)
    assert 0 <= found.found <= found.total
    assert bool(found.spans) == bool(found.found)
    assert all(0 <= start < end <= len(text) for start, end in found.spans)
    same = copied([source], source, size)
    assert same.found == same.total


@given(TEXTS, TEXTS, TEXTS, st.integers(1, 4))
def test_more_text_never_repeats_less(source: str, text: str, more: str, size: int) -> None:
    assert copied([source], f"{text} {more}", size).found >= copied([source], text, size).found
