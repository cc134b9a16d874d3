"""The chosen letter of a multiple choice."""

from __future__ import annotations

import re
from functools import cache

from measurand.formula.composed import composed
from measurand.formula.marked import marked_answer


def chosen_letter(text: str) -> str | None:
    r"""The one letter (A–Z) that a text chooses; None when it chooses none.

    Looked for in this order: the marked answer (`\boxed{B}`, `#### B`, `Answer: B`, `the answer is (B)`, the last one counts); a letter that begins the
    text as its own item (`B`, `(B)`, `B) Paris`, `**B.** Paris`); the last `option B`, `choose B` …; the last letter in brackets; a capital letter that ends the text.
    """
    plain = _plain(text)
    marked = marked_answer(plain)
    if marked is not None:
        inside = _item().match(marked.text) or _only_bracketed(marked.text)
        if inside or marked.binding:
            return inside[1].upper() if inside else None
    whole = _item().match(plain) if "\n" not in plain.strip() or _stands_on_line().match(plain) else None
    found = whole or _last(_named(), plain) or _last(_bracketed(), plain) or _final().search(plain)
    return found[1].upper() if found else None


def _plain(text: str) -> str:
    if not text.isascii():
        text = composed(text, "NFKC")
    return _decoration().sub("", text).strip()


def _only_bracketed(text: str) -> re.Match[str] | None:
    found = list(_bracketed().finditer(text))
    return found[0] if len({one[1].upper() for one in found}) == 1 else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


@cache
def _decoration() -> re.Pattern[str]:
    return re.compile(r"[*_`$\"'“”‘’]|\\(?:text|textbf|mathrm|mathbf)(?=\{)|\\[()\[\]]")


@cache
def _item() -> re.Pattern[str]:
    """A letter on its own at the start: alone, in brackets, or followed by a mark; not the article of "A man"."""
    return re.compile(
        r"[\s({\[]{0,4}(?:(?:option|choice)\s)?[\s({\[]{0,2}([A-Za-z])(?:[)}\]]|[.:](?=\s|$)|\s?[-–—](?=\s)|\s*$|\s*\n|,\s|\s(?:is\s(?:the\s)?(?:correct|right|best|true)|because|since)\b)",
        re.IGNORECASE,
    )


@cache
def _stands_on_line() -> re.Pattern[str]:
    return re.compile(r"[\s({\[]{0,4}[A-Za-z][)}\].:]{0,2}\s*(?:\n|$)|[({\[][A-Za-z][)}\]]")


@cache
def _named() -> re.Pattern[str]:
    return re.compile(r"\b(?i:option|choice|choose|chose|select|pick|go with)\s{1,3}(?:is\s)?[({\[]?([A-Z]|[b-hj-z])(?![\w'])")


@cache
def _bracketed() -> re.Pattern[str]:
    return re.compile(r"[({\[]([A-Za-z])[)}\]]")


@cache
def _final() -> re.Pattern[str]:
    return re.compile(r"(?<![\w'/-])(?<!\bor\s)(?<!\band\s)(?<!,\s)([A-HJ-Z])[.)\]!]{0,2}$")
