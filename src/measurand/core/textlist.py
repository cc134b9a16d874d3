"""Texts that hold a list or an object: a CSV cell, a column written by pandas."""

from __future__ import annotations

import ast
import re
from typing import Any

from measurand.core.jsontext import JsonTextError, parse_json

_LITERAL = re.compile(r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+\"""", re.DOTALL)
_BETWEEN = re.compile(r"\s*,\s*")


class BrokenListError(ValueError):
    """A text is written like a list and cannot be read as one; taking it for one passage would be silently wrong."""


def held(text: str) -> Any:
    """The list or object that a text holds: as JSON, or as a list of Python string literals. None when it is plain text.

    Raises `BrokenListError` for what looks like a list of texts or objects and is neither (numpy's `['a' 'b']`, a Python dict's repr).
    """
    bare = text.strip()
    if bare[:1] not in ("[", "{") and not bare.startswith("array(["):
        return None
    try:
        value = parse_json(bare)
    except JsonTextError:
        value = python_strings(bare)
        if value is None and _like_a_list(bare):
            raise BrokenListError("is written like a list and is neither JSON nor a list of Python texts; write it as JSON") from None
        return value
    return value if isinstance(value, (list, dict)) else None


def python_strings(text: str) -> list[str] | None:
    """The texts of a list of Python string literals (`['a', "it's"]`), as pandas writes it; None when it is anything else.

    Literals that stand side by side without a comma are not joined as Python would: numpy writes several texts so.
    """
    if text[:1] != "[" or text[-1:] != "]":
        return None
    inside = text[1:-1].strip()
    if not inside:
        return []
    texts: list[str] = []
    at = 0
    while True:
        literal = _LITERAL.match(inside, at)
        if literal is None:
            return None
        try:
            texts.append(ast.literal_eval(literal[0]))
        except (SyntaxError, ValueError):
            return None
        at = literal.end()
        if at == len(inside):
            return texts
        comma = _BETWEEN.match(inside, at)
        if comma is None:
            return None
        at = comma.end()
        if at == len(inside):
            return texts


def _like_a_list(text: str) -> bool:
    return text.startswith(("['", '["', "[{", "array([")) and text.endswith(("]", ")"))
