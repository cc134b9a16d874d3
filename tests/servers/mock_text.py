"""What a prompt asks for, found in its text: numbered lists, answer labels, a schema; and tokens of a text, for usage and logprobs."""

from __future__ import annotations

import functools
import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

_ITEM: Final = re.compile(r"(?:(?<=\n)|(?<=^)|(?<=[?.!] ))[ \t>|-]*(\d{1,3})[.)]\s+(?!(?:yes|no)\b[ .,;]*(?:\n|$|\d))(\S[^\n]*)", re.IGNORECASE)
_NUMBERED_ANSWER: Final = re.compile(r"\b1\.\s*(?:yes|no)\b|\blines, one per item: number", re.IGNORECASE)
_HOW_MANY: Final = re.compile(r"\b(\d+)(?: lines, one per item| in all\b| booleans?\])", re.IGNORECASE)
_YES_OR_NO: Final = re.compile(r"\byes\W+(?:or\W+)?no\b", re.IGNORECASE)
_LETTERS: Final = re.compile(r"\b[A-Z](?:, [A-Z])* or [A-Z]\b")
_DATA: Final = re.compile(r"^#(\d+) [\w.]+$", re.MULTILINE)
_KEYED: Final = re.compile(r"^(q\d+) \(([^)\n]+)\): ", re.MULTILINE)
_SHAPE: Final = re.compile(r"JSON: \{\"(\w+)\": (\S[^\n]*)\}$", re.MULTILINE)
_OFFERED: Final = re.compile(r"^Answer (.+?)(?: for each)?, as JSON: ", re.MULTILINE)
_FROM_0_TO: Final = re.compile(r"a number from 0 to (\d+)")
_PIECE: Final = re.compile(r" ?[^\W\d_]+|\d{1,3}|\s|.", re.DOTALL)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s*")
_LEVEL: Final = re.compile(r"(?m)^[ \t>|-]*(\d|[A-Z]):\s+\S")
_QUESTION: Final = re.compile(r"[A-Z][^.?!\n]{10,160}\?")


@functools.cache
def _encoder() -> Callable[[str], int]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it opens its tables by a function that Python 3.11 discourages
            import bpe_openai
    except ImportError:
        return lambda text: (len(text) + 3) // 4
    encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: sum(len(encoding.encode_ordinary(text[at : at + 100_000])) for at in range(0, len(text), 100_000))


def count_tokens(text: str) -> int:
    """Tokens of a text: o200k_base where the `tokens` extra is installed, else characters / 4."""
    return _encoder()(text)


def pieces(text: str) -> list[str]:
    """A text cut as tokenizers do it, roughly: words with the space before them, numbers, single signs. Together they are the text again."""
    return _PIECE.findall(text)


def message_text(message: Mapping[str, Any]) -> str:
    """A message's text, also where its content is a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def instructions(prompt: str) -> str:
    """What stands after the data: the question and the answer form. Data begins with a line such as "#123 output" and ends with "#123"; without, all is."""
    first = _DATA.search(prompt)
    return prompt if first is None else prompt.rpartition(f"\n#{first[1]}\n")[2]


def asks_for_numbers(prompt: str) -> bool:
    """Whether the reply shall have the form "1. yes", a line for each item."""
    return bool(_NUMBERED_ANSWER.search(instructions(prompt)))


def numbered_items(prompt: str) -> list[str]:
    """The items that are asked about: the last list numbered from 1, of the length that the question names, if it names one."""
    lists: list[list[str]] = []
    for found in _ITEM.finditer(prompt):
        number, text = int(found[1]), found[2]
        if number == 1:
            lists.append([text])
        elif lists and number == len(lists[-1]) + 1:
            lists[-1].append(text)
    named = _HOW_MANY.search(instructions(prompt))
    if named is None:
        return lists[-1] if lists else []
    many = int(named[1])
    return next((one for one in reversed(lists) if len(one) == many), [f"item {number}" for number in range(1, many + 1)])


def labels(prompt: str) -> list[str]:
    """The answers a prompt offers: "A, B or C", the labels of a list of levels ("0: …"), else yes and no."""
    told = instructions(prompt)
    letters = _LETTERS.search(told)
    if letters is not None:
        return re.findall(r"[A-Z]", letters[0])
    found = list(dict.fromkeys(_LEVEL.findall(told)))
    if not found or _YES_OR_NO.search(told):
        return ["yes", "no"]
    return found


def schema_told(prompt: str) -> Mapping[str, Any] | None:
    """The schema that the words of a prompt come to: a key with its answer, as in `{"answers": [3 booleans]}`, or a line for each key."""
    told = instructions(prompt)
    shapes = dict(_KEYED.findall(told)) or dict(_SHAPE.findall(told))
    return {"type": "object", "properties": {key: _told(shape, told) for key, shape in shapes.items()}} if shapes else None


def _told(shape: str, told: str) -> dict[str, Any]:
    many = re.match(r"\[?(\d+)\b", shape)
    if "boolean" in shape:
        one: dict[str, Any] = {"type": "boolean"}
    elif shape in {"sentences", '["…"]'}:
        return {"type": "array", "items": {"type": "string"}}
    elif many is not None and "text" in shape:
        one = {"type": "string"}
    else:
        offered = _OFFERED.search(told)
        one = {"enum": _named(offered[1] if offered else shape.partition("each ")[2] or shape)}
    return one if many is None else {"type": "array", "items": one, "minItems": int(many[1]), "maxItems": int(many[1])}


def _named(answers: str) -> list[str]:
    levels = _FROM_0_TO.search(answers)
    return re.split(", | or ", answers) if levels is None else [str(level) for level in range(int(levels[1]) + 1)]


def sentences(text: str, most: int) -> list[str]:
    """The last sentences of a text, of a sensible length."""
    found = [one.strip() for one in _SENTENCE_END.split(text) if 15 < len(one.strip()) < 400]
    return found[-most:] or ["The answer states a fact."]


def last_question(text: str) -> str:
    found = _QUESTION.findall(text)
    return str(found[-1]) if found else "What is described?"


def schema_in(text: str) -> Mapping[str, Any] | None:
    """A JSON Schema of an object that stands in the prompt's text."""
    decoder = json.JSONDecoder()
    last = max(text.rfind('"properties"'), text.rfind('"$defs"'))
    for start in (found.start() for found in re.finditer(r"\{", text[: max(last, 0)])):
        try:
            value, _ = decoder.raw_decode(text, start)
        except ValueError:
            continue
        if isinstance(value, dict) and "properties" in value:
            return value
    return None


def wrapped(text: str, wrap: str) -> str:
    """A reply's text as models like to dress it."""
    if wrap == "fence":
        return f"```json\n{text}\n```"
    if wrap == "think":
        return f'<think>\nIs it {{"answer": "no"}}? No. 1. no\n</think>\n\n{text}'
    if wrap == "prose":
        return f"Sure! Here is the result:\n\n{text}\n\nLet me know if you need more."
    if wrap == "single_quotes":
        return text.replace('"', "'")
    if wrap == "trailing_comma":
        return re.sub(r"([\]}])", r",\1", text)
    return text


def first_of(options: Sequence[Any], preferred: Sequence[str]) -> Any:
    """The first preferred option there is, else the first."""
    return next((one for one in preferred if one in options), options[0])
