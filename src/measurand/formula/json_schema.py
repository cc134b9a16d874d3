"""JSON Schema (draft 2020-12, whatever `$schema` says) for schemas that strangers wrote.

Nothing outside the schema's own document is resolved: no file, no address, not even the schemas that jsonschema brings along. References are followed at
most 64 deep, patterns and the whole are limited in time, so that no schema can hang or exhaust a run. `format` is not checked, as the draft allows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import cache, lru_cache
from time import monotonic
from typing import Any, Final

from measurand.core.errors import CellTimeoutError, InvalidFieldError
from measurand.core.jsontext import canonical_json
from measurand.formula.patterns import found

DEEPEST: Final = 64
"""References inside references."""
SECONDS: Final = 2.0
"""How long checking one value may take."""
_FIELD: Final = "output_schema"
_SENTENCE: Final = 200


def schema_faults(value: Any, schema: Any, limit: int = 5) -> list[str]:
    """What keeps a JSON value from fitting a schema: at most `limit` sentences, each with its place in the value. Empty when it fits.

    Raises `InvalidFieldError` for what is no schema and for a reference that leads nowhere, outside, or in a circle; `CellTimeoutError` when a pattern or
    the whole takes too long.
    """
    from jsonschema.exceptions import SchemaError, UnknownType
    from referencing.exceptions import Unresolvable

    token = _effort.set(_Effort())
    try:
        return _first(_validator(_key(schema)).iter_errors(value), limit)
    except Unresolvable as error:
        raise InvalidFieldError(f"the reference {error.ref!r:.120} leads nowhere in the schema, and nothing outside it is looked up", _FIELD) from None
    except (SchemaError, UnknownType) as error:
        raise InvalidFieldError(f"it is no JSON Schema: {getattr(error, 'message', error)!s:.300}", _FIELD) from None
    except RecursionError:
        raise InvalidFieldError("its references lead in a circle, or it is nested too deep", _FIELD) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidFieldError(f"it cannot be applied: {type(error).__name__}: {error!s:.200}", _FIELD) from None
    finally:
        _effort.reset(token)


def _first(errors: Iterator[Any], limit: int) -> list[str]:
    faults: list[str] = []
    for error in errors:
        faults.append(f"{error.json_path}: {error.message}"[:_SENTENCE])
        if len(faults) == limit:
            break
    return faults


def _key(schema: Any) -> str:
    try:
        return canonical_json(schema)
    except (TypeError, ValueError) as error:
        raise InvalidFieldError(f"it is no JSON value: {error!s:.200}", _FIELD) from None


@lru_cache(maxsize=64)
def _validator(key: str) -> Any:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    schema = json.loads(key)
    kind = _kind()
    kind.check_schema(schema, format_checker=None)
    resolver = Registry().resolver_with_root(DRAFT202012.create_resource(schema))
    return kind(schema, _resolver=resolver)


# ---------------------------------------------------------------- bounds


class _Effort:
    """What checking one value has taken so far."""

    __slots__ = ("deadline", "depth")

    def __init__(self) -> None:
        self.depth = 0
        self.deadline = monotonic() + SECONDS

    def check(self) -> None:
        if monotonic() > self.deadline:
            raise CellTimeoutError(f"checking the schema took more than {SECONDS:g} s", _FIELD)


_effort: ContextVar[_Effort] = ContextVar("_effort")


@cache
def _kind() -> Any:
    """The validator of the draft with our keywords, and steps that watch the clock."""
    from jsonschema import Draft202012Validator, validators

    bounded = {
        "$ref": _reference,
        "$dynamicRef": _reference,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "unevaluatedProperties": _unevaluated_properties,
        "uniqueItems": _unique_items,
    }
    extend: Any = validators.extend
    kind = extend(Draft202012Validator, bounded)
    kind.evolve = _evolve  # the stock one hands a subschema with another `$schema` to a stock validator, without any bound
    return kind


def _evolve(self: Any, **changes: Any) -> Any:
    _effort.get().check()
    return type(self)(
        schema=changes.get("schema", self.schema),
        format_checker=self.format_checker,
        _resolver=changes.get("_resolver", self._resolver),
    )


def _reference(validator: Any, reference: str, instance: Any, _: Any) -> Iterator[Any]:
    effort = _effort.get()
    if effort.depth >= DEEPEST:
        raise InvalidFieldError(f"references are nested more than {DEEPEST} deep, or lead in a circle: {reference!r:.120}", _FIELD)
    effort.depth += 1
    try:
        resolved = validator._resolver.lookup(reference)  # there is no public way to the document's resolver
        errors = list(validator.descend(instance, resolved.contents, resolver=resolved.resolver))
    finally:
        effort.depth -= 1
    yield from errors


# ---------------------------------------------------------------- keywords


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)


def _matches(pattern: str, text: str) -> bool:
    _effort.get().check()
    return found(pattern, text, field=_FIELD)


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield _error(f"{instance!r:.80} does not match {pattern!r:.80}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for key, value in instance.items():
                if _matches(pattern, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, subschema: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(instance, dict):
        patterns = schema.get("patternProperties", {})
        for key, value in instance.items():
            if key not in schema.get("properties", {}) and not any(_matches(pattern, key) for pattern in patterns):
                yield from _extra(validator, key, value, subschema)


def _unevaluated_properties(validator: Any, subschema: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(instance, dict):
        others = {key: value for key, value in schema.items() if key != "unevaluatedProperties"}
        evaluated = _evaluated(validator, instance, others)
        for key, value in instance.items():
            if key not in evaluated:
                yield from _extra(validator, key, value, subschema)


def _extra(validator: Any, key: str, value: Any, subschema: Any) -> Iterator[Any]:
    if subschema is False:
        yield _error(f"the property {key!r:.80} is not allowed")
    else:
        yield from validator.descend(value, subschema, path=key)


def _evaluated(validator: Any, instance: Mapping[str, Any], schema: Any) -> set[str]:
    """The properties that a schema, or a part of it that the instance fits, has looked at (draft 2020-12, 11.3)."""
    if not isinstance(schema, dict):
        return set()
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    seen = {key for key in schema.get("properties", {}) if key in instance}
    seen |= {key for pattern in schema.get("patternProperties", {}) for key in instance if _matches(pattern, key)}
    for reference in (schema[keyword] for keyword in ("$ref", "$dynamicRef") if keyword in schema):
        resolved = validator._resolver.lookup(reference)  # as in _reference
        seen |= _evaluated(validator.evolve(schema=resolved.contents, _resolver=resolved.resolver), instance, resolved.contents)
    for part in _parts(validator, instance, schema):
        seen |= _evaluated(validator, instance, part)
    return seen


def _parts(validator: Any, instance: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    """The subschemas that apply to the instance itself and that it fits."""

    def fits(subschema: Any) -> bool:
        return next(validator.descend(instance, subschema), None) is None

    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from (part for part in schema.get(keyword, ()) if fits(part))
    yield from (part for key, part in schema.get("dependentSchemas", {}).items() if key in instance and fits(part))
    if "if" in schema:
        met = fits(schema["if"])
        if met:
            yield schema["if"]
        branch = schema.get("then" if met else "else")
        if branch is not None and fits(branch):
            yield branch


def _unique_items(_: Any, unique: bool, instance: Any, __: Any) -> Iterator[Any]:  # the keyword's value
    if unique and isinstance(instance, list):
        seen: set[str] = set()
        for item in instance:
            key = _comparable(item)
            if key in seen:
                yield _error(f"{item!r:.80} is there more than once")
                return
            seen.add(key)


def _comparable(value: Any) -> str:
    """A text that is equal exactly for equal JSON values: 1.0 is written as 1."""
    return canonical_json(_whole(value))


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value
