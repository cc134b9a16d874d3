"""Which facts a text holds: facts as short texts, compared without case and punctuation, numbers by their value."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from measurand.core.errors import InvalidFieldError
from measurand.formula.phrases import occurs, phrase


def missing_facts(facts: Sequence[str], text: str) -> list[str]:
    """The facts that do not occur in the text as whole words and whole numbers, in their order.

    Raises `InvalidFieldError` for a fact of nothing but white space and punctuation, which every text would hold.
    """
    needles = [comparable(fact) for fact in facts]
    if "" in needles:
        raise InvalidFieldError(f"facts[{needles.index('')}] is '{facts[needles.index('')][:40]}'; a fact has letters, digits or symbols to look for", "facts")
    hay = comparable(text)
    return [fact for fact, needle in zip(facts, needles, strict=True) if not occurs(needle, hay)]


def comparable(text: str) -> str:
    """The text as facts are compared: as `phrase` gives it, with numbers written in one way (1,000.50 is 1000.5), without punctuation around words."""
    return " ".join(_punctuation().sub(" ", phrase(_figure().sub(_one_way, text))).split())


def _one_way(match: re.Match[str]) -> str:
    """A number by its value; anything else that digits and separators make (times, dates, versions, lists) as it is, in ASCII digits."""
    digits = "".join([str(unicodedata.decimal(one)) if one.isdecimal() else one for one in match[0]])
    number = _number().fullmatch(digits)
    if number is None:
        return digits
    whole = _not_digit().sub("", number["whole"]) or "0"
    decimals = (number["decimals"] or "").rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


@cache
def _figure() -> re.Pattern[str]:
    """Digits with the marks between them, as far as they go."""
    return re.compile("(?:(?<![\\w.)])\\.(?=\\d))?\\d+(?:[.,:/'\u2019\u00a0\u202f\u2009\u066b\u066c]\\d+)*")


@cache
def _number() -> re.Pattern[str]:
    """One number, with or without thousands separators (a comma, an apostrophe, a no-break or thin space), with or without decimals."""
    return re.compile("(?P<whole>[1-9]\\d{0,2}(?P<mark>[,'\u2019\u00a0\u202f\u2009\u066c])\\d{3}(?:(?P=mark)\\d{3})*|\\d*)(?:[.\u066b](?P<decimals>\\d+))?")


@cache
def _not_digit() -> re.Pattern[str]:
    return re.compile(r"\D")


@cache
def _punctuation() -> re.Pattern[str]:
    """Marks of sentences, quotation and emphasis, unless they stand inside a word or number (10:30, 3.5, snake_case); signs and symbols stay (C++, 35%, -7)."""
    marks = r"[.,;:!?\"()\[\]{}*_`“”„«»…¿¡]+"
    return re.compile(rf"(?<![^\W_]){marks}|{marks}(?![^\W_])|[、。，！？：；（）「」『』]+")
