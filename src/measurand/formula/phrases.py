"""Whether a phrase occurs in a text, as whole words and whole numbers."""

from __future__ import annotations

from measurand.core.effort import still_time
from measurand.formula.normalise import LIKE_ASCII, folded, joins_words, trimmed


def phrase(text: str, *, casefold: bool = True) -> str:
    """The text as `occurs` compares it: composed, one space between words, typographic apostrophes and minus signs as in ASCII."""
    plain = folded(text) if casefold else trimmed(text)
    return " ".join((plain if plain.isascii() else plain.translate(LIKE_ASCII)).split())


def occurs(needle: str, text: str) -> bool:
    """Whether a phrase occurs in a text as whole words and whole numbers: 10 is not in 10:30, 3.10 or 110, 7 is not in -7. Both as from `phrase`."""
    start = text.find(needle)
    while start >= 0 and needle:
        still_time()
        if _starts_word(text, start) and _ends_word(text, start + len(needle)):
            return True
        start = text.find(needle, start + 1)
    return not needle


def _starts_word(text: str, at: int) -> bool:
    if at == 0 or not joins_words(text[at]):
        return True
    before = text[at - 1]
    if joins_words(before):
        return False
    if not text[at].isdigit():
        return True
    further = text[at - 2] if at > 1 else " "
    if before == "-":
        return joins_words(further) or further in ")]"
    return not (further.isdigit() and _is_inside_number(text, at - 1))


def _ends_word(text: str, at: int) -> bool:
    if at == len(text) or not joins_words(text[at - 1]):
        return True
    if joins_words(text[at]):
        return False
    return not (text[at - 1].isdigit() and _is_inside_number(text, at))


def _is_inside_number(text: str, at: int) -> bool:
    """Whether the mark at this place, which follows a digit, is followed by more of the same number, time or fraction."""
    after = text[at + 1 : at + 5]
    if not after[:1].isdigit():
        return False
    return text[at] in ".:/" or (text[at] == "," and after[:3].isdigit() and len(after) >= 3 and not after[3:].isdigit())
