from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import CellTimeoutError, InvalidFieldError
from measurand.formula.arguments import ABSENT, Mode, argument_fits, arguments_fit, json_key

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.0, True),
        (1, "1", False),
        (True, 1, False),
        (False, 0, False),
        (None, False, False),
        ("Rome", "rome", False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ([], {}, False),
        ([], "", False),
        ([True], [1], False),
        ({"a": {"b": [1, {"c": None}]}}, {"a": {"b": [1.0, {"c": None}]}}, True),
        ({"a": None}, {}, False),
        (["bool", True], True, False),
        (10**30, 1e30, False),
    ],
)
def test_json_equality(a: Any, b: Any, equal: bool) -> None:
    assert (json_key(a) == json_key(b)) is equal


@given(JSON)
def test_a_value_equals_itself_written_and_read_again(value: Any) -> None:
    again = json.loads(json.dumps(value))
    assert json_key(value) == json_key(again)
    assert hash(json_key(value)) == hash(json_key(again))


@pytest.mark.parametrize(
    ("wanted", "given_", "mode", "fit"),
    [
        (None, {"a": 1}, "given", True),
        (None, "no json", "given", True),
        ({}, {}, "given", True),
        ({}, None, "given", True),
        ({}, {"a": 1}, "given", False),
        ({"a": 1}, None, "given", False),
        ({"a": 1}, {"a": 1, "b": 2}, "given", True),
        ({"a": 1}, {"a": 1, "b": 2}, "exact", False),
        ({"a": 1}, {"b": 2}, "ignore", True),
        ({"a": 1}, {"b": 2}, "given", False),
        ({"a": None}, {}, "given", False),
        ({"a": None}, {"a": None}, "given", True),
        ({"a": 1}, "{a: 1", "given", False),
        ({"a": 1}, [1], "given", False),
    ],
)
def test_arguments(wanted: dict[str, Any] | None, given_: Any, mode: Mode, fit: bool) -> None:
    assert arguments_fit(wanted, {}, given_, mode) is fit


@pytest.mark.parametrize(
    ("comparator", "wanted", "given_", "fit"),
    [
        ("exact", 1, 1.0, True),
        ("exact", 1, "1", False),
        ("casefold", "Straße", "STRASSE", True),
        ("casefold", "é", "E\u0301", True),
        ("casefold", ["Rome"], ["rome"], True),
        ("casefold", {"c": "Rome"}, {"c": "rome"}, True),
        ("casefold", 1, "1", False),
        ("numeric", 1, "1", True),
        ("numeric", 1, True, False),
        ("numeric", 1, "one", False),
        ("numeric", 1, "NaN", False),
        ("numeric", 1, "inf", False),
        ("numeric", 0.1, 0.30000000000000004 - 0.2, True),
        ({"numeric": 0.5}, 10, 10.5, True),
        ({"numeric": 0.5}, 10, 10.6, False),
        ({"numeric": {"rel": 0.1}}, 10, 11, True),
        ({"numeric": {"rel": 0.1}}, 10, 12, False),
        ({"numeric": {"abs": 3, "rel": 0.1}}, 10, 12, True),
        ("regex", "^LX-\\d+$", "LX-0112", True),
        ("regex", "^LX-\\d+$", "XLX-0112", False),
        ({"regex": "par"}, None, "Sparring", True),
        ({"regex": "1"}, None, 1, False),
        ("one_of", ["eco", 1], 1.0, True),
        ({"one_of": ["eco", "business"]}, None, "first", False),
        ({"one_of": ["eco", None]}, None, None, True),
        ("ignore", 1, "anything", True),
        ({"exact": "Rome"}, None, "Rome", True),
        ({"exact": None}, "Rome", None, True),
        ({"casefold": "Rome"}, None, "ROME", True),
        ({"casefold": "Rome"}, None, "Roma", False),
        ("numeric", 1000, "1_000", False),
        ("numeric", "1e3", 1000, True),
        ("numeric", 1, ABSENT, False),
        ("regex", "x", ABSENT, False),
        ("exact", None, ABSENT, False),
        ("casefold", None, ABSENT, False),
        ("ignore", ABSENT, ABSENT, True),
    ],
)
def test_comparators(comparator: Any, wanted: Any, given_: Any, fit: bool) -> None:
    assert argument_fits(comparator, wanted, given_) is fit


def test_a_comparator_alone_asks_for_its_argument() -> None:
    assert arguments_fit(None, {"city": {"regex": "^R"}}, {"city": "Rome"})
    assert not arguments_fit(None, {"city": {"regex": "^R"}}, {})
    assert arguments_fit({"city": "x"}, {"city": "ignore"}, {})
    assert arguments_fit({}, {"class": {"one_of": ["eco", None]}}, {})
    assert not arguments_fit({}, {"class": {"one_of": ["eco"]}}, {})
    assert arguments_fit({"a": 1}, {"b": "ignore"}, {"a": 1, "b": 2}, "exact")
    with pytest.raises(InvalidFieldError, match="exact has no value to compare with"):
        arguments_fit({"a": 1}, {"b": "exact"}, {"a": 1, "b": 2})


def test_a_default_that_stands_for_an_argument_left_out_is_said_with_null() -> None:
    wanted, lenient = {"city": "Rome", "unit": "C"}, {"unit": {"one_of": ["C", None]}}
    assert not arguments_fit(wanted, {}, {"city": "Rome"})
    assert arguments_fit(wanted, lenient, {"city": "Rome"})
    assert arguments_fit(wanted, lenient, {"city": "Rome", "unit": "C"})
    assert not arguments_fit(wanted, lenient, {"city": "Rome", "unit": "F"})


@pytest.mark.parametrize(
    ("comparator", "wanted", "sentence"),
    [
        ("casefolded", "x", "match: 'casefolded' is no comparator; did you mean casefold?"),
        ({"tolerance": 1}, 1, "allowed are exact, numeric, regex, casefold, one_of, ignore"),
        ({"numeric": 1, "regex": "x"}, 1, "is no comparator"),
        (None, 1, "match: None is no comparator"),
        ({}, 1, "match: {} is no comparator"),
        ("one_of", "eco", "one_of needs a list"),
        ({"regex": 3}, "x", "regex needs a pattern"),
        ({"regex": "("}, "x", "pattern"),
        ({"numeric": -1}, 1, "the tolerance of numeric is a number from 0"),
        ({"numeric": True}, 1, "the tolerance of numeric"),
        ({"numeric": {"max": 1}}, 1, "the tolerance of numeric"),
        ("numeric", "one", "numeric compares with a number, not 'one'"),
        ("numeric", None, "numeric compares with a number, not None"),
        ({"ignore": True}, 1, "is no comparator"),
        *(
            (kind, ABSENT, f"{kind} has no value to compare with; name the argument in `arguments`")
            for kind in ("exact", "casefold", "numeric", "regex", "one_of")
        ),
    ],
)
def test_a_comparator_that_cannot_be_is_named(comparator: Any, wanted: Any, sentence: str) -> None:
    with pytest.raises(InvalidFieldError) as caught:
        argument_fits(comparator, wanted, "x" if comparator != {"numeric": 1} else 1)
    assert sentence in caught.value.message
    assert caught.value.field == "expected_tool_calls"


def test_a_pattern_that_backtracks_for_ever_is_stopped() -> None:
    with pytest.raises(CellTimeoutError):
        argument_fits({"regex": "^(a|aa)+$"}, None, "a" * 60 + "b")
