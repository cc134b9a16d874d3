"""The sentences of a text, cut in code. Together they are the whole text, white space aside.

A sentence ends with . ! ? … or the full stops of other scripts (。！？ ｡ ؟ ۔ । ॥ ። ։ ។ ။) and what closes after them; at a blank line; and before a list item.
Latin and Arabic marks end one only before white space, so 3.5 and example.org stay whole. A full stop ends none after a title or e.g., after No.
and the like before a number, after an initial or a list number, and before a small letter; after U.S. and the like it does when an opening word follows.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_BEFORE_A_NAME: Final = (
    " mr mrs ms dr prof st sr jr gen sgt capt lt rev hon gov sen vs cf approx al eds e.g i.e z.b d.h bzw vgl evtl ggf inkl p.ex mme mlle sra srta dott avv "
)
_BEFORE_A_NUMBER: Final = " no nos nr fig figs eq art sec vol p pp núm pág abs bd par ca approx "
_OPENING_WORDS: Final = " the a an this that these those it he she they we you i in on at as but and or so however its his her their there "


def sentences(text: str) -> list[str]:
    """The sentences in order, white space around them removed; none for a text without any sign."""
    found: list[str] = []
    for block in _block_edge().split(text):
        start = 0
        for end in _end().finditer(block):
            if _ends(block, start, end):
                _keep(block[start : end.end()], found)
                start = end.end()
        _keep(block[start:], found)
    return found


def _keep(piece: str, found: list[str]) -> None:
    """Adds a piece; what holds no letter or digit belongs to the sentence before."""
    bare = piece.strip()
    if not bare:
        return
    if found and not any(map(str.isalnum, bare)):
        found[-1] += " " + bare
    else:
        found.append(bare)


@cache
def _block_edge() -> re.Pattern[str]:
    return re.compile(r"\n[ \t\r]*\n|\n(?=[ \t]*(?:[-*•‣▪]|\d{1,3}[.)])[ \t])")


@cache
def _end() -> re.Pattern[str]:
    closing = "[\"'”’»)\\]}*_`」』】）》〉]*"
    return re.compile(rf"(?P<wide>[。！？｡।॥።։។။]+{closing})|(?<![.!?…؟۔])[.!?…؟۔]++{closing}+(?=\s)")


@cache
def _last_word() -> re.Pattern[str]:
    return re.compile(r"[^\s(\[\"'“‘«]*\Z")


@cache
def _next_word() -> re.Pattern[str]:
    return re.compile(r"[\s\"'“‘«(\[*_]*(?P<word>[^\s.,;:!?)\]]*)")


def _ends(block: str, start: int, end: re.Match[str]) -> bool:
    if end["wide"] is not None:
        return True
    following = _next_word().match(block, end.end())
    word = following["word"] if following else ""
    if word[:1].islower():
        return False
    if end.group() != ".":
        return True
    last = _last_word().search(block[max(start, end.start() - 40) : end.start()])
    before = last.group() if last else ""
    if before.isdecimal():
        return bool(block[start : end.start() - len(before)].strip())  # "1. First": the number opens the item
    if _is_one_of(before, _BEFORE_A_NAME) or (word[:1].isdecimal() and _is_one_of(before, _BEFORE_A_NUMBER)):
        return False
    if len(before) == 1 and before.isupper():
        return False
    return "." not in before or not _is_spelt(before) or _is_one_of(word, _OPENING_WORDS)


def _is_one_of(word: str, words: str) -> bool:
    return bool(word) and f" {word.casefold()} " in words


def _is_spelt(word: str) -> bool:
    """Whether a word is letters with full stops between, such as U.S or p.m."""
    return all(len(part) == 1 and part.isalpha() for part in word.split("."))
