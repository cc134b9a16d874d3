"""A record as a judge sees it: each field under a line with a number that occurs nowhere in the row."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, Final

from measurand.core.errors import CellError
from measurand.core.fields import FIELDS
from measurand.judge.shown import passages, shown

_SUBJECT_FIRST: Final = ("contexts", "messages", "tool_calls", "tools", "status", "reward", "input", "output")
_GOLD: Final = (
    "expected",
    "reference_contexts",
    "expected_tool_calls",
    "topics",
    "facts",
    "forbidden_tools",
    "required_tools",
    "output_schema",
    "canaries",
)
ORDER: Final = (*_SUBJECT_FIRST, *_GOLD)
"""Long fields that many questions share come first, so that the requests of one row begin alike."""

_RANK: Final = {name: rank for rank, name in enumerate((*ORDER, *(name for name in FIELDS if name not in ORDER)))}
_REFERENCE: Final = frozenset(_GOLD) - {"output_schema"} | {"human"}
_DIGITS: Final = 3
_TRIES: Final = 50
"""How many numbers of one length are tried before longer ones are."""


def is_reference(fields: Iterable[str]) -> bool:
    """Whether any of the fields says what was expected: questions about those are never asked together with others."""
    return any(name in _REFERENCE or name.startswith("human.") for name in fields)


def in_order(names: Iterable[str]) -> list[str]:
    """Field names as they follow one another in a request, each once."""
    return sorted(dict.fromkeys(names), key=lambda name: (_RANK.get(name, len(_RANK)), name))


class Row:
    """The fields of one record, typed or as they stand in the data. Each is rendered once, when it is first needed."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields
        self._bodies: dict[str, str] = {}
        self._sections: dict[str, str] = {}
        self._passages: dict[str, tuple[str, ...]] = {}
        self._delimiter: str | None = None

    @property
    def delimiter(self) -> str:
        """The number in the lines that part the row's data: a hash of the fields a judge may be shown, and in none of them."""
        if self._delimiter is None:
            self._delimiter = self._free_number(())
        return self._delimiter

    def delimiter_beside(self, texts: Iterable[str]) -> str:
        """The row's delimiter, or another one where a text that is shown beside the row holds it."""
        given = tuple(texts)
        return self._free_number(given) if any(self.delimiter in text for text in given) else self.delimiter

    def has(self, name: str) -> bool:
        """Whether the row has the field, a key of its metadata included."""
        return self.value(name) is not None

    def value(self, name: str) -> Any:
        """A field's value, None when it is missing."""
        head, dot, key = name.partition(".")
        if not dot:
            return self._fields.get(name)
        inside = self._fields.get(head)
        return inside.get(key) if isinstance(inside, Mapping) else None

    def body(self, name: str) -> str:
        """What stands under the field's line. Raises `InvalidFieldError` for a value that is not of the field's shape."""
        found = self._bodies.get(name)
        if found is None:
            found = self._bodies[name] = shown(name, self.value(name))
        return found

    def section(self, name: str) -> str:
        """The field under its line; "" when the row does not have it. Raises as `body`."""
        found = self._sections.get(name)
        if found is None:
            found = self._sections[name] = part(name, self.body(name), self.delimiter) if self.has(name) else ""
        return found

    def passages(self, name: str) -> tuple[str, ...]:
        """The texts of `contexts` or `reference_contexts`; none when the field is missing. Raises as `body`."""
        found = self._passages.get(name)
        if found is None:
            found = self._passages[name] = tuple(passages(name, self.value(name))) if self.has(name) else ()
        return found

    def _free_number(self, beside: tuple[str, ...]) -> str:
        texts = [text for name in ORDER if (text := self._body_if_shown(name)) is not None]
        digest = hashlib.blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        for attempt in count():
            digits = _DIGITS * 2 ** (attempt // _TRIES)
            number = f"{int.from_bytes(digest, 'big') % 10**digits:0{digits}d}"
            if not any(number in text for text in (*texts, *beside)):
                return number
            digest = hashlib.blake2b(digest, digest_size=min(64, digits)).digest()
        raise AssertionError("count() has no end")

    def _body_if_shown(self, name: str) -> str | None:
        """A field that cannot be shown cannot hold the delimiter of a request either."""
        try:
            return self.body(name) if self.has(name) else None
        except CellError:
            return None


_NO_NAME: Final = re.compile(r"[^\w.]+")


def part(name: str, body: str, delimiter: str) -> str:
    """A text under the line that begins it. The next such line ends it, or a bare one, which ends the data."""
    return f"#{delimiter} {_NO_NAME.sub('_', name)}\n{body}"


def ended(parts: Iterable[str], delimiter: str) -> str:
    """The parts and the bare line that ends the data; "" without any."""
    given = tuple(parts)
    return "\n".join((*given, f"#{delimiter}")) if given else ""
