"""Findings: masks, overlaps, and the texts of a JSON value."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.findings import SHOWN, Finding, Place, apart, masked, texts_in, told


@pytest.mark.parametrize(
    ("text", "shown"), [("4111111111111111", "4***1"), ("abcde", "a***e"), ("abcd", "***"), ("", "***"), ("-----x", "****x"), ("\x1b[31mab", "****b")]
)
def test_a_mask_shows_the_ends_alone(text: str, shown: str) -> None:
    assert masked(text) == shown


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=60))
def test_a_mask_never_holds_what_it_hides(text: str) -> None:
    assert text not in masked(text)
    assert len(masked(text)) <= 5


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 8)).map(lambda one: Finding("k", one[0], one[0] + one[1])), max_size=15)


@given(SPANS)
def test_what_is_kept_does_not_overlap_and_the_first_given_stays(findings: list[Finding]) -> None:
    kept = apart(findings)
    assert all(one.end <= after.start for one, after in itertools.pairwise(kept))
    for at, one in enumerate(findings):
        clash = any(one.start < other.end and other.start < one.end for other in findings[:at] if other in kept and other != one)
        assert (one in kept) is not clash


def test_all_are_counted_and_the_first_are_shown() -> None:
    details = told([Place("output", "abcdef" * 60, [Finding("k", at, at + 5) for at in range(0, 300, 5)])])
    assert (details["count"], details["kinds"], len(details["findings"])) == (60, {"k": 60}, SHOWN)
    assert told([Place("output", "abc", [])]) == {}


def test_a_path_is_not_as_long_as_a_key_can_be() -> None:
    details = told([Place("x" * 900, "abcdef", [Finding("k", 0, 5)])])
    assert len(details["findings"][0]["where"]) == 201


def test_every_text_of_a_value_has_its_path() -> None:
    value = {"a": ["x", {"b": 7, "c": True, "d": None}], "e": "y"}
    assert dict(texts_in(value, "args")) == {
        "args (key)": "e",
        "args.a[0]": "x",
        "args.a[1] (key)": "d",
        "args.a[1].b": "7",
        "args.e": "y",
    }
    assert [text for _, text in texts_in(value, "args")] == ["a", "e", "x", "b", "c", "d", "7", "y"]
