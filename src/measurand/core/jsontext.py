"""JSON as the record has it: no NaN, no infinity, no key twice in an object, no half characters, bounded nesting and digits."""

from __future__ import annotations

import json
from typing import Any, Final

MAX_NESTING: Final = 200
MAX_DIGITS: Final = 4300

_SHORTEST_TOO_DEEP = 2 * MAX_NESTING  # characters: that many brackets open and close
_FENCE = "```"


class JsonTextError(ValueError):
    """A text is no JSON, or is beyond a limit; the message says what and where in the text."""


def _no_constant(name: str) -> None:
    raise JsonTextError(f"{name} is no JSON number; a value that is not there is null")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise JsonTextError(f"the number {digits[:40]} is too large")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add returns None: the idiom of "seen before"
        raise JsonTextError(f"the key '{twice[:80]}' is there twice in one object")
    return found


_scan = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique_keys).scan_once  # type: ignore[attr-defined]  # typeshed leaves it out


def parse_json(text: str) -> Any:
    """The JSON value that a text is. Raises `JsonTextError`; never anything else, however hostile the text."""
    text = text.strip(" \t\r\n")
    try:
        value, end = _scan(text, 0)
    except StopIteration as stop:
        raise JsonTextError(_unexpected(text, stop.value)) from None
    except json.JSONDecodeError as error:
        raise JsonTextError(f"no JSON: {error.msg[:1].lower()}{error.msg[1:]}, character {error.pos + 1}") from None
    except RecursionError:
        raise JsonTextError(f"nested more than {MAX_NESTING} levels deep") from None
    except JsonTextError:
        raise
    except ValueError:
        raise JsonTextError(f"a number has more than {MAX_DIGITS} digits") from None
    if end != len(text):
        raise JsonTextError(_unexpected(text, _next_solid(text, end)))
    if len(text) > _SHORTEST_TOO_DEEP and text.count("[") + text.count("{") > MAX_NESTING and deeper_than(value, MAX_NESTING):
        raise JsonTextError(f"nested more than {MAX_NESTING} levels deep")
    if "\\ud" in text or "\\uD" in text:
        _refuse_half_characters(value)
    return value


def _next_solid(text: str, start: int) -> int:
    return start + len(text[start:]) - len(text[start:].lstrip())


def _unexpected(text: str, at: int) -> str:
    found = text[at : at + 20].split("\n", 1)[0]
    return f"no JSON: unexpected {found!r}, character {at + 1}" if found else "no JSON: nothing there"


def deeper_than(value: Any, limit: int) -> bool:
    """Whether lists and objects are nested more than `limit` levels deep; level by level, so that no depth can exhaust the stack."""
    level = [value]
    for _ in range(limit + 1):
        containers = [item for item in level if type(item) in (dict, list)]
        if not containers:
            return False
        level = [child for item in containers for child in (item.values() if type(item) is dict else item)]
    return True


def _refuse_half_characters(value: Any) -> None:
    """A lone surrogate is no character: it cannot be written as UTF-8, so neither stored nor printed."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise JsonTextError(f"\\u{half:04x} is half of a character (a lone surrogate)") from None


def parse_answer(text: str) -> Any:
    """The JSON value of a text, or of the first fenced block (```json … ```) in it. Raises `JsonTextError`."""
    try:
        return parse_json(text)
    except JsonTextError:
        block = fenced_block(text)
        if block is None:
            raise
        return parse_json(block)


def fenced_block(text: str) -> str | None:
    """What stands in the first fenced block of a text; None without one."""
    start = text.find(_FENCE)
    if start < 0:
        return None
    body = start + len(_FENCE)
    end = text.find(_FENCE, body)
    inside = text[body:] if end < 0 else text[body:end]
    first, newline, rest = inside.partition("\n")
    if newline and (not first.strip() or first.strip().isalnum()):
        return rest
    return inside.removeprefix("json")


def compact_json(value: Any) -> str:
    """One line of JSON, keys as they stand. Raises `ValueError` or `TypeError` for what is no JSON value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def canonical_json(value: Any) -> str:
    """One line of JSON that is the same for equal values: sorted keys, no spaces."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
