"""Words of a text: normalisation and tokens after SQuAD.

Deviations from the SQuAD script (Rajpurkar et al. 2016), in all metrics that use this page:

- Numbers stay numbers: digits keep their decimal point and their sign, and lose thousands separators (2.71 is not 271, -7 is not 7).
- Letters, marks and digits of every script are token characters; punctuation of every script goes, not only that of ASCII.
- Scripts written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese …) are split per character.
- A text of nothing but articles keeps them, one of nothing but punctuation keeps it: the choice "A" is not "The", "+" is not "-".
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

from measurand.formula.composed import composed

ARTICLES: Final = frozenset({"a", "an", "the"})
ASCII_PUNCTUATION: Final = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

_DELETE_ASCII: Final = str.maketrans("", "", ASCII_PUNCTUATION)
_CACHED_LENGTH: Final = 512  # texts up to this long are kept: references repeat, and several metrics read the same row
LIKE_ASCII: Final = {0x2212: "-", 0xFE63: "-", 0xFF0D: "-", 0x2018: "'", 0x2019: "'", 0x02BC: "'", 0xFF07: "'"}
_DELETED: Final = frozenset("\u2010\u2011\u05f3\u05f4\u00ad")  # hyphens, Hebrew quotes in abbreviations, soft hyphen: inside a word
_JOINERS: Final = frozenset("\u200c\u200d")  # part of the spelling in Persian and Indic scripts, and of emoji
_PER_CHARACTER_BLOCKS: Final = (
    (0x0E01, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x3005, 0x30FF),  # iteration marks, kana
    (0x31F0, 0x31FF),  # small katakana
    (0xA9E0, 0xA9FF),  # Burmese
    (0xAA60, 0xAA7F),  # Burmese
    (0xFF66, 0xFF9F),  # halfwidth katakana
)
_IDEOGRAPHS: Final = "\u2e80-\u2fdf\u3100-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48f\uf900-\ufaff\U00020000-\U000323af"


def folded(text: str) -> str:
    """Composed (NFC) and without case."""
    if text.isascii():
        return text.lower()
    return composed(composed(text).casefold())


def words(text: str) -> tuple[str, ...]:
    """The words of a text, folded and without punctuation, articles kept. Empty only for a blank text."""
    return _words(text) if len(text) > _CACHED_LENGTH else _known_words(text)


def tokens(text: str) -> tuple[str, ...]:
    """The words without articles: the tokens of SQuAD, with the deviations of this page."""
    return _tokens(text) if len(text) > _CACHED_LENGTH else _known_tokens(text)


def normalised(text: str) -> str:
    """The tokens joined by one space: what `code_normalized_match` compares."""
    return " ".join(tokens(text))


def trimmed(text: str) -> str:
    """Composed (NFC), without white space at the ends."""
    text = text.strip()
    return composed(text)


def _words(text: str) -> tuple[str, ...]:
    plain = folded(text)
    found = (_without_punctuation(plain, ascii_only=True) if plain.isascii() else _spread(plain)).split()
    return tuple(found or plain.split())


def _tokens(text: str) -> tuple[str, ...]:
    found = words(text)
    return tuple([word for word in found if word not in ARTICLES]) or found


_known_words = lru_cache(maxsize=1024)(_words)
_known_tokens = lru_cache(maxsize=1024)(_tokens)


def _spread(plain: str) -> str:
    """Without punctuation, with spaces around the characters of scripts that have none."""
    plain = _grouping().sub("", plain.translate(LIKE_ASCII))
    return _per_character().sub(r" \g<0> ", _without_punctuation(plain, ascii_only=False))


def _without_punctuation(plain: str, *, ascii_only: bool) -> str:
    table = _DELETE_ASCII if ascii_only else _punctuation()
    if _may_hold_number().search(plain):
        parts = _number_mark().split(plain)
        parts[::2] = [part.translate(table) for part in parts[::2]]
        return "".join(parts)
    return plain.translate(table)


@cache
def _may_hold_number() -> re.Pattern[str]:
    """A quick look that spares most texts the slow one."""
    return re.compile(r"[.\-\u066b]\.?\d")


@cache
def _number_mark() -> re.Pattern[str]:
    """A decimal point, or a minus sign, of a number."""
    return re.compile(r"((?<=\d)[.\u066b](?=\d)|(?<![\w.])\.(?=\d)|(?<![\w)\]}.\-])-(?=\.?\d))")


@cache
def _grouping() -> re.Pattern[str]:
    return re.compile("(?<=\\d)[\u00a0\u202f\u2009\u066c](?=\\d{3}(?!\\d))")


class _Punctuation(dict[int, "int | str | None"]):
    """What becomes of a character: deleted (None), a space, or itself. Learned as characters are met."""

    def __missing__(self, code: int) -> int | str | None:
        character = chr(code)
        kind = unicodedata.category(character)
        becomes: int | str | None = code
        if character in _DELETED or (kind == "Cf" and character not in _JOINERS):
            becomes = None
        elif kind[0] == "P":
            becomes = " "
        self[code] = becomes
        return becomes


@cache
def _punctuation() -> _Punctuation:
    return _Punctuation(dict.fromkeys(map(ord, ASCII_PUNCTUATION)))


@cache
def _per_character_classes() -> tuple[str, str]:
    """(characters that stand alone, marks that go with them), as parts of a character class."""
    alone: list[str] = []
    marks = ["\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"]
    for first, last in _PER_CHARACTER_BLOCKS:
        for character in map(chr, range(first, last + 1)):
            kind = unicodedata.category(character)
            if kind[0] == "L":
                alone.append(character)
            elif kind[0] == "M":
                marks.append(character)
    return _IDEOGRAPHS + "".join(alone), "".join(marks)


@cache
def _per_character() -> re.Pattern[str]:
    alone, marks = _per_character_classes()
    return re.compile(f"[{alone}][{marks}]*")


@cache
def _stands_alone() -> re.Pattern[str]:
    alone, marks = _per_character_classes()
    return re.compile(f"[{alone}{marks}]")


def joins_words(character: str) -> bool:
    """Whether a letter beside this character belongs to the same word: letters, marks and digits of scripts that use spaces."""
    if character.isascii():
        return character.isalnum() or character == "_"
    return unicodedata.category(character)[0] in "LMN" and not _stands_alone().match(character)
