"""Raw JSON values → the typed values of a record, by the field's shape. Peers' spellings of the same thing are read too."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from measurand.core.errors import InvalidFieldError
from measurand.core.fields import FIELDS, Json, Shape
from measurand.core.jsontext import JsonTextError, compact_json, parse_json
from measurand.core.record import Context, ExpectedToolCall, Message, Tool, ToolCall, Usage
from measurand.core.textlist import BrokenListError, held

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,400})(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?")
_TRUTH: Final = {"true": True, "false": False}


def kind(value: object) -> str:
    """What a JSON value is, in a word with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, (list, tuple)):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"


def _refuse(field: str, where: str, value: object, allowed: str) -> InvalidFieldError:
    return InvalidFieldError(f"{where} is {kind(value)}; {allowed}", field)


def _held(value: Json, field: str) -> Json:
    """The list or object that a text holds; the value itself when it holds none."""
    if not isinstance(value, str):
        return value
    try:
        found = held(value)
    except BrokenListError as error:
        raise InvalidFieldError(f"{field} {error}", field) from None
    return value if found is None else found


def _only(value: Json, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, list) and all(isinstance(item, kinds) for item in value)


def scalar_text(value: Json) -> str | None:
    """The text of a text, a number or a truth value (its JSON text); None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        try:
            return compact_json(value)
        except ValueError:
            return None
    return None


# ---------------------------------------------------------------- one value


def read_text(value: Json, field: str) -> str:
    """A text; numbers and truth values by their JSON text."""
    text = scalar_text(value)
    if text is None:
        raise _refuse(field, field, value, "it must be a text")
    return text


def read_float(value: Json, field: str, where: str = "") -> float:
    """A finite number, also written as a text; true is 1, false is 0. `where` is the place inside the field."""
    where = where or field
    if isinstance(value, str):
        bare = value.strip()
        if bare.casefold() in _TRUTH:
            return float(_TRUTH[bare.casefold()])
        if not _NUMBER.fullmatch(bare):
            raise InvalidFieldError(f"{where} is the text '{value[:40]}'; it must be a number", field)
        value = float(bare)
    elif not isinstance(value, (int, float)):
        raise _refuse(field, where, value, "it must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidFieldError(f"{where} is not finite; it must be a number", field)
    return number


def read_int(value: Json, field: str, where: str = "") -> int:
    """A whole number, also as `1.0` or as a text. `where` is the place inside the field."""
    where = where or field
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, (str, float)) or (isinstance(value, str) and value.strip().casefold() in _TRUTH):
        raise _refuse(field, where, value, "it must be a whole number")
    number = read_float(value, field, where)
    if number != int(number):
        raise InvalidFieldError(f"{where} is {number:g}; it must be a whole number", field)
    return int(number)


def read_texts(value: Json, field: str) -> list[str]:
    """A list of texts; one text is a list of one."""
    found = _held(value, field)
    if isinstance(value, str) and not _only(found, (str, int, float)):
        return [value]
    if not isinstance(found, (list, tuple)):
        raise _refuse(field, field, value, "it must be a list of texts")
    texts = []
    for index, item in enumerate(found):
        text = scalar_text(item)
        if text is None:
            raise _refuse(field, f"{field}[{index}]", item, "it must be a text")
        texts.append(text)
    return texts


def read_mapping(value: Json, field: str) -> dict[str, Json]:
    """An object, also as JSON text."""
    found = _held(value, field)
    if not isinstance(found, dict):
        raise _refuse(field, field, value, "it must be an object")
    return found


def read_schema(value: Json, field: str) -> Json:
    """A JSON Schema: an object, true or false; also as JSON text."""
    if isinstance(value, bool):
        return value
    return read_mapping(value, field)


# ---------------------------------------------------------------- passages


_PASSAGE_KEYS: Final = ("text", "content", "page_content")
_PASSAGE: Final = "a passage is a text or {id, text, score}"


def read_contexts(value: Json, field: str, ids: bool = False) -> list[Context]:
    """Passages in order. With `ids`, bare texts name passages instead of being them. `{id: grade}` is read for reference_contexts."""
    found = _held(value, field)
    if isinstance(value, str) and not _passages_inside(found, field):
        return [Context(id=value) if ids else Context(text=value)]
    if isinstance(found, dict):
        if _is_passage(found):
            return [_context(found, field, field, ids)]
        if field != "reference_contexts":
            raise InvalidFieldError(f"{field} is an object without text; it must be a list, and {_PASSAGE}", field)
        return [Context(id=key, score=read_float(grade, field, f"{field}.{key}")) for key, grade in found.items()]
    if not isinstance(found, (list, tuple)):
        raise _refuse(field, field, value, f"it must be a list, and {_PASSAGE}")
    return [_context(item, f"{field}[{index}]", field, ids) for index, item in enumerate(found)]


def _passages_inside(found: Json, field: str) -> bool:
    if isinstance(found, dict):
        graded = field == "reference_contexts" and bool(found) and all(isinstance(grade, (int, float)) for grade in found.values())
        return _is_passage(found) or graded
    return _only(found, (str, dict))


def _is_passage(value: Mapping[str, Json]) -> bool:
    return "id" in value or any(key in value for key in _PASSAGE_KEYS)


def _context(item: Json, where: str, field: str, ids: bool) -> Context:
    if isinstance(item, str):
        return Context(id=item) if ids else Context(text=item)
    if isinstance(item, Context):
        return item
    if ids and isinstance(item, int) and not isinstance(item, bool):
        return Context(id=str(item))
    if not isinstance(item, dict):
        raise _refuse(field, where, item, _PASSAGE)
    text = next((item[key] for key in _PASSAGE_KEYS if item.get(key) is not None), None)
    name = item.get("id")
    if text is None and name is None:
        raise InvalidFieldError(f"{where} has neither text nor id; {_PASSAGE}", field)
    if text is not None and not isinstance(text, str):
        raise _refuse(field, f"{where}.text", text, "it must be a text")
    score = item.get("score")
    return Context(text, _id_text(name, f"{where}.id", field), None if score is None else read_float(score, field, f"{where}.score"))


# ---------------------------------------------------------------- tool calls


_ARGUMENT_KEYS: Final = ("arguments", "args", "input", "input_parameters", "kwargs")
_CALL: Final = "a call is {name, arguments} or a name"
_NO_NAME: Final = re.compile(r"[(){}\[\]\n]")


def _items(value: Json, field: str, allowed: str) -> list[Json]:
    found = _held(value, field)
    if isinstance(found, (str, dict)):
        return [found]
    if not isinstance(found, (list, tuple)):
        raise _refuse(field, field, value, f"it must be a list, and {allowed}")
    return list(found)


def read_calls(value: Json, field: str) -> list[ToolCall]:
    """Calls in order, in our form, OpenAI's (`function.name`, `arguments` as JSON text), Anthropic's, or bare names."""
    return [_call(item, f"{field}[{index}]", field) for index, item in enumerate(_items(value, field, _CALL))]


def _call(item: Json, where: str, field: str) -> ToolCall:
    if isinstance(item, ToolCall):
        return item
    if isinstance(item, str):
        return ToolCall(_bare_name(item, where, field))
    name, inner = _named(item, where, field, _CALL)
    result = inner.get("result", inner.get("output"))
    return ToolCall(name, _arguments(inner), _id_text(item.get("id"), f"{where}.id", field), result, said_error(inner))


def _bare_name(text: str, where: str, field: str) -> str:
    if not text.strip() or _NO_NAME.search(text):
        raise InvalidFieldError(f"{where} is the text '{text[:60]}', which is no tool's name; {_CALL}", field)
    return text.strip()


def _named(item: Json, where: str, field: str, allowed: str) -> tuple[str, dict[str, Json]]:
    """The name and the object that holds the rest: OpenAI's form keeps both in `function`."""
    if not isinstance(item, dict):
        raise _refuse(field, where, item, allowed)
    function = item.get("function")
    inner = {**item, **function} if isinstance(function, dict) else item
    name = inner.get("name", function if isinstance(function, str) else None)
    if not isinstance(name, str) or not name:
        raise InvalidFieldError(f"{where} has no name; {allowed}", field)
    return name, inner


def _arguments(inner: Mapping[str, Json]) -> Json:
    value = next((inner[key] for key in _ARGUMENT_KEYS if inner.get(key) is not None), None)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    try:
        return parse_json(value)
    except JsonTextError:
        return value


def _id_text(value: Json, where: str, field: str) -> str | None:
    if value is None:
        return None
    text = scalar_text(value)
    if text is None:
        raise _refuse(field, where, value, "it must be a text")
    return text


def said_error(item: Mapping[str, Json]) -> str | None:
    """What an item says went wrong: `error`, or `is_error` / `status: "error"` with its result; None when it says nothing of the kind."""
    error = item.get("error")
    if error not in (None, False, "", [], {}):
        return error if isinstance(error, str) else compact_json(error)
    if item.get("is_error") is True or item.get("isError") is True or item.get("status") == "error":
        result = item.get("result", item.get("content"))
        return result if isinstance(result, str) and result else "error"
    return None


_EXPECTED_CALL: Final = "an expected call is {name, arguments, match, alternatives, optional, group} or a name"


def read_expected_calls(value: Json, field: str) -> list[ExpectedToolCall]:
    """Expected calls in order; the forms of `read_calls`, and what only an expectation has."""
    return [_expected_call(item, f"{field}[{index}]", field) for index, item in enumerate(_items(value, field, _EXPECTED_CALL))]


def _expected_call(item: Json, where: str, field: str) -> ExpectedToolCall:
    if isinstance(item, ExpectedToolCall):
        return item
    if isinstance(item, str):
        return ExpectedToolCall(_bare_name(item, where, field))
    name, inner = _named(item, where, field, _EXPECTED_CALL)
    arguments = _arguments(inner)
    if arguments is not None and not isinstance(arguments, dict):
        raise _refuse(field, f"{where}.arguments", arguments, "it must be an object")
    match = inner.get("match")
    if match is not None and not isinstance(match, dict):
        raise _refuse(field, f"{where}.match", match, "it must be an object: argument → comparator")
    optional = inner.get("optional")
    if optional is not None and not isinstance(optional, bool):
        raise _refuse(field, f"{where}.optional", optional, "it must be true or false")
    return ExpectedToolCall(
        name,
        arguments,
        match or {},
        _alternatives(inner.get("alternatives"), where, field),
        optional or False,
        _id_text(inner.get("group"), f"{where}.group", field),
    )


def _alternatives(value: Json, where: str, field: str) -> tuple[ExpectedToolCall, ...]:
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise _refuse(field, f"{where}.alternatives", value, "it must be a list of expected calls")
    return tuple(_expected_call(item, f"{where}.alternatives[{index}]", field) for index, item in enumerate(value))


_TOOL: Final = "a tool is {name, description, parameters} or a name"


def read_tools(value: Json, field: str) -> list[Tool]:
    """Tool definitions, in our form, OpenAI's, Anthropic's (`input_schema`) or MCP's (`inputSchema`), or bare names."""
    return [_tool(item, f"{field}[{index}]", field) for index, item in enumerate(_items(value, field, _TOOL))]


def _tool(item: Json, where: str, field: str) -> Tool:
    if isinstance(item, Tool):
        return item
    if isinstance(item, str):
        return Tool(_bare_name(item, where, field))
    name, inner = _named(item, where, field, _TOOL)
    description = inner.get("description")
    parameters = _held(next((inner[key] for key in ("parameters", "input_schema", "inputSchema") if inner.get(key) is not None), None), field)
    if parameters is not None and not isinstance(parameters, dict):
        raise _refuse(field, f"{where}.parameters", parameters, "it must be a JSON Schema object")
    return Tool(name, description if isinstance(description, str) else "", parameters or {})


# ---------------------------------------------------------------- messages


_ROLES: Final = {"human": "user", "ai": "assistant", "function": "tool"}
_MESSAGE: Final = "a message is {role, content, tool_calls, tool_call_id}"
_TEXT_PARTS: Final = (None, "text", "input_text", "output_text")


def read_messages(value: Json, field: str) -> list[Message]:
    """Chat messages in order. Anthropic's `tool_use` and `tool_result` parts become calls and tool messages, so that no call is lost."""
    found = _held(value, field)
    if isinstance(found, dict) and isinstance(found.get("messages"), list):
        found = found["messages"]
    if not isinstance(found, (list, tuple)):
        raise _refuse(field, field, value, f"it must be a list, and {_MESSAGE}")
    return [message for index, item in enumerate(found) for message in _messages(item, f"{field}[{index}]", field)]


def _messages(item: Json, where: str, field: str) -> Iterator[Message]:
    if isinstance(item, Message):
        yield item
        return
    if not isinstance(item, dict):
        raise _refuse(field, where, item, _MESSAGE)
    role = item.get("role", item.get("type"))
    if not isinstance(role, str) or not role:
        raise InvalidFieldError(f"{where} has no role; {_MESSAGE}", field)
    role = _ROLES.get(role.casefold(), role)
    parts = item.get("content")
    if isinstance(parts, list):
        yield from _results_in(parts, where, field)
        if role == "user" and parts and all(_part_type(part) == "tool_result" for part in parts):
            return
    text = content_text(parts, f"{where}.content", field)
    error = _tool_error(item, text) if role == "tool" else None
    calls = tuple(_calls_of(item, parts, where, field))
    yield Message(
        role, text, calls, _id_text(item.get("tool_call_id"), f"{where}.tool_call_id", field), _id_text(item.get("name"), f"{where}.name", field), error
    )


def _part_type(part: Json) -> Json:
    return part.get("type") if isinstance(part, dict) else None


def _calls_of(item: Mapping[str, Json], parts: Json, where: str, field: str) -> Iterator[ToolCall]:
    if item.get("tool_calls") is not None:
        calls = item["tool_calls"]
        if not isinstance(calls, list):
            raise _refuse(field, f"{where}.tool_calls", calls, "it must be a list")
        for index, call in enumerate(calls):
            yield _call(call, f"{where}.tool_calls[{index}]", field)
    if item.get("function_call") is not None:
        yield _call(item["function_call"], f"{where}.function_call", field)
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        if _part_type(part) == "tool_use":
            yield _call(part, f"{where}.content[{index}]", field)


def _results_in(parts: list[Json], where: str, field: str) -> Iterator[Message]:
    for index, part in enumerate(parts):
        if _part_type(part) == "tool_result":
            text = content_text(part.get("content"), f"{where}.content[{index}]", field)
            yield Message("tool", text, (), _id_text(part.get("tool_use_id"), f"{where}.content[{index}]", field), None, _tool_error(part, text))


def _tool_error(item: Mapping[str, Json], text: str) -> str | None:
    """A tool message says that its call failed by a mark (`error`, `is_error`, `status: "error"`), a text "Error: …", or a JSON object with such a mark."""
    error = said_error(item)
    if error is not None:
        return text or error
    bare = text.lstrip()
    if bare[:6].casefold() == "error:":
        return text
    if bare[:1] == "{" and "rror" in bare:
        try:
            body = parse_json(bare)
        except JsonTextError:
            return None
        return said_error(body) if isinstance(body, dict) else None
    return None


def content_text(content: Json, where: str, field: str) -> str:
    """The text of a message's content: a text, null, or parts, of which those that are text count, each on its line."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        raise _refuse(field, where, content, "it must be a text, a list of content parts or null")
    texts = []
    for index, part in enumerate(content):
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict):
            raise _refuse(field, f"{where}[{index}]", part, "a content part is a text or {type, text}")
        elif part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
    return "\n".join(texts)


# ---------------------------------------------------------------- usage


_USAGE: Final[Mapping[str, tuple[str, ...]]] = {
    "latency_s": ("latency_s",),
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
    "cost_usd": ("cost_usd",),
    "llm_calls": ("llm_calls",),
}


def read_usage(value: Json, field: str) -> Usage:
    """What the output took: seconds, tokens, USD, calls; each a number from 0, each may be absent."""
    if isinstance(value, Usage):
        return value
    found = read_mapping(value, field)
    figures: dict[str, Any] = {}
    for name, keys in _USAGE.items():
        figure = next((found[key] for key in keys if found.get(key) is not None), None)
        if figure is not None:
            figures[name] = _figure(name, figure, field)
    return Usage(**figures)


def _figure(name: str, value: Json, field: str) -> float | int:
    read = read_float if name in ("latency_s", "cost_usd") else read_int
    number = read(value, field, f"{field}.{name}")
    if number < 0:
        raise InvalidFieldError(f"{field}.{name} is {number:g}; it must be a number from 0", field)
    return number


# ---------------------------------------------------------------- by shape


def _as_it_is(value: Json, _field: str) -> Json:
    return value


READERS: Final[Mapping[Shape, Callable[[Any, str], Any]]] = {
    "str": read_text,
    "int": read_int,
    "float": read_float,
    "text": _as_it_is,
    "expected": _as_it_is,
    "contexts": read_contexts,
    "messages": read_messages,
    "calls": read_calls,
    "expected_calls": read_expected_calls,
    "tools": read_tools,
    "list[str]": read_texts,
    "schema": read_schema,
    "usage": read_usage,
    "mapping": read_mapping,
    "json": _as_it_is,
}


def normalise(field_name: str, value: Json, *, ids: bool = False) -> Any:
    """A raw JSON value as the typed value of its field. `ids`: bare texts in a list of passages are ids (the column's name told so).

    `input`, `output` and `expected` stay as they are: the metric's parameter decides whether they are text or JSON.
    Raises `InvalidFieldError` for a value that is not of the field's shape.
    """
    field = FIELDS.get(field_name)
    if field is None:
        return value
    if ids and field.shape == "contexts":
        return read_contexts(value, field_name, ids=True)
    return READERS[field.shape](value, field_name)
