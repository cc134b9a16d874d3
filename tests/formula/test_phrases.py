from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.phrases import occurs, phrase


@pytest.mark.parametrize(
    ("needle", "text", "expected"),
    [
        ("Paris", "PARIS!", True),
        ("cat", "category, concat", False),
        ("cat", "category cat", True),
        ("10", "at 10:30", False),
        ("30", "at 10:30", False),
        ("10", "10, 11 and 12", True),
        ("12", "10,11,12", True),
        ("000", "1,000", False),
        ("1", "1,000", False),
        ("3", "3.14", False),
        ("14", "3.14", False),
        ("1", "1/2", False),
        ("7", "-7", False),
        ("7", "5-7", True),
        ("-7", "it is -7", True),
        ("5", "5km", False),
        ("it's", "It’s fine", True),
        ("New York", "new\n  york", True),
        ("C++", "C++ and C", True),
        ("北京", "在北京市", True),
        ("", "anything", True),
    ],
)
def test_occurs(needle: str, text: str, expected: bool) -> None:
    assert occurs(phrase(needle), phrase(text)) is expected


def test_case_counts_when_asked() -> None:
    assert not occurs(phrase("Paris", casefold=False), phrase("PARIS", casefold=False))


@given(st.text(min_size=1))
def test_every_text_occurs_in_itself(text: str) -> None:
    assert occurs(phrase(text), phrase(text))


@given(st.text(), st.text())
def test_no_text_raises(needle: str, text: str) -> None:
    assert occurs(phrase(needle), phrase(text)) in (True, False)
