from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.readability import Counts, Formula, counted, readability, syllables_of

FORMULAS: tuple[Formula, ...] = ("flesch", "flesch_kincaid", "ari")


@pytest.mark.parametrize(
    ("text", "formula", "published"),
    [
        ("The cat sat on the mat.", "flesch", 116),
        ("This sentence, taken as a reading passage unto itself, is being used to prove a point.", "flesch", 69),
        ("The Australian platypus is seemingly a hybrid of a mammal and reptilian creature.", "flesch", 37.5),
        ("The Australian platypus is seemingly a hybrid of a mammal and reptilian creature.", "flesch_kincaid", 11.3),
        ("Go. Sit. Run.", "flesch", 121.22),
        ("Go. Sit. Run.", "flesch_kincaid", -3.4),
    ],
)
def test_published_examples(text: str, formula: Formula, published: float) -> None:
    """Wikipedia, Flesch–Kincaid readability tests: as precise as it prints them."""
    decimals = len(str(published).partition(".")[2])
    assert round(readability(counted(text), formula), decimals) == published


def test_the_formulas_by_hand() -> None:
    """100 words in 5 sentences, 150 syllables, 450 characters."""
    counts = Counts(450, 150, 100, 5, 450, 0)
    assert readability(counts, "flesch") == pytest.approx(206.835 - 20.3 - 126.9)
    assert readability(counts, "flesch_kincaid") == pytest.approx(7.8 + 17.7 - 15.59)
    assert readability(counts, "ari") == pytest.approx(21.195 + 10 - 21.43)


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        ("cat", 1),
        ("make", 1),
        ("makes", 1),
        ("walked", 1),
        ("wanted", 2),
        ("boxes", 2),
        ("table", 2),
        ("settled", 2),
        ("called", 1),
        ("going", 2),
        ("player", 2),
        ("played", 1),
        ("various", 3),
        ("nation", 2),
        ("million", 2),
        ("society", 4),
        ("patient", 2),
        ("actual", 3),
        ("create", 2),
        ("creature", 2),
        ("didn't", 2),
        ("can't", 1),
        ("optimism", 4),
        ("movement", 2),
        ("someone", 2),
        ("week-end", 2),
        ("3.14", 1),
        ("rhythm", 1),
        ("hmm", 1),
    ],
)
def test_syllables(word: str, syllables: int) -> None:
    assert syllables_of(word) == syllables


@pytest.mark.parametrize(
    ("text", "words", "sentences"),
    [
        ("Mr. T. left. So did I. Done", 7, 3),
        ("Really?! Yes… No.", 3, 3),
        ('He said "Stop." Then he left.', 6, 2),
        ("It grew, e.g. Lund vs. Rome, by 3.5 per cent.", 10, 1),
        ("A heading\n\nSome text\nthat goes on", 7, 2),
        ("1. First\n2. Second", 2, 2),
        ("10–12 days—or more--not less", 7, 1),
        ("?! ...", 0, 0),
        ("", 0, 0),
    ],
)
def test_words_and_sentences(text: str, words: int, sentences: int) -> None:
    counts = counted(text)
    assert (counts.words, counts.sentences) == (words, sentences)


def test_letters_by_script() -> None:
    assert counted("naïve Æsop").latin == 10
    assert counted("Привет, мир") == Counts(0, 0, 0, 0, 0, 9)
    assert not counted("Привет OK").is_readable
    assert not counted("12 34").is_readable
    assert counted("OK 京").is_readable


@given(st.text(max_size=200))
def test_every_readable_text_has_finite_values_within_their_bounds(text: str) -> None:
    counts = counted(text)
    assert counts.words >= counts.sentences
    assert min(counts.syllables, counts.characters) >= counts.words
    assert (counts.words > 0) == (counts.sentences > 0)
    if counts.is_readable:
        flesch, grade, ari = (readability(counts, formula) for formula in FORMULAS)
        assert flesch <= 121.22 + 1e-9
        assert grade >= -3.4 - 1e-9
        assert math.isfinite(ari)
