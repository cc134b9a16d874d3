"""How a field's value looks to a judge: plain text as it stands, lists as numbered lines, everything else as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from measurand.core.coerce import COERCERS, Invalid
from measurand.core.errors import InvalidFieldError
from measurand.core.fields import FIELDS
from measurand.core.plain import plain
from measurand.core.record import Context, Message, ToolCall

LINE_BREAK: Final = " ¶ "
"""What stands for line breaks inside a numbered list: no element can look like two."""

_HIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with control characters and half characters written out as escapes; tabs and line breaks stay."""
    return _HIDDEN.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def one_line(text: str) -> str:
    """The text on one line: runs of line breaks, of any kind, become one ¶."""
    lines = text.splitlines()
    return visible(lines[0].strip() if len(lines) == 1 else LINE_BREAK.join(part for line in lines if (part := line.strip())))


def numbered(texts: Iterable[str]) -> str:
    """One numbered line for each text, from 1."""
    return "\n".join(f"{number}. {one_line(text)}" for number, text in enumerate(texts, 1))


def as_json(value: Any) -> str:
    """A value as one line of JSON. Raises `InvalidFieldError` for what is no JSON value."""
    try:
        return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidFieldError(f"a judge cannot be shown {type(value).__name__}: {error}") from None


def text_or_json(value: Any) -> str:
    """A text as it stands, any other value as JSON."""
    return visible(value if isinstance(value, str) else as_json(value))


def shown(name: str, value: Any) -> str:
    """What stands under the line of a field. Raises `InvalidFieldError` for a value that is not of the field's shape."""
    if isinstance(value, Invalid):
        raise value.as_error(name)
    field = FIELDS.get(name)
    show = _input if name == "input" else None if field is None else _BY_SHAPE.get(field.shape)
    return text_or_json(value) if show is None else show(name, value)


def passages(name: str, value: Any) -> list[str]:
    """The texts of a list of passages. Raises `InvalidFieldError` for a passage that is an id only."""
    found: list[Context] = COERCERS["list[Context]"](value, name)
    texts = []
    for index, one in enumerate(found):
        if one.text is None:
            raise InvalidFieldError(f"{name}[{index}] has the id '{one.id}' and no text; a judge needs the text", name)
        texts.append(one.text)
    return texts


def _input(name: str, value: Any) -> str:
    if isinstance(value, Mapping) and "messages" in value:
        value = value["messages"]
    if isinstance(value, str) or not _is_conversation(value):
        return visible(COERCERS["str"](value, name))
    return _messages(name, value)


def _is_conversation(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(one, Message) or (isinstance(one, Mapping) and "role" in one) for one in value)


def _expected(_: str, value: Any) -> str:
    accepted = value["any_of"] if isinstance(value, Mapping) and set(value) == {"any_of"} else value
    if not isinstance(accepted, (list, tuple)):
        return text_or_json(value)
    if len(accepted) == 1:
        return text_or_json(accepted[0])
    return "any one of these:\n" + numbered(one if isinstance(one, str) else as_json(one) for one in accepted)


def _texts(name: str, value: Any) -> str:
    return numbered(COERCERS["list[str]"](value, name))


def _messages(name: str, value: Any) -> str:
    lines: list[str] = []
    for number, message in enumerate(COERCERS["list[Message]"](value, name), 1):
        lines += (f"{number}. {line}" for line in _message(message))
    return "\n".join(lines)


def _message(message: Message) -> list[str]:
    who = one_line(message.role if message.name is None else f"{message.role} {message.name}")
    lines = [f"{who}: {one_line(message.content)}"] if message.content or not message.tool_calls else []
    if message.error is not None:
        lines.append(f"{who} fails: {one_line(message.error)}")
    return [*lines, *(f"{who} calls {_call(call)}" for call in message.tool_calls)]


def _call(call: ToolCall) -> str:
    return one_line(f"{call.name} {as_json({} if call.arguments is None else call.arguments)}")


def _calls(name: str, value: Any) -> str:
    lines: list[str] = []
    for number, call in enumerate(COERCERS["list[ToolCall]"](value, name), 1):
        lines.append(f"{number}. {_call(call)}")
        if call.result is not None:
            lines.append(f"{number}. returns: {one_line(text_or_json(call.result))}")
        if call.error is not None:
            lines.append(f"{number}. fails: {one_line(call.error)}")
    return "\n".join(lines)


def _json_lines(annotation: str) -> Callable[[str, Any], str]:
    def show(name: str, value: Any) -> str:
        elements: Sequence[Any] = COERCERS[annotation](value, name)
        return numbered(as_json(element) for element in elements)

    return show


_BY_SHAPE: Final[Mapping[str, Callable[[str, Any], str]]] = {
    "contexts": lambda name, value: numbered(passages(name, value)),
    "expected": _expected,
    "messages": _messages,
    "calls": _calls,
    "expected_calls": _json_lines("list[ExpectedToolCall]"),
    "tools": _json_lines("list[Tool]"),
    "list[str]": _texts,
}
