"""Reading a metric's signature as text. Annotations are never evaluated: their text is looked up in a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from sys import float_info
from typing import Any, Final, TypeAlias

from attrs import frozen

from measurand.core.errors import DeclarationError

PositiveInt: TypeAlias = int
"""For an option: a whole number from 1."""
NonNegativeInt: TypeAlias = int
"""For an option: a whole number from 0."""
NonNegative: TypeAlias = float
"""For an option: a number from 0."""
Share: TypeAlias = float
"""For an option: a number in [0, 1]."""
Pattern: TypeAlias = str
"""For an option: a regular expression in the syntax of the `regex` package."""
LanguageTag: TypeAlias = str
"""For an option: a language tag (de, pt-BR) of a language that the detector knows; kept as the detector's code."""


FIELD_ANNOTATIONS: Final = (
    "str",
    "list[str]",
    "Json",
    "Json | NotJsonError",
    "list[Json]",
    "int",
    "float",
    "bool",
    "list[float]",
    "list[Context]",
    "list[ToolCall]",
    "list[ExpectedToolCall]",
    "list[Message]",
    "list[Tool]",
    "Usage",
    "dict[str, Json]",
    "dict[str, Any]",
    "Mapping[str, Json]",
    "Mapping[str, Any]",
)
"""What a field's annotation may say. `core.coerce.COERCERS` knows how to read each; it is apart because a declaration only needs the words."""


@frozen
class Column:
    """Marks a parameter that is fed from a house column: `tier: Annotated[str, Column("customer_tier")]` is the field `metadata.customer_tier`."""

    name: str


_QUALIFIER = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
_COLUMN = re.compile(r"""^Annotated\[(.+),\s*Column\(\s*(?:name\s*=\s*)?["']([^"']+)["']\s*\)\]$""")


def annotation_text(annotation: object) -> str:
    """The text of an annotation, whether it was kept as text or evaluated, without module names and outer quotes."""
    if isinstance(annotation, str):
        text = annotation.strip()
        if text[:1] in "\"'" and text[:1] == text[-1:]:
            text = text[1:-1]
        return _QUALIFIER.sub("", text) if "." in text and "Column(" not in text else text
    marks = getattr(annotation, "__metadata__", None)
    if marks is not None:
        column = next((mark for mark in marks if isinstance(mark, Column)), None)
        inner = annotation_text(annotation.__origin__)  # type: ignore[attr-defined]  # Annotated has it, typeshed does not say so
        return f"Annotated[{inner}, Column('{column.name}')]" if column else inner
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, type) and not getattr(annotation, "__args__", None):
        return annotation.__name__
    return _QUALIFIER.sub("", repr(annotation)).replace("NoneType", "None")


def without_none(text: str) -> tuple[str, bool]:
    """The text without `| None` / `Optional[…]`, and whether it had it."""
    if text.startswith("Optional[") and text.endswith("]"):
        return text[9:-1], True
    if text.endswith(" | None"):
        return text[:-7].rstrip(), True
    if text.startswith("None | "):
        return text[7:], True
    return text, False


def column_of(text: str) -> tuple[str, str | None]:
    """(`str`, `customer_tier`) for `Annotated[str, Column("customer_tier")]`; (text, None) for anything else."""
    if text.startswith("Annotated["):
        found = _COLUMN.match(text)
        if found:
            return found[1].strip(), found[2]
    return text, None


# ---------------------------------------------------------------- options


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a value is a finite number that a float can hold; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -float_info.max <= value <= float_info.max


def _is_pattern(value: object) -> bool:
    import regex

    if not isinstance(value, str):
        return False
    try:
        regex.compile(value)
    except regex.error:
        return False
    return True


def _is_language(value: object) -> bool:
    from measurand.formula.language import code_of

    return isinstance(value, str) and code_of(value) is not None


def _language(value: str) -> str | None:
    from measurand.formula.language import code_of

    return code_of(value)


def _are_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def _as_given(value: Any) -> Any:
    return value


_OPTION_TYPES: Final[Mapping[str, tuple[Callable[[Any], bool], str, Callable[[Any], Any]]]] = {
    "int": (_is_int, "a whole number", int),
    "PositiveInt": (lambda v: _is_int(v) and v >= 1, "a whole number from 1", int),
    "NonNegativeInt": (lambda v: _is_int(v) and v >= 0, "a whole number from 0", int),
    "float": (is_number, "a number", float),
    "NonNegative": (lambda v: is_number(v) and v >= 0, "a number from 0", float),
    "Share": (lambda v: is_number(v) and 0 <= v <= 1, "a number from 0 to 1", float),
    "str": (lambda v: isinstance(v, str), "a text", _as_given),
    "Pattern": (_is_pattern, "a regular expression", _as_given),
    "LanguageTag": (_is_language, 'the tag of a language that the detector knows, such as "de" or "pt-BR"', _language),
    "bool": (lambda v: isinstance(v, bool), "true or false", _as_given),
    "list[str]": (_are_texts, "a list of texts", list),
    "tuple[str, ...]": (_are_texts, "a list of texts", tuple),
}


@frozen
class OptionType:
    """What an option takes: a test, what is allowed in words, and the one form its values are kept in (0 and 0.0 are one number)."""

    text: str
    allowed: str
    accepts: Callable[[Any], bool]
    keep: Callable[[Any], Any] = _as_given
    choices: tuple[str, ...] = ()


def option_type(text: str, where: str) -> OptionType:
    """The option type that an annotation's text names. Raises `DeclarationError` for a text that is not in the table."""
    inner, optional = without_none(text)
    if inner.startswith("Literal["):
        written = [part.strip() for part in inner[8:-1].split(",")]
        if not all(len(part) > 2 and part[0] in "\"'" and part[-1] == part[0] for part in written):
            raise DeclarationError(f'{where}: the choices of an option are texts: Literal["a", "b"], not \'{text}\'')
        choices = tuple(part[1:-1] for part in written)
        allowed = "one of " + ", ".join(f'"{choice}"' for choice in choices)
        return OptionType(text, allowed, lambda v: v in choices or (optional and v is None), choices=choices)
    if inner not in _OPTION_TYPES:
        raise DeclarationError(f"{where}: an option cannot be '{text}'; it can be {', '.join(_OPTION_TYPES)} or Literal[…], each with | None")
    test, allowed, keep = _OPTION_TYPES[inner]
    if not optional:
        return OptionType(text, allowed, test, keep)
    return OptionType(text, allowed, lambda v: v is None or test(v), lambda v: None if v is None else keep(v))


# ---------------------------------------------------------------- returns


@frozen
class Returned:
    """What a return annotation says: the number's type, and which instruments are asked. Any metric may give None, which is undefined."""

    number: str
    judge: bool
    embedder: bool
    steps: bool


_NUMBERS = {"bool": "binary", "int": "count", "float": "proportion"}


def returned(text: str, where: str) -> Returned:
    """Reads a return annotation. Raises `DeclarationError` when it is none of those allowed."""
    inner, _ = without_none(text)
    judge = embedder = steps = False
    if inner.startswith("Steps[") and inner.endswith("]"):
        steps = True
        instruments, _, inner = inner[6:-1].partition(",")
        names = {name.strip() for name in instruments.split("|")}
        if not names <= {"Judge", "Embedder"}:
            raise DeclarationError(f"{where}: Steps[{instruments.strip()}, …] names no instrument; write Judge, Embedder or Judge | Embedder")
        judge, embedder = "Judge" in names, "Embedder" in names
        inner, _ = without_none(inner.strip())
    if inner.startswith("Score[") and inner.endswith("]"):
        inner, _ = without_none(inner[6:-1])
    if inner not in _NUMBERS:
        raise DeclarationError(f"{where}: a metric returns bool, int, float, Score[…] or Steps[…, …], each with | None, not '{text}'")
    return Returned(_NUMBERS[inner], judge, embedder, steps)
