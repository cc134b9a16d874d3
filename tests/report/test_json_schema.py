from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import jsonschema
import pytest
from attrs import frozen

from measurand.report.json_schema import document


class Leaf(TypedDict):
    """A leaf."""

    name: Annotated[str, "what it is called"]
    more: NotRequired[int]


@frozen
class Tree:
    """A tree.

    With more to say.
    """

    leaves: tuple[Leaf, ...]
    kind: Literal["oak", "elm"]
    parent: Tree | None
    sizes: Mapping[str, float]
    anything: Any
    height: int | None


def test_classes_become_closed_objects() -> None:
    schema = document(Tree, "Trees")
    assert schema["title"] == "Trees"
    tree = schema["$defs"]["Tree"]
    assert tree["description"] == "A tree."
    assert tree["additionalProperties"] is False
    assert tree["required"] == ["leaves", "kind", "parent", "sizes", "anything", "height"]
    assert tree["properties"] == {
        "leaves": {"type": "array", "items": {"$ref": "#/$defs/Leaf"}},
        "kind": {"enum": ["oak", "elm"]},
        "parent": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
        "sizes": {"type": "object", "additionalProperties": {"type": "number"}},
        "anything": {},
        "height": {"type": ["integer", "null"]},
    }
    leaf = schema["$defs"]["Leaf"]
    assert leaf["properties"]["name"] == {"type": "string", "description": "what it is called"}
    assert leaf["required"] == ["name"]
    jsonschema.Draft202012Validator.check_schema(schema)


def test_a_literal_of_one_is_a_constant() -> None:
    assert document(Literal[False], "x")["const"] is False


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="no JSON Schema for"):
        document(bytes, "x")
