r"""Where a text marks its answer: `\boxed{…}`, `#### …`, `Answer: …`, `the answer is …`."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_LOOK_AHEAD = 1000  # characters of an answer


class Marked(NamedTuple):
    """A marked answer. `binding`: the mark is a formal one, so that nothing else in the text can be the answer."""

    text: str
    binding: bool


def marked_answer(text: str) -> Marked | None:
    """The last marked answer; a box goes before `####`, that before words. None when nothing is marked."""
    boxed = _boxed(text)
    if boxed is not None:
        return Marked(boxed, True)
    at = text.rfind("####")
    if at >= 0 and (line := _first_line(text, at + 4)):
        return Marked(line, True)
    end = 0
    for mark in _mark().finditer(text):
        end = mark.end()
    return Marked(_sentence(text, end), False) if end else None


def _boxed(text: str) -> str | None:
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    if start < 0:
        return None
    start = text.index("{", start) + 1
    depth = 1
    for place in range(start, min(len(text), start + _LOOK_AHEAD)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return text[start:place]
    return None


def _first_line(text: str, at: int) -> str:
    return text[at : at + _LOOK_AHEAD].lstrip().partition("\n")[0].strip()


def _sentence(text: str, at: int) -> str:
    line = _first_line(text, at)
    end = _sentence_end().search(line)
    return line[: end.start()] if end else line


@cache
def _mark() -> re.Pattern[str]:
    noun = r"(?:answer|antwort|réponse|respuesta|risposta|resposta|ответ|答案|答え|정답)"
    link = r"(?:\s{0,3}(?:(?:is|are|ist|est|es|è|é|это)(?![^\W\d_])|是|は)\s{0,3}[:：]?|[\s*_`]{0,4}[:：=][\s*_`]{0,4})"
    return re.compile(rf"(?<![^\W\d_]){noun}(?:\s{{0,3}}\([^()\n]{{1,40}}\))?{link}", re.IGNORECASE)


@cache
def _sentence_end() -> re.Pattern[str]:
    return re.compile(r"[.!?]\s|[。！？;；]")
