from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.quotes import quotations, quoted_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('It says "machine learning improves results".', ["machine learning improves results"]),
        ('"results are big," she said', ["results are big"]),
        ("He said 'the results are significant' and left.", ["the results are significant"]),
        ("'it isn't what they say'", ["it isn't what they say"]),
        ("It's what they don't say, isn't it?", []),
        ("“one two three” „vier fünf sechs“ «sept huit neuf» ‘ten eleven twelve’", ["one two three", "vier fünf sechs", "sept huit neuf", "ten eleven twelve"]),
        ("`return the final result`", ["return the final result"]),
        ("```python\nx = 1 + 2\n```", []),
        ('unclosed "quote here and on\n\n"the next one here"', ["the next one here"]),
        ('"over\none line break"', ["over\none line break"]),
        ('"two words"', []),
        ("「日本語」", ["日本語"]),
    ],
)
def test_quotations_of_three_words(text: str, expected: list[str]) -> None:
    assert quotations(text, 3) == expected


def test_a_quotation_is_found_in_one_passage_as_whole_words() -> None:
    assert quoted_in("one  Two\nthree", ["zero one two three four"], casefold=True)
    assert not quoted_in("one two three", ["one two", "three"], casefold=True)
    assert not quoted_in("ne two three", ["one two three"], casefold=True)
    assert not quoted_in("one Two three", ["one two three"], casefold=False)


@given(st.text(alphabet="\"'“”‘’„«»`ab \n"))
def test_no_text_raises(text: str) -> None:
    assert all(quotation for quotation in quotations(text, 1))
