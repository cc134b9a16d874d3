from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.report.visible import columns, cut, escaped, padded, safe, safe_lines, wrapped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – text", "plain – text"),
        ("\x1b[2J\x1b]0;owned\x07ok", "␛[2J␛]0;owned␇ok"),
        ("abc\u202etxt.exe", "abc<U+202E>txt.exe"),
        ("line\rFAKE PASS", "line␍FAKE PASS"),
        ("a\nb\tc\x00\x7f", "a␊b␉c␀␡"),
        ("\x9b31m", "<U+009B>31m"),
        ("\u2066x\u2069\u200f", "<U+2066>x<U+2069><U+200F>"),
        ("a\u2028b", "a<U+2028>b"),
        ("\ud800", "<U+D800>"),
        ("\U000e0041", "<U+E0041>"),
        ("👩\u200d🔬 क्\u200dष", "👩\u200d🔬 क्\u200dष"),
    ],
)
def test_safe(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_lines_stay_lines() -> None:
    assert safe_lines("a\r\nb\x1b\nc\rd") == "a\nb␛\nc␍d"


@given(st.text())
def test_safe_text_stays_as_it_is_and_holds_no_control(text: str) -> None:
    shown = safe(text)
    assert safe(shown) == shown
    assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in shown)


@given(st.text())
def test_escaped_json_is_the_same_json(text: str) -> None:
    written = escaped(json.dumps({"a": [text]}, ensure_ascii=False, indent=1))
    assert json.loads(written) == {"a": [text]}
    assert safe(written.replace("\n", "")) == written.replace("\n", "")


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("é–…", 3), ("你好", 4), ("e\u0301", 1), ("👩\u200d🔬", 4), ("한국", 4), ("ｱ", 1), ("⌚", 2), ("\u05d0", 1)]
)
def test_columns(text: str, width: int) -> None:
    assert columns(text) == width


def test_cut_and_padded() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdef", 4) == "abc…"
    assert cut("ab cdef", 4) == "ab…"
    assert cut("你好吗", 4) == "你…"
    assert cut("abc", 1) == "…"
    assert cut("abc", 0) == ""
    assert padded("你", 4) == "你  "
    assert padded("你", 4, right=True) == "  你"


@given(st.text(), st.integers(0, 40))
def test_what_is_cut_fits(text: str, width: int) -> None:
    assert columns(cut(safe(text), width)) <= width


def test_wrapped() -> None:
    assert wrapped("one two three", 9, "  ") == ["  one two", "  three"]
    assert wrapped("unbreakably long", 6) == ["unbreakably", "long"]
    assert wrapped("a\n\nb", 10) == ["a", "", "b"]
    assert wrapped("", 10, "  ") == [""]
    assert wrapped("你好 你好", 8) == ["你好", "你好"]
