from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.normalise import ARTICLES, folded, joins_words, normalised, tokens, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Eiffel Tower.", ("eiffel", "tower")),
        ("(2.71)", ("2.71",)),
        ("2.71.", ("2.71",)),
        ("costs .5 or 1,000 or 1'000", ("costs", ".5", "or", "1000", "or", "1000")),
        ("-7 and x-7 and 3-7", ("-7", "and", "x7", "and", "37")),
        ("−7", ("-7",)),
        ("10\u00a0000", ("10000",)),
        ("3٫14", ("3٫14",)),
        ("version 6.15.0", ("version", "6.15.0")),
        ("it’s well‑known", ("its", "wellknown")),
        ("yes—no…maybe", ("yes", "no", "maybe")),
        ("¿Qué?", ("qué",)),
        ("soft\u00adhyphen \u200fbidi", ("softhyphen", "bidi")),
        ("می‌خواهم", ("می‌خواهم",)),
        ("北京 2008年。", ("北", "京", "2008", "年")),
        ("ก็ดี", ("ก็", "ดี")),
        ("한국어 문장", ("한국어", "문장")),
        ("STRASSE Straße", ("strasse", "strasse")),
        ("cafe\u0301", ("café",)),
        ("A", ("a",)),
        ("the a", ("the", "a")),
        ("+", ("+",)),
        ("👍 ok", ("👍", "ok")),
        (" \t", ()),
        ("", ()),
    ],
)
def test_tokens(text: str, expected: tuple[str, ...]) -> None:
    assert tokens(text) == expected


def test_words_keep_articles() -> None:
    assert words("The cat, a dog") == ("the", "cat", "a", "dog")


@given(st.text())
def test_only_a_blank_text_has_no_token_and_articles_stay_only_alone(text: str) -> None:
    found = tokens(text)
    assert bool(found) == bool(folded(text).split())
    assert not ARTICLES.intersection(found) or ARTICLES.issuperset(found)


@given(st.text())
def test_normalising_does_not_mind_the_unicode_form(text: str) -> None:
    assert normalised(text) == normalised(unicodedata.normalize("NFD", text)) == normalised(unicodedata.normalize("NFC", text))


@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "Z")), max_size=800))
def test_ascii_letters_are_split_as_by_white_space(text: str) -> None:
    plain = text.lower().split()
    assert list(words(text)) == plain


@pytest.mark.parametrize(
    ("character", "joins"), [("a", True), ("7", True), ("_", True), ("é", True), ("ি", True), ("北", False), ("ก", False), ("-", False), ("。", False)]
)
def test_joins_words(character: str, joins: bool) -> None:
    assert joins_words(character) is joins
