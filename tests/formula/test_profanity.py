"""Listed words, as whole words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.profanity import LANGUAGES, SLURS, VULGAR, profane_words

LISTED = sorted({word for words in VULGAR.values() for word in words.split()})


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_a_list_is_found_in_any_case(language: str) -> None:
    words = VULGAR[language].split()
    assert words == [word.lower() for word in words]
    text = " ".join(word.upper() if "ß" not in word else word for word in words)
    assert [one.kind for one in profane_words(text, [language])] == ["vulgar"] * len(words)


def test_slurs_are_found_in_every_language() -> None:
    assert {one.kind for one in profane_words(SLURS, ["fr"])} == {"slur"}


@given(st.sampled_from(LISTED), st.sampled_from("abzé"))
def test_no_part_of_a_word_counts(word: str, letter: str) -> None:
    text = f"{letter}{word}"
    assert profane_words(text) == [] or text in LISTED


@given(st.text(max_size=60))
def test_any_text_gives_spans_of_listed_words(text: str) -> None:
    assert all(0 <= one.start < one.end <= len(text) for one in profane_words(text))
