from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.json_values import json_equal, json_similarity, number_similarity

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4), max_leaves=12)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.0, True),
        (1, "1", False),
        (True, 1, False),
        ([0], [False], False),
        ({"a": [True]}, {"a": [1]}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        (None, False, False),
        (2**53 + 1, float(2**53), False),
        ("é", "e\u0301", False),
    ],
)
def test_equality(a: Any, b: Any, equal: bool) -> None:
    assert json_equal(a, b) is json_equal(b, a) is equal


@given(VALUES, VALUES)
def test_equality_is_that_of_canonical_texts_where_kinds_are_plain(a: Any, b: Any) -> None:
    def canonical(value: Any) -> str:
        return json.dumps(value, sort_keys=True)

    if canonical(a) == canonical(b):
        assert json_equal(a, b)


@given(VALUES)
def test_every_value_is_like_itself(value: Any) -> None:
    assert json_equal(value, value)
    assert json_similarity(value, value) == 1


@given(VALUES, VALUES)
def test_similarity_is_symmetric_in_range_and_1_only_for_equal_values(a: Any, b: Any) -> None:
    similarity = json_similarity(a, b)
    assert 0 <= similarity <= 1
    assert similarity == pytest.approx(json_similarity(b, a), abs=1e-12)
    if json_equal(a, b):
        assert similarity == pytest.approx(1)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [((-4, 4), 0), ((0, 0), 1), ((0, 5), 0), ((40, 50), 0.8), ((-1, -2), 0.5), ((10**400, 1.5), 0), ((10**400, 10**400), 1), ((1e308, -1e308), 0)],
)
def test_numbers(pair: tuple[float, float], expected: float) -> None:
    assert number_similarity(*pair) == pytest.approx(expected)


def test_lists_are_compared_by_position_and_differ_by_length() -> None:
    assert json_similarity([1, 2], [1, 2, 3]) == pytest.approx(2 / 3)
    assert json_similarity([], [1]) == 0
    assert json_similarity([], {}) == 0
