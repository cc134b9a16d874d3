"""Strict JSON: what is no JSON (NaN, Infinity) is refused in both directions."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder(parse_constant=_refuse).decode


def dumps(value: Any) -> str:
    """`value` as compact JSON text. ValueError for NaN and infinities, TypeError for what JSON cannot say."""
    return _encode(value)


def dumps_ascii(value: Any) -> str:
    """As `dumps`, in ASCII only: safe in any file, also with lone surrogates."""
    return _encode_ascii(value)


def loads(text: str) -> Any:
    """The value of JSON text. ValueError for anything else."""
    return _decode(text)


def escape_surrogates(text: str | None) -> str | None:
    """The same JSON value in text that UTF-8 can carry: lone surrogates, which stand only inside strings, as escapes."""
    return None if text is None else _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
