"""The structure family: outputs that are no JSON, several accepted values, hostile schemas. Golden cases hold single values."""

from __future__ import annotations

from typing import Any

import pytest

from measurand.catalogue.structure import code_json_match, code_json_schema, code_json_similarity, code_json_valid
from measurand.core.coerce import COERCERS
from measurand.core.errors import CellTimeoutError, InvalidFieldError, NotJsonError


def _read(output: Any) -> Any:
    """An output as a metric of structure is given it."""
    return COERCERS["Json | NotJsonError"](output, "output")


PROSE = _read("The refund is done.")


def test_an_output_that_is_no_json_scores_0_and_says_why() -> None:
    assert isinstance(PROSE, NotJsonError)
    assert code_json_valid(PROSE) is False
    assert code_json_match(PROSE, {"a": 1}) is False
    assert code_json_similarity(PROSE, {"a": 1}) == 0
    scored = code_json_schema(PROSE, {})
    assert scored.value is False
    assert "no JSON" in scored.details["faults"][0]


@pytest.mark.parametrize("output", ['{"a": 1}', '```json\n{"a": 1}\n```', 'Sure:\n```\n{"a": 1.0}\n```\nDone.', {"a": 1}])
def test_data_text_and_fenced_blocks_are_read_alike(output: Any) -> None:
    assert code_json_valid(_read(output))
    assert code_json_match(_read(output), {"a": 1})
    assert code_json_schema(_read(output), {"required": ["a"]}).value
    assert code_json_similarity(_read(output), {"a": 1}) == 1


def test_the_best_of_several_accepted_values_counts() -> None:
    accepted = {"any_of": [{"a": 1}, '{"a": 3}']}
    assert code_json_match({"a": 3}, accepted)
    assert not code_json_match({"a": 2}, accepted)
    assert code_json_similarity({"a": 2}, accepted) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"$ref": "http://example.org/x.json"}, "nothing outside it is looked up"),
        ({"$ref": "file:///etc/passwd"}, "nothing outside it is looked up"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "nothing outside it is looked up"),
        ({"$ref": "#"}, "lead in a circle"),
        ({"$ref": "#/nowhere"}, "leads nowhere"),
        ({"type": "objekt"}, "no JSON Schema"),
        ([], "no JSON Schema"),
        ({"pattern": "("}, "no regular expression"),
        ({"pattern": "(?:a{1000}){1000}"}, "too large"),
    ],
)
def test_a_schema_that_cannot_be_used_is_an_invalid_field(schema: Any, sentence: str) -> None:
    with pytest.raises(InvalidFieldError, match=sentence) as raised:
        code_json_schema("text", schema)
    assert raised.value.field == "output_schema"


@pytest.mark.parametrize("draft", ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#", "http://example.org/own"])
@pytest.mark.parametrize("keyword", ["pattern", "patternProperties", "additionalProperties", "unevaluatedProperties"])
def test_no_pattern_of_any_keyword_or_draft_can_hang(draft: str, keyword: str) -> None:
    evil, long = "^(a|aa)+$", "a" * 60 + "!"
    schema: dict[str, Any] = {"pattern": evil} if keyword == "pattern" else {"patternProperties": {evil: {}}}
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        schema[keyword] = False
    with pytest.raises(CellTimeoutError, match=r"took more than 0\.1 s"):
        code_json_schema([long if keyword == "pattern" else {long: 1}], {"items": {"$schema": draft, **schema}})
