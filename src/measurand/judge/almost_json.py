"""Objects in what models write for JSON: single quotes, trailing commas, comments, Python's True and None, raw line breaks in strings, prose around."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from attrs import define, frozen

LONGEST: Final = 500_000
"""Characters of a reply that is searched for what it may mean; a longer one would hold up all others. JSON without faults may have any length."""
MAX_DEPTH: Final = 60
_WORK: Final = 4
"""How many times the length of a reply may be read in search of objects: hostile braces cost no more than this."""
_SPARE: Final = 20_000
"""Characters that may be read besides, however short the reply."""


class NoJson(Exception):  # noqa: N818  # nothing that a user sees
    """Here stands no object; the text says why when that is worth telling."""


@frozen
class Found:
    """An object in a text, and where it stands."""

    value: dict[str, Any]
    start: int
    end: int


class Twice(NoJson):
    """A key stands twice in one object."""


def whole_object(text: str) -> dict[str, Any] | None:
    """The object that a text is, from first character to last; None when it is anything else. Raises `Twice`."""
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text, strict=False, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        if len(text) > LONGEST:
            return None
        try:
            value, end = _Reader(text, len(text) * 2 + 100).value(0, 0)
        except NoJson as error:
            if isinstance(error, Twice):
                raise
            return None
        if text[end:].strip():
            return None
    return value if isinstance(value, dict) else None


def objects(text: str) -> Iterator[Found]:
    """Every outermost object in a text, in order; braces that begin none are passed over. Raises `Twice`."""
    reader = _Reader(text, len(text) * _WORK + _SPARE)
    at = text.find("{")
    while at >= 0:
        try:
            value, end = reader.value(at, 0)
        except Twice:
            raise
        except NoJson:
            end = at + 1
        else:
            yield Found(value, at, end)
        at = text.find("{", end)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Twice("a key stands twice in one object")
    return found


_GAP: Final = re.compile(r"(?:\s|//[^\n]*|#[^\n]*)*+")
_NUMBER: Final = re.compile(r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,5})?")
_NAME: Final = re.compile(r"[A-Za-z_]\w{0,99}")
_PLAIN: Final = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_AFTER_STRING: Final = re.compile(r"\s*(?:[,:}\]]|//|#|/\*|$)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CONSTANTS: Final = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "NaN": float("nan"),
    "nan": float("nan"),
    "Infinity": float("inf"),
    "inf": float("inf"),
}


@define
class _Reader:
    """Reads one value at a place; `work` characters may be looked at in all."""

    text: str
    work: int

    def value(self, at: int, depth: int) -> tuple[Any, int]:
        at = self._gap(at)
        first = self.text[at : at + 1]
        if first == "{":
            return self._object(at + 1, depth + 1)
        if first == "[":
            return self._array(at + 1, depth + 1)
        if first in _PLAIN:
            return self._string(at, first)
        return self._scalar(at)

    def _gap(self, at: int) -> int:
        """Past white space and comments."""
        while True:
            found = _GAP.match(self.text, at)
            end = at if found is None else found.end()
            self._spend(end - at + 1)
            if not self.text.startswith("/*", end):
                return end
            at = self.text.find("*/", end + 2) + 2
            if at < 2:
                self.work = min(self.work, 0)
                raise NoJson("a comment does not end")
            self._spend(at - end)

    def _spend(self, characters: int) -> None:
        self.work -= characters
        if self.work < 0:
            raise NoJson("too many braces")

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        if depth > MAX_DEPTH:
            raise NoJson("nested too deep")
        pairs: list[tuple[str, Any]] = []
        while True:
            at = self._gap(at)
            if self.text[at : at + 1] == "}":
                return _once(pairs), at + 1
            quote = self.text[at : at + 1]
            if quote not in _PLAIN:
                raise NoJson("a key is no string")
            key, at = self._string(at, quote)
            at = self._expect(at, ":")
            value, at = self.value(at, depth)
            pairs.append((key, value))
            at = self._comma(at, "}")

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        if depth > MAX_DEPTH:
            raise NoJson("nested too deep")
        items: list[Any] = []
        while True:
            at = self._gap(at)
            if self.text[at : at + 1] == "]":
                return items, at + 1
            item, at = self.value(at, depth)
            items.append(item)
            at = self._comma(at, "]")

    def _expect(self, at: int, mark: str) -> int:
        at = self._gap(at)
        if self.text[at : at + 1] != mark:
            raise NoJson(f"no {mark}")
        return at + 1

    def _comma(self, at: int, closing: str) -> int:
        at = self._gap(at)
        mark = self.text[at : at + 1]
        if mark == ",":
            return at + 1
        if mark != closing:
            raise NoJson("no comma")
        return at

    def _string(self, at: int, quote: str) -> tuple[str, int]:
        parts: list[str] = []
        at += 1
        while True:
            plain = _PLAIN[quote].match(self.text, at)
            end = at if plain is None else plain.end()
            self._spend(end - at + 1)
            if end >= len(self.text):
                raise NoJson("a string does not end")
            parts.append(self.text[at:end])
            if self.text[end] == "\\":
                part, at = self._escape(end + 1)
                parts.append(part)
            elif quote == "'" and _AFTER_STRING.match(self.text, end + 1) is None:
                parts.append(quote)  # an apostrophe
                at = end + 1
            else:
                return "".join(parts), end + 1

    def _escape(self, at: int) -> tuple[str, int]:
        mark = self.text[at : at + 1]
        if mark == "u":
            digits = self.text[at + 1 : at + 5]
            if len(digits) != 4 or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
                raise NoJson("a broken escape")
            return self._joined(int(digits, 16), at + 5)
        if not mark:
            raise NoJson("a string does not end")
        return _ESCAPES.get(mark, mark), at + 1

    def _joined(self, code: int, at: int) -> tuple[str, int]:
        """The character of an escape, its second half taken along."""
        second = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})").match(self.text, at) if 0xD800 <= code < 0xDC00 else None
        if second is None:
            return chr(code), at
        return chr(0x10000 + ((code - 0xD800) << 10) + int(second.group(1), 16) - 0xDC00), second.end()

    def _scalar(self, at: int) -> tuple[Any, int]:
        number = _NUMBER.match(self.text, at)
        if number is not None:
            digits = number.group()
            return (int(digits) if digits.lstrip("+-").isdecimal() else float(digits)), number.end()
        name = _NAME.match(self.text, at)
        if name is None or name.group() not in _CONSTANTS:
            raise NoJson("no value")
        return _CONSTANTS[name.group()], name.end()
