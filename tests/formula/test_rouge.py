from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from measurand.core.errors import CellTimeoutError
from measurand.formula.overlap import Overlap, f1
from measurand.formula.rouge import rouge_l, rouge_lsum, rouge_n

KINDS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
SCORER = rouge_scorer.RougeScorer(list(KINDS), use_stemmer=False)
WORDS = st.lists(st.sampled_from(["one", "two", "Three", "four", "é", "\n", ",", "5.5", "naïve"]), max_size=24).map(" ".join)


def _ours(output: str, reference: str) -> dict[str, Overlap]:
    overlaps = (rouge_n(output, reference, 1), rouge_n(output, reference, 2), rouge_l(output, reference), rouge_lsum(output, reference))
    return dict(zip(KINDS, overlaps, strict=True))


@given(WORDS, WORDS)
def test_latin_texts_score_as_by_rouge_score_where_both_have_tokens(output: str, reference: str) -> None:
    theirs = SCORER.score(reference, output)
    for kind, overlap in _ours(output, reference).items():
        if overlap.given > 1 and overlap.wanted > 1:
            assert (overlap.precision, overlap.recall, f1(overlap)) == pytest.approx(tuple(theirs[kind]), abs=1e-12), kind


@given(st.text())
def test_identity_is_the_maximum(text: str) -> None:
    assert {f1(overlap) for overlap in _ours(text, text).values()} == {1}


@given(st.text(), st.text())
def test_range_on_any_text(output: str, reference: str) -> None:
    for overlap in _ours(output, reference).values():
        assert 0 <= overlap.shared <= min(overlap.given, overlap.wanted)


def test_one_script_on_one_side_is_read_alike_on_both() -> None:
    assert f1(rouge_n("naïve café Москва", "naïve café", 1)) == pytest.approx(2 * 2 / 5)


def test_a_letter_that_all_scripts_share_changes_nothing() -> None:
    assert rouge_n("5 µm café", "5 µm caf", 1) == Overlap(3, 3, 3)


def test_texts_too_long_to_compare_are_refused_and_equal_ones_are_not() -> None:
    long, other = "a b " * 50_000, "b c " * 50_000
    assert f1(rouge_l(long, long)) == f1(rouge_lsum(long, long)) == 1
    with pytest.raises(CellTimeoutError, match="comparing 100000 words with 100000 words"):
        rouge_l(long, other)
    with pytest.raises(CellTimeoutError, match="comparing 100000 words with 100000 words"):
        rouge_lsum(long, other)
    with pytest.raises(CellTimeoutError, match="comparing 2000 lines with 2000 words"):
        rouge_lsum("a\n" * 2000, "b\n" * 2000)
