from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InvalidFieldError
from measurand.formula.composed import MOST_MARKS, composed


@given(st.text(), st.sampled_from(["NFC", "NFKC"]))
def test_any_text_is_in_its_normal_form(text: str, form: str) -> None:
    assert composed(text, form) == unicodedata.normalize(form, text)  # type: ignore[arg-type]


def test_a_long_run_of_marks_is_refused_before_it_is_put_in_order() -> None:
    allowed = "e" + "\u0301\u0327" * (MOST_MARKS // 2)
    assert composed(allowed) == unicodedata.normalize("NFC", allowed)
    for text in (allowed + "\u0301", "x" + "\u0301\u0327" * 500_000):
        with pytest.raises(InvalidFieldError, match="more than 1000 combining marks in a row"):
            composed(text)
