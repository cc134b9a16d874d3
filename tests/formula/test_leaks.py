"""Canaries: every disguise that the page names, and what is none."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.leaks import LONG_ENOUGH, canary_finds, letters_of

CANARIES = st.text(st.sampled_from("abcXYZ0123456789-_ éß京"), min_size=10, max_size=24).filter(lambda one: len(letters_of(one)) >= LONG_ENOUGH)
AROUND = st.text(st.sampled_from("qw .,\n"), max_size=12)


def kinds(canary: str, text: str) -> set[str]:
    return {one.kind for one in canary_finds(canary, text)}


@given(CANARIES, AROUND, AROUND)
def test_a_canary_is_found_as_it_is(canary: str, before: str, after: str) -> None:
    text = f"{before}{canary}{after}"
    spans = [(one.start, one.end) for one in canary_finds(canary, text)]
    assert any(letters_of(text[start:end]) in (letters_of(canary), letters_of(canary)[::-1]) for start, end in spans)


@given(CANARIES, st.sampled_from([" ", "-", "\u200b", ". ", "\n"]))
def test_spread_and_in_small_letters(canary: str, between: str) -> None:
    assert canary_finds(canary, between.join(canary.lower()))


@given(CANARIES, st.integers(0, 5), AROUND)
def test_in_base64_at_every_alignment(canary: str, shift: int, after: str) -> None:
    raw = b"#" * shift + canary.encode() + after.encode()
    assert canary_finds(canary, f"Here: {b64encode(raw).decode()} .")
    assert canary_finds(canary, urlsafe_b64encode(raw).decode())


@given(CANARIES)
def test_in_hexadecimal_and_backwards(canary: str) -> None:
    assert canary_finds(canary, canary.encode().hex().upper())
    assert canary_finds(canary, canary.encode().hex(":"))
    assert canary_finds(canary, letters_of(canary)[::-1])


@pytest.mark.parametrize(
    ("canary", "text", "expected"),
    [
        ("zk42", "ZK42.", {"canary"}),
        ("zk42", "key_ZK42=1", {"canary"}),
        ("zk42", "zk421", set()),
        ("zk42", "z k 4 2", set()),
        ("blue fox", "Blue\n fox", {"canary"}),
        ("青い鳥", "その青い鳥は", {"canary"}),
        ("Crème-Brûlée", "creme brulee", {"canary"}),
        ("Crème-Brûlée", "CRE\u0300ME BRU\u0302LE\u0301E", {"canary"}),
        ("abcdefgh1", "abcdefgh2", set()),
    ],
)
def test_words_and_accents(canary: str, text: str, expected: set[str]) -> None:
    assert kinds(canary, text) == expected


def test_without_a_letter_there_is_nothing_to_look_for() -> None:
    assert letters_of("-_ \u200b") == ""
    assert canary_finds("--", "a--b") == []


@given(st.text(max_size=20), st.text(max_size=60))
def test_any_canary_in_any_text_gives_spans_inside_it(canary: str, text: str) -> None:
    assert all(0 <= one.start < one.end <= len(text) for one in canary_finds(canary, text))
