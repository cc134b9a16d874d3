from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.marked import Marked, marked_answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So \\boxed{\\frac{1}{2}}, as said.", Marked("\\frac{1}{2}", True)),
        ("\\boxed{1}, no: \\boxed{2}", Marked("2", True)),
        ("Answer: 3, in a box \\boxed{4}", Marked("4", True)),
        ("because …\n#### 18 \nthanks", Marked("18", True)),
        ("**Answer:** 42. Checked 3 times.", Marked("42", False)),
        ("Answer:\n42\n\nbecause of 7", Marked("42", False)),
        ("The final answer (in euros) is 5; no more", Marked("5", False)),
        ("Answer: 1\nAnswer: 2", Marked("2", False)),
        ("Die Antwort ist 7.", Marked("7.", False)),
        ("答案是北京。然后", Marked("北京", False)),
        ("unclosed \\boxed{5", None),
        ("answering is an art", None),
        ("", None),
    ],
)
def test_the_marked_answer(text: str, expected: Marked | None) -> None:
    assert marked_answer(text) == expected


@given(st.lists(st.sampled_from(["\\boxed{", "}", "{", "####", "Answer:", "is", " ", "\n", "1"])).map("".join))
def test_no_text_raises(text: str) -> None:
    found = marked_answer(text)
    assert found is None or found.text in text
