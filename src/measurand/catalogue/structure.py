"""Structure: JSON, its schema, its likeness to a reference. A text is parsed, a fenced block in it too."""

from __future__ import annotations

from measurand.core.errors import NotJsonError
from measurand.core.fields import Json
from measurand.core.metric import Score, metric
from measurand.core.taxonomy import MetricCategory
from measurand.formula.json_schema import schema_faults
from measurand.formula.json_values import json_equal, json_similarity

_STRUCTURE = MetricCategory.Structure
_COMPARED = MetricCategory.Structure | MetricCategory.Correctness
_REFUND = {"output": '{"status": "refunded", "amount": 45.0}', "expected": {"amount": 45, "status": "refunded"}}
_PARTLY = {"output": '{"status": "refunded", "amount": 40}', "expected": {"status": "refunded", "amount": 50}}


def _accepted(expected: Json) -> list[Json]:
    """The reference values: those of `{"any_of": […]}`, else the one."""
    from measurand.core.coerce import answers  # needed when a row is scored, not when metrics are listed

    return answers(expected) if isinstance(expected, dict) else [expected]


@metric(
    _STRUCTURE,
    source="RFC 8259, JSON",
    aka={
        "outcome.json_valid": "asked only of rows with an output schema; takes NaN and repeated keys",
        "autoevals.ValidJSON": 'takes objects and lists only (`1` and `"a"` are not valid there); with a schema: see `code_json_schema`',
        "deepeval.JsonCorrectnessMetric": "checks a pydantic schema (see `code_json_schema`)",
    },
    example={"output": '{"status": "refunded", "amount": 45.0}'},
)
def code_json_valid(output: Json | NotJsonError) -> bool:
    """The output is JSON.

    The whole output, or its first fenced block, is one JSON value; an output that is data already is valid. A repeated key, NaN, Infinity, a number
    of more than 4300 digits, or more than 200 levels are not.
    Use it when a program reads the output.
    Not when its content matters too (see `code_json_schema`, `code_json_match`).
    Empty: an empty output is 0.
    """
    return not isinstance(output, NotJsonError)


@metric(
    _STRUCTURE,
    source="JSON Schema, draft 2020-12",
    aka={
        "outcome.schema_compliant": "knows type, required, properties, enum, items, minimum and maximum only",
        "autoevals.ValidJSON": "follows the draft that `$schema` names",
        "deepeval.JsonCorrectnessMetric": "the schema is a pydantic model",
    },
    example={
        "output": '{"status": "refunded"}',
        "output_schema": {"type": "object", "properties": {"status": {"type": "string"}, "amount": {"type": "number"}}, "required": ["status", "amount"]},
    },
)
def code_json_schema(output: Json | NotJsonError, output_schema: Json) -> Score[bool]:
    """The output is JSON that fits its schema.

    Draft 2020-12, whatever `$schema` says; `format` is not checked; patterns are of the `regex` package. References are followed inside the schema
    only, at most 64 deep: others, and circles, end in error `invalid_field`; a pattern over 0.1 s or a check over 2 s in error `timeout`.
    Use it when a program reads the output.
    Not when the values must be right (see `code_json_match`).
    Empty: an empty output, as any that is no JSON, is 0.
    """
    if isinstance(output, NotJsonError):
        return Score(False, details={"faults": [output.message]})
    faults = schema_faults(output, output_schema)
    return Score(not faults, details={"faults": faults} if faults else {})


@metric(
    _COMPARED,
    source="equality of JSON values; numbers by value (RFC 8259, 6)",
    aka={
        "praval.exact_match": "also takes texts that are no JSON, and compares them as texts (see `code_exact_match`)",
        "openevals.json_match": "scores keys one by one and averages them (see `code_json_similarity`)",
        "autoevals.ExactMatch": "compares JSON texts, so that the order of keys counts",
        "outcome.exact_match": "compares normalised texts (see `code_normalized_match`)",
    },
    example=_REFUND,
)
def code_json_match(output: Json | NotJsonError, expected: Json) -> bool:
    """The output is JSON equal to the reference.

    Canonical equality: the order of keys does not matter, that of lists does; 1 equals 1.0, but not "1" and not true; a key with null is not an absent
    key. Several accepted values: `{"any_of": […]}`.
    Use it when every value must be right.
    Not when parts should count (see `code_json_similarity`).
    Empty: an empty output, as any that is no JSON, is 0; `{}` equals `{}`.
    """
    return not isinstance(output, NotJsonError) and any(json_equal(output, value) for value in _accepted(expected))


@metric(
    _COMPARED,
    source="recursive mean of leaf similarities, after autoevals JSONDiff",
    aka={
        "autoevals.JSONDiff": "numbers 1 − |a−b| / (|a|+|b|); values of different kinds are compared as texts; text that is no JSON is compared as text",
        "openevals.json_match": "keys of the top level only, each right or wrong",
    },
    example=_PARTLY,
)
def code_json_similarity(output: Json | NotJsonError, expected: Json) -> float:
    """How alike the output and the reference are as JSON.

    Recursively: objects the mean over the union of their keys, lists the mean over positions up to the longer one, what only one side has 0.
    Leaves: numbers max(0, 1 − |a−b| / max(|a|, |b|)), texts 1 − edits / longer length, others 1 if equal; different kinds 0.
    Several accepted values: `{"any_of": […]}`, the best counts.
    Use it when records are extracted and parts of them should count.
    Not when list items may come in any order, nor when each field must be right (see `code_json_match`).
    Empty: an empty output, as any that is no JSON, is 0; two empty objects or lists are 1.
    """
    if isinstance(output, NotJsonError):
        return 0.0
    return max(json_similarity(output, value) for value in _accepted(expected))
