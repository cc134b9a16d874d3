from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.textlist import BrokenListError, held, python_strings


@given(st.lists(st.text(), min_size=1))
def test_reads_what_pandas_writes(texts: list[str]) -> None:
    assert python_strings(repr(texts)) == texts


@given(st.lists(st.text()))
def test_reads_what_json_writes(texts: list[str]) -> None:
    assert held(json.dumps(texts)) == texts
    assert held(json.dumps(texts, ensure_ascii=False)) == texts


@pytest.mark.parametrize(
    "text",
    ["plain", "", "[1] see the reference", "{not json}", "| a | b |\n| --- | --- |", "['a' is the first letter", "7", '"text"', "[broken", "{'a': 1}"],
)
def test_other_text_is_plain(text: str) -> None:
    assert held(text) is None


@pytest.mark.parametrize("text", ["['a' 'b']", "['a', b]", "[{'name': 'search'}]", "array(['a', 'b'], dtype=object)", "['a', 'b'] + ['c']", "['\\x']"])
def test_what_looks_like_a_list_and_is_none_is_refused(text: str) -> None:
    with pytest.raises(BrokenListError, match="neither JSON nor a list of Python texts"):
        held(text)


@pytest.mark.parametrize(
    ("text", "value"), [("[]", []), ("['a',]", ["a"]), (" [\"it's\", 'b'] ", ["it's", "b"]), ('{"a": [1]}', {"a": [1]}), ("[1, 2]", [1, 2])]
)
def test_lists_and_objects_are_read(text: str, value: Any) -> None:
    assert held(text) == value


@pytest.mark.parametrize("text", ["['a'" + "+'a'" * 50_000 + "]", "[" * 100_000, "['" + "\\'" * 200_000, "['" + "a" * 200_000, "[" + "'a'," * 50_000 + "1]"])
def test_hostile_text_ends_quickly_and_is_never_evaluated(text: str) -> None:
    try:
        assert held(text) is None
    except BrokenListError:
        assert text.endswith("]")
