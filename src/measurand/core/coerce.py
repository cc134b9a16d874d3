"""From values as they stand in a row to what a metric's parameter takes. Stdlib only: every cell of every run passes here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from measurand.core.derive import derive
from measurand.core.errors import InvalidFieldError, NotJsonError
from measurand.core.fields import FIELDS, Field, Json
from measurand.core.jsontext import JsonTextError, parse_answer
from measurand.core.plain import plain
from measurand.core.record import Context, ExpectedToolCall, Message, Tool, ToolCall
from measurand.core.shapes import (
    content_text,
    kind,
    normalise,
    read_calls,
    read_contexts,
    read_expected_calls,
    read_float,
    read_int,
    read_mapping,
    read_messages,
    read_texts,
    read_tools,
    read_usage,
    scalar_text,
)

__all__ = ["COERCERS", "Invalid", "answers", "fits", "is_missing", "misfit", "normalise", "references", "typed_fields"]


@frozen
class Invalid:
    """Stands in a record for a value that is not of its field's shape: only metrics that use the field end in `invalid_field`."""

    message: str

    def as_error(self, field: str) -> InvalidFieldError:
        """The error of a cell that needs the field."""
        return InvalidFieldError(self.message, field)


def is_missing(field: Field, value: Json) -> bool:
    """Whether a value counts as absent: null, and `""`/`[]` in fields where empty says nothing. Spaces are a value."""
    return value is None or (field.empty_is_missing and isinstance(value, (str, list, tuple)) and not value)


def misfit(field_name: str, value: Json, *, ids: bool = False) -> str | None:
    """Why a value is not of the field's type, in words; None when it is."""
    try:
        if field_name == "input" and not isinstance(value, str):
            _to_text(value, field_name)
        else:
            normalise(field_name, value, ids=ids)
    except InvalidFieldError as error:
        return error.message
    return None


def fits(field_name: str, value: Json, *, ids: bool = False) -> bool:
    """Whether a value is of the field's type."""
    return misfit(field_name, value, ids=ids) is None


def typed_fields(row: Mapping[str, Json]) -> dict[str, Any]:
    """Raw values by field name → the fields of a record: missing ones left out, misshapen ones `Invalid`, derived ones added.

    Keys that are no fields are kept as they are.
    """
    fields: dict[str, Any] = {}
    for name, value in row.items():
        field = FIELDS.get(name)
        if field is None:
            fields[name] = value
        elif not is_missing(field, value):
            try:
                fields[name] = normalise(name, value)
            except InvalidFieldError as error:
                fields[name] = Invalid(error.message)
    derive(fields)
    return fields


# ---------------------------------------------------------------- several references


def references(value: Any, field: str = "expected") -> list[str]:
    """The accepted answers as texts: of a text, a number, a list, or `{"any_of": […]}`. Raises `InvalidFieldError` for an object."""
    if type(value) is str:
        return [value]
    accepted = _any_of(value)
    if accepted is None:
        return [_to_text(value, field)]
    texts = []
    for index, one in enumerate(accepted):
        text = scalar_text(one)
        if text is None:
            raise InvalidFieldError(f"{field}[{index}] is {kind(one)}; this metric compares texts, so each accepted answer must be a text", field)
        texts.append(text)
    if not texts:
        raise InvalidFieldError(f"{field} is an empty list of accepted answers", field)
    return texts


def answers(value: Any, field: str = "expected") -> list[Json]:
    """The accepted JSON values: those of `{"any_of": […]}`, else the value alone; texts are parsed."""
    if isinstance(value, str):
        value = _to_json(value, field)
    if isinstance(value, dict) and set(value) == {"any_of"} and isinstance(value["any_of"], list) and value["any_of"]:
        return [_to_json(one, field) for one in value["any_of"]]
    return [_to_json(value, field)]


def _any_of(value: Any) -> list[Json] | tuple[Json, ...] | None:
    if isinstance(value, dict) and set(value) == {"any_of"}:
        value = value["any_of"]
    return value if isinstance(value, (list, tuple)) else None


# ---------------------------------------------------------------- by parameter


def _to_text(value: Any, field: str) -> str:
    if type(value) is str:
        return value
    text = scalar_text(value)
    if text is not None:
        return text
    if field == "input":
        return _spoken(value, field)
    if isinstance(value, Invalid):
        raise value.as_error(field)
    accepted = _any_of(value) if field == "expected" else None
    if accepted is not None and len(accepted) == 1:
        return _to_text(accepted[0], field)
    raise InvalidFieldError(f"{field} is {kind(value)}; this metric takes a text", field)


def _spoken(value: Any, field: str) -> str:
    """The text of an input given as messages or as content parts."""
    if isinstance(value, Invalid):
        raise value.as_error(field)
    if isinstance(value, dict) and "messages" in value:
        value = value["messages"]
    if not isinstance(value, (list, tuple)):
        raise InvalidFieldError(f"{field} is {kind(value)}; it must be a text, messages or content parts", field)
    if any(isinstance(item, Message) or (isinstance(item, dict) and "role" in item) for item in value):
        return "\n".join(message.content for message in read_messages(value, field) if message.content)
    return content_text(value, field, field)


def _to_json(value: Any, field: str) -> Json:
    if isinstance(value, str):
        try:
            return parse_answer(value)
        except JsonTextError as error:
            what = NotJsonError if field == "output" else InvalidFieldError
            raise what(f"{field} is {error}", field) from None
    if isinstance(value, Invalid):
        raise value.as_error(field)
    return plain(value)


def _json_or_not(value: Any, field: str) -> Json | NotJsonError:
    try:
        return _to_json(value, field)
    except NotJsonError as error:
        return error


def _to_texts(value: Any, field: str) -> list[str]:
    if type(value) is str:
        return [value]
    if isinstance(value, Invalid):
        raise value.as_error(field)
    if field == "expected":
        return references(value, field)
    if isinstance(value, (list, tuple)):
        if all(type(item) is str for item in value):
            return list(value)
        if any(isinstance(item, Context) for item in value):
            return [_passage_text(item, f"{field}[{index}]", field) for index, item in enumerate(value)]
        if any(isinstance(item, ToolCall) for item in value):
            return [item.name for item in value]
    return read_texts(value, field)


def _passage_text(passage: Context, where: str, field: str) -> str:
    if passage.text is None:
        raise InvalidFieldError(f"{where} has the id '{passage.id}' and no text; this metric takes texts", field)
    return passage.text


def _to_bool(value: Any, field: str) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in ("true", "false"):
        return value.strip().casefold() == "true"
    raise InvalidFieldError(f"{field} is {kind(value)}; it must be true or false", field)


def _to_messages(value: Any, field: str) -> list[Message]:
    if field == "input" and isinstance(value, str):
        return [Message("user", value)]
    return read_messages(value, field)


def _to_list(value: Any, field: str) -> list[Json]:
    found = _to_json(value, field)
    if not isinstance(found, list):
        raise InvalidFieldError(f"{field} is {kind(found)}; it must be a list", field)
    return found


def _to_floats(value: Any, field: str) -> list[float]:
    return [read_float(item, field, f"{field}[{index}]") for index, item in enumerate(_to_list(value, field))]


def _checked(read: Callable[[Any, str], Any], item: type | None = None) -> Callable[[Any, str], Any]:
    """As `read`, but for the marker of a misshapen value, whose message is the error, and a list that is typed already."""

    def coerced(value: Any, field: str) -> Any:
        if type(value) is Invalid:
            raise value.as_error(field)
        if item is not None and type(value) is list and all(type(one) is item for one in value):
            return value
        return read(value, field)

    return coerced


COERCERS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "str": _to_text,
    "list[str]": _to_texts,
    "Json": _to_json,
    "Json | NotJsonError": _json_or_not,
    "list[Json]": _to_list,
    "int": _checked(read_int),
    "float": _checked(read_float),
    "bool": _checked(_to_bool),
    "list[float]": _checked(_to_floats),
    "list[Context]": _checked(read_contexts, Context),
    "list[ToolCall]": _checked(read_calls, ToolCall),
    "list[ExpectedToolCall]": _checked(read_expected_calls, ExpectedToolCall),
    "list[Message]": _checked(_to_messages, Message),
    "list[Tool]": _checked(read_tools, Tool),
    "Usage": _checked(read_usage),
    "dict[str, Json]": _checked(read_mapping),
    "dict[str, Any]": _checked(read_mapping),
    "Mapping[str, Json]": _checked(read_mapping),
    "Mapping[str, Any]": _checked(read_mapping),
}
"""Annotation text (without `| None`) → what makes a record's value into the parameter's. Called with (value, field name); raises `InvalidFieldError`."""
