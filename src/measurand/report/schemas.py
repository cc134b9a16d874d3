"""Every JSON Schema that `metrics schema` gives, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from measurand.core.fields import FIELDS, Field
from measurand.core.result import MetricResult
from measurand.report.cache_text import CacheExportJson, CacheImportJson, CacheInfoJson, CachePruneJson
from measurand.report.calls_text import RequestsJson
from measurand.report.json_schema import Schema, document
from measurand.report.shapes import CategoryJson, CheckJson, MetricInFullJson, MetricJson, ProblemsJson, RunJson


def _config() -> Schema:
    from measurand.config import json_schema

    return json_schema()


def _result() -> Schema:
    schema = document(MetricResult, "A result: one metric on one row")
    error = schema["$defs"]["ResultError"]
    error["required"] = [name for name in error["required"] if name != "field"]
    return schema


# ---------------------------------------------------------------- records

_TEXT: Final[Schema] = {"type": "string"}
_SCALAR: Final[Schema] = {"type": ["string", "number", "boolean", "null"]}
_OBJECT: Final[Schema] = {"type": "object"}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}


def _calls(**further: Schema) -> Schema:
    call: Schema = {
        "type": "object",
        "properties": {"name": _TEXT, "arguments": {"type": ["object", "string", "null"]}, "id": {"type": ["string", "null"]}, **further},
        "required": ["name"],
    }
    openai = {"type": "object", "properties": {"function": {**_OBJECT, "required": ["name"]}}, "required": ["function"]}
    return {"type": "array", "items": {"anyOf": [call, openai, _TEXT]}}


_MESSAGES: Final[Schema] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "role": _TEXT,
            "content": {"type": ["string", "array", "null"]},
            "tool_calls": {"type": ["array", "null"]},
            "tool_call_id": {"type": ["string", "null"]},
            "name": {"type": ["string", "null"]},
        },
        "required": ["role"],
    },
}
_PASSAGES: Final[Schema] = {
    "type": ["array", "object", "string"],
    "items": {
        "anyOf": [
            _TEXT,
            {
                "type": "object",
                "properties": {"id": {"type": ["string", "integer", "null"]}, "text": {"type": ["string", "null"]}, "score": {"type": ["number", "null"]}},
            },
        ]
    },
}
_SHAPES: Final[Mapping[str, Schema]] = {
    "str": {"type": ["string", "number", "boolean"]},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "text": {},
    "expected": {},
    "json": {},
    "contexts": _PASSAGES,
    "messages": _MESSAGES,
    "calls": _calls(result={}, error={}),
    "expected_calls": _calls(match=_OBJECT, alternatives={"type": "array"}, optional={"type": "boolean"}, group={"type": ["string", "null"]}),
    "tools": {"type": "array", "items": {"anyOf": [_OBJECT, _TEXT]}},
    "list[str]": {"type": ["array", "string"], "items": _SCALAR},
    "schema": {"type": ["object", "boolean"]},
    "usage": {
        "type": "object",
        "properties": {name: {"type": ["number", "null"], "minimum": 0} for name in ("latency_s", "input_tokens", "output_tokens", "cost_usd", "llm_calls")},
    },
    "mapping": _OBJECT,
}


def _record() -> Schema:
    """A row under the names of the record; other columns are allowed and become metadata."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A record: one row of a dataset",
        "type": "object",
        "properties": {field.name: _field(field) for field in FIELDS.values()},
    }


def _field(field: Field) -> Schema:
    read_from = f" Also read from: {', '.join(field.aliases)}." if field.aliases else ""
    return {"anyOf": [_SHAPES[field.shape], {"type": "null"}], "description": f"{field.meaning}.{read_from}"}


SCHEMAS: Final[Mapping[str, tuple[str, Callable[[], Any]]]] = {
    "config": ("metrics.toml", _config),
    "record": ("one row of a dataset", _record),
    "result": ("one metric on one row: score, results", _result),
    "list": ("metrics list --json", lambda: document(list[MetricJson], "metrics list --json")),
    "show": ("metrics show NAME --json", lambda: document(MetricInFullJson, "metrics show NAME --json")),
    "categories": ("metrics categories --json", lambda: document(list[CategoryJson], "metrics categories --json")),
    "check": ("metrics check --json", lambda: document(CheckJson, "metrics check --json")),
    "run": ("metrics run --json", lambda: document(RunJson, "metrics run --json")),
    "requests": ("the last line of metrics results RUN --id SAMPLE --json, where a model was asked", lambda: document(RequestsJson, "Requests of one row")),
    "cache-info": ("metrics cache info --json", lambda: document(CacheInfoJson, "metrics cache info --json")),
    "cache-export": ("metrics cache export --json", lambda: document(CacheExportJson, "metrics cache export --json")),
    "cache-import": ("metrics cache import --json", lambda: document(CacheImportJson, "metrics cache import --json")),
    "cache-prune": ("metrics cache prune --json", lambda: document(CachePruneJson, "metrics cache prune --json")),
    "problems": ("what any command prints under --json where it ends with 2", lambda: document(ProblemsJson, "Problems")),
}
"""Name → what it describes, and how it is made."""
