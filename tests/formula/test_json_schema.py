from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from measurand.core.errors import CellTimeoutError, InvalidFieldError
from measurand.formula.json_schema import schema_faults

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "bb", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "x1"]), inner, max_size=3),
    max_leaves=8,
)
SCHEMAS = [
    {"type": "object", "properties": {"a": {"type": "integer"}}, "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
    {"additionalProperties": {"type": "integer"}, "properties": {"a": {}}},
    {"uniqueItems": True, "items": {"type": ["string", "integer", "boolean"]}},
    {"anyOf": [{"type": "array"}, {"properties": {"a": {"const": 1}}, "required": ["a"]}], "unevaluatedProperties": {"type": "string"}},
    {"if": {"required": ["a"]}, "then": {"properties": {"a": {}, "b": {}}}, "else": {"properties": {"x1": {}}}, "unevaluatedProperties": False},
    {"allOf": [{"$ref": "#/$defs/one"}], "unevaluatedProperties": False, "$defs": {"one": {"properties": {"a": {}}, "patternProperties": {"x": {}}}}},
    {"dependentSchemas": {"a": {"properties": {"a": {}, "b": {}}}}, "unevaluatedProperties": False},
    {"$defs": {"tree": {"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/tree"}}}, "$ref": "#/$defs/tree"},
    {"pattern": "^b+$", "propertyNames": {"pattern": "^[ab]$"}, "contains": {"const": 1}},
    {"prefixItems": [{"type": "integer"}], "unevaluatedItems": False},
    True,
    False,
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: json.dumps(schema)[:40])
@given(value=VALUES)
def test_values_fit_as_for_the_plain_validator(schema: Any, value: Any) -> None:
    assert (not schema_faults(value, schema)) == Draft202012Validator(schema).is_valid(value)


def test_faults_say_where_and_are_bounded() -> None:
    faults = schema_faults({"rows": [{"n": "x" * 5000}] * 50}, {"properties": {"rows": {"items": {"properties": {"n": {"type": "number"}}}}}})
    assert len(faults) == 5
    assert faults[0].startswith("$.rows[0].n: 'xxx")
    assert max(map(len, faults)) <= 200


def test_a_recursive_schema_follows_64_levels_and_no_more() -> None:
    schema = {"additionalProperties": {"$ref": "#"}}

    def nested(levels: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for _ in range(levels):
            value = {"a": value}
        return value

    assert schema_faults(nested(64), schema) == []
    with pytest.raises(InvalidFieldError, match="nested more than 64 deep"):
        schema_faults(nested(65), schema)


@pytest.mark.parametrize("more", [{}, {"unevaluatedProperties": False}])
@pytest.mark.slow
def test_a_schema_that_doubles_its_work_at_each_level_is_stopped(more: dict[str, Any]) -> None:
    levels: dict[str, Any] = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(40)}
    with pytest.raises(CellTimeoutError, match="took more than 2 s"):
        schema_faults({"x": 1}, {"$defs": {**levels, "l40": {}}, "$ref": "#/$defs/l0", **more})


@pytest.mark.parametrize(
    "schema",
    [
        {"$dynamicRef": "#x", "$dynamicAnchor": "x"},
        {"$anchor": "x", "$ref": "#x"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a", "unevaluatedProperties": False},
    ],
)
def test_a_circle_of_any_kind_is_an_invalid_field(schema: Any) -> None:
    with pytest.raises(InvalidFieldError, match="circle"):
        schema_faults({"x": 1}, schema)


def test_a_schema_nested_without_end_is_an_invalid_field() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"not": schema}
    with pytest.raises(InvalidFieldError):
        schema_faults(1, schema)


def test_a_deeply_nested_list_of_unique_items_is_checked_in_linear_time() -> None:
    assert schema_faults([{"i": [i]} for i in range(20_000)], {"uniqueItems": True}) == []
    assert schema_faults([{"i": [1]}, {"i": [1.0]}], {"uniqueItems": True}) == ["$: {'i': [1.0]} is there more than once"]
    assert schema_faults([1, True, "1", [1], None], {"uniqueItems": True}) == []


def test_a_reference_into_its_own_id_is_followed() -> None:
    schema = {"$id": "http://example.org/own", "$defs": {"z": {"type": "string"}}, "$ref": "#/$defs/z"}
    assert schema_faults(1, schema) == ["$: 1 is not of type 'string'"]


@pytest.mark.parametrize("schema", [{"$ref": "#/x", "x": "text"}, {"multipleOf": 0.1}])
def test_a_schema_that_cannot_be_applied_is_an_invalid_field(schema: Any) -> None:
    with pytest.raises(InvalidFieldError, match="cannot be applied"):
        schema_faults(10**400, schema)
