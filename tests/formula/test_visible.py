"""A text as it is seen, and the way back."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.visible import visible

DISGUISED = st.text(st.sampled_from("ab1 \u200b\u00ad\u2060１Ａ\u00a0–é請²ﬁ😀\U000e0041"), max_size=30)


def test_each_disguise_is_undone() -> None:
    assert visible("Ａ\u200b１\u00a0–²ﬁ’").text == "A1 -²ﬁ'"
    assert visible("٤٢ ४").text == "42 4"


def test_ascii_is_returned_as_it_is() -> None:
    assert visible("a-1").text == "a-1"
    assert visible("a-1").original(1, 3) == (1, 3)


def test_offsets_lead_back() -> None:
    seen = visible("x\u200by\u200b\u200bz")
    assert seen.text == "xyz"
    assert [seen.original(at, at + 1) for at in range(3)] == [(0, 1), (2, 3), (5, 6)]
    assert seen.original(0, 3) == (0, 6)


@given(DISGUISED)
def test_every_character_leads_to_the_one_it_stands_for(text: str) -> None:
    seen = visible(text)
    places = [seen.original(at, at + 1) for at in range(len(seen.text))]
    assert all(end == start + 1 for start, end in places)
    left = [character for character in text if unicodedata.category(character) != "Cf"]
    assert [text[start] for start, _ in places] == left


@given(st.text(max_size=40))
def test_lower_case_keeps_the_length(text: str) -> None:
    assert len(visible(text).text.lower()) == len(visible(text).text)
