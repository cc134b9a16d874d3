"""Quotations in a text, and whether they occur where they are said to come from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from measurand.formula.normalise import words
from measurand.formula.phrases import occurs, phrase

_EDGES = " .,;:!?…。，、"


def quotations(text: str, min_words: int) -> list[str]:
    """What stands between a pair of quotation marks or backticks and has at least `min_words` words, in order."""
    found = (next(group for group in match.groups() if group is not None).strip(_EDGES) for match in _quoted().finditer(text))
    return [quotation for quotation in found if len(words(quotation)) >= min_words]


def quoted_in(quotation: str, passages: Sequence[str], *, casefold: bool) -> bool:
    """Whether a quotation occurs word for word in one of the passages; spacing does not matter."""
    needle = phrase(quotation, casefold=casefold)
    return any(occurs(needle, phrase(passage, casefold=casefold)) for passage in passages)


@cache
def _quoted() -> re.Pattern[str]:
    """A quotation does not run over an empty line; a straight ' opens before a word and closes after one, so that it is no apostrophe."""
    pairs = ("“”", "„“", "„”", "«»", "»«", "‹›", "「」", "『』", '""')
    between = [f"{marks[0]}((?:[^{marks}\\n]|\\n(?!\\s*\\n))+){marks[1]}" for marks in pairs]
    single = [
        r"(?<!`)`(?!`)((?:[^`\n]|\n(?!\s*\n))+)`(?!`)",
        r"‘((?:[^‘\n]|\n(?!\s*\n))+?)’(?!\w)",
        r"(?<!\w)'(?=\w)((?:[^'\n]|(?<=\w)'(?=\w)|\n(?!\s*\n))+)'(?!\w)",
    ]
    return re.compile("|".join(between + single))
