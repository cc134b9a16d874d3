from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.choice import chosen_letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(B)", "B"),
        ("**B.** Paris", "B"),
        ("B) Paris", "B"),
        ("B: Paris", "B"),
        ("A, because the sky is blue", "A"),
        ("A is correct", "A"),
        ("A\n\nBecause of the sky.", "A"),
        ("The answer is (C).", "C"),
        ("The correct answer is option D.", "D"),
        ("Final answer: C) 12", "C"),
        ("ANSWER: A\nWait, that is wrong.\nANSWER: B", "B"),
        ("The answer is D because (A) is false", "D"),
        ("The answer is not B, it is C.", "C"),
        ("Answer: None of these (E)", "E"),
        ("\\boxed{\\text{D}}", "D"),
        ("#### A", "A"),
        ("I choose option C because A is wrong.", "C"),
        ("Option A is wrong. Option B is right.", "B"),
        ("Both (A) and (B) seem right; (B)", "B"),
        ("it is C.", "C"),
        ("答案是B", "B"),
        ("Ｂ", "B"),
        ("A man walks into a bar", None),
        ("A dog.", None),
        ("The answer is a cat", None),
        ("I choose a dog", None),
        ("What do I know? So do I", None),
        ("A or B", None),
        ("A-B", None),
        ("I don't know", None),
        ("\\boxed{7} as in (A)", None),
        ("", None),
    ],
)
def test_the_chosen_letter(text: str, letter: str | None) -> None:
    assert chosen_letter(text) == letter


@given(st.text())
def test_any_text_chooses_one_letter_or_none(text: str) -> None:
    letter = chosen_letter(text)
    assert letter is None or (len(letter) == 1 and "A" <= letter <= "Z")
