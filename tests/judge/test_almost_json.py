from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.judge.almost_json import NoJson, objects, whole_object

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=6), values, max_size=4), st.sampled_from(["{}", "so: {} !", "```\n{}\n```", "{{ {} "]))
def test_json_is_read_as_json(value: dict[str, Any], around: str) -> None:
    for ascii_only in (True, False):
        text = json.dumps(value, ensure_ascii=ascii_only)
        assert [one.value for one in objects(around.format(text))] == [value]
        assert whole_object(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'it\\'s \\n \\\\ \\u00e9 \\x', 'b': \"c\",}", {"a": "it's \n \\ é x", "b": "c"}),
        ("{'a': '\\ud83d\\ude00'}", {"a": "😀"}),
        ("{'a': '\\ud83d'}", {"a": "\ud83d"}),
        ("{'a': 'don't', 'b': 'o'clock'}", {"a": "don't", "b": "o'clock"}),
        ("{'a': True, 'b': False, 'c': None, 'd': null}", {"a": True, "b": False, "c": None, "d": None}),
        ("{'a': +1, 'b': -2.5e1, 'c': .5, 'd': 007}", {"a": 1, "b": -25.0, "c": 0.5, "d": 7}),
        ("{'a': [1, [2,], {'b': 3,},],}", {"a": [1, [2], {"b": 3}]}),
        ("{ // one\n'a': 1, # two\n /* three */ 'b': 2 /**/ }", {"a": 1, "b": 2}),
        ('{"a": "line\nbreak\ttab"}', {"a": "line\nbreak\ttab"}),
        ("{}", {}),
    ],
)
def test_what_models_write_for_json_is_read_too(text: str, value: dict[str, Any]) -> None:
    assert whole_object(text) == value
    assert [one.value for one in objects(f"so {text} it is")] == [value]


def test_what_is_no_number_is_read_to_be_refused_by_who_asked() -> None:
    assert math.isnan((whole_object("{'a': NaN}") or {})["a"])
    assert (whole_object("{'a': Infinity}") or {})["a"] == math.inf


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "{a: 1}", "{'a' 1}", "{'a': }", "{'a': 1 'b': 2}", "{'a': [1 2]}", "{'a': 'b}", "{'a': '\\u12'}", "{'a': '\\", "{'a': undefined}", "{1: 2}"),
        *("{/* ", "{'a': [", "{'a': 1} {", "[1]", "1", '{"a": 1} x', "{'a':" * 100),
    ],
)
def test_what_is_no_object_is_none(text: str) -> None:
    assert whole_object(text) is None


def test_outermost_objects_come_in_order_with_their_places() -> None:
    text = 'a {"x": {"y": 1}} b {broken {"z": 2} c'
    assert [(one.value, text[one.start : one.end]) for one in objects(text)] == [({"x": {"y": 1}}, '{"x": {"y": 1}}'), ({"z": 2}, '{"z": 2}')]


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "{'a': 1, 'a': 1,}", '{"b": {"a": 1, "a": 2}}'])
def test_a_key_that_stands_twice_decides_nothing(text: str) -> None:
    with pytest.raises(NoJson, match="twice"):
        whole_object(text)
    with pytest.raises(NoJson, match="twice"):
        list(objects(f"so {text}"))
