from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.jsontext import MAX_NESTING, JsonTextError, canonical_json, compact_json, deeper_than, fenced_block, parse_answer, parse_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_reads_back_what_was_written(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(compact_json(value)) == value


@given(st.text(max_size=60))
def test_any_text_is_a_value_or_one_error(text: str) -> None:
    try:
        found = parse_json(text)
    except JsonTextError:
        return  # and nothing else may come out
    assert json.loads(text) == found


@given(JSON)
def test_canonical_text_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    def turned(one: Any) -> Any:
        if isinstance(one, dict):
            return {key: turned(one[key]) for key in reversed(one)}
        return [turned(item) for item in one] if isinstance(one, list) else one

    assert canonical_json(turned(value)) == canonical_json(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON: nothing there"),
        ("nope", "no JSON: unexpected 'nope', character 1"),
        ('{"a": 1} x', "no JSON: unexpected 'x', character 10"),
        ('{"a" 1}', "no JSON: expecting ':' delimiter, character 6"),
        ('{"a": NaN}', "NaN is no JSON number; a value that is not there is null"),
        ("[-Infinity]", "-Infinity is no JSON number; a value that is not there is null"),
        ("[1e999]", "the number 1e999 is too large"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is there twice in one object"),
        ('{"a": 1, "a": 1}', "the key 'a' is there twice in one object"),
        ("[" + "9" * 4301 + "]", "a number has more than 4300 digits"),
        ('["\\ud83d"]', "\\ud83d is half of a character (a lone surrogate)"),
    ],
)
def test_what_is_no_json_is_told(text: str, message: str) -> None:
    with pytest.raises(JsonTextError) as told:
        parse_json(text)
    assert str(told.value) == message


def test_integers_up_to_the_limit_and_pairs_of_surrogates_are_read() -> None:
    assert parse_json("9" * 4300) == int("9" * 4300)
    assert parse_json('"\\ud83d\\ude00"') == "😀"


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("levels", [MAX_NESTING + 1, 900, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_refused_and_never_a_crash(levels: int, opening: str) -> None:
    text = opening * levels + ("1" if opening != "[" else "") + ("]" if opening == "[" else "}") * levels
    with pytest.raises(JsonTextError, match="nested more than 200 levels deep"):
        parse_json(text)


def test_nesting_up_to_the_limit_is_read() -> None:
    assert parse_json(nested(MAX_NESTING)) is not None
    assert parse_json("[" + ",".join(["[]"] * 5_000) + "]") == [[]] * 5_000


def test_depth_counts_levels_not_brackets() -> None:
    assert not deeper_than([[]], 2)
    assert deeper_than([[]], 1)
    assert deeper_than({"a": [1]}, 1)
    assert not deeper_than("text", 0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("```\n[1, 2]\n```", [1, 2]),
        ('Here it is:\n```json\n{"a": 1}\n```\nHope it helps.', {"a": 1}),
        ('```json {"a": 1}```', {"a": 1}),
        ("```JSON\n7\n```", 7),
        ('```json\n{"a": 1}', {"a": 1}),
        (' {"a": "```"} ', {"a": "```"}),
    ],
)
def test_an_answer_may_stand_in_a_fence(text: str, value: Any) -> None:
    assert parse_answer(text) == value


def test_without_a_fence_the_first_complaint_is_told() -> None:
    assert fenced_block("no fence") is None
    with pytest.raises(JsonTextError, match="unexpected 'no fence'"):
        parse_answer("no fence")


def test_the_stack_of_the_caller_does_not_matter() -> None:
    def at_depth(left: int) -> None:
        if left:
            at_depth(left - 1)
            return
        with pytest.raises(JsonTextError):
            parse_json(nested(100_000))

    at_depth(min(400, sys.getrecursionlimit() // 3))
