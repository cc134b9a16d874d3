"""JSON Schema, draft 2020-12, from our own types: attrs classes, TypedDicts, and what their annotations say."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, Union, get_args, get_origin, get_type_hints, is_typeddict

import attrs

Schema: TypeAlias = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


def document(annotation: Any, title: str) -> Schema:
    """A whole schema for values of this type; classes become `$defs`."""
    defs: dict[str, Schema] = {}
    body = _schema(annotation, defs)
    return {"$schema": _DIALECT, "title": title, **body, **({"$defs": defs} if defs else {})}


def _schema(annotation: Any, defs: dict[str, Schema]) -> Schema:
    if annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _described(_schema(arguments[0], defs), arguments[1:])
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _any_of([_schema(one, defs) for one in arguments])
    if origin in (list, Sequence, tuple):
        return {"type": "array", "items": _schema(arguments[0], defs)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], defs)}
    if is_typeddict(annotation) or attrs.has(annotation):
        if annotation.__name__ not in defs:
            defs[annotation.__name__] = {}  # taken before it is filled: a class may hold itself
            defs[annotation.__name__] = _object(annotation, defs)
        return {"$ref": f"#/$defs/{annotation.__name__}"}
    raise TypeError(f"no JSON Schema for {annotation!r}")


def _described(schema: Schema, marks: Sequence[Any]) -> Schema:
    text = next((mark for mark in marks if isinstance(mark, str)), None)
    return {**schema, "description": text} if text else schema


def _any_of(schemas: list[Schema]) -> Schema:
    simple = [one["type"] for one in schemas if set(one) == {"type"}]
    if len(simple) == len(schemas):
        return {"type": simple}
    return {"anyOf": schemas}


def _object(cls: Any, defs: dict[str, Schema]) -> Schema:
    hints = get_type_hints(cls, include_extras=True)
    names = [one.name for one in attrs.fields(cls)] if attrs.has(cls) else list(hints)
    properties = {name: _schema(get_args(hints[name])[0] if get_origin(hints[name]) is NotRequired else hints[name], defs) for name in names}
    required = [name for name in names if get_origin(hints[name]) is not NotRequired]
    schema: Schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    meaning = (cls.__doc__ or "").strip().partition("\n")[0]
    return {**schema, "description": meaning} if meaning and not meaning.startswith("Method generated") else schema
