"""Readability of English: Flesch reading ease, Flesch–Kincaid grade, automated readability index, and what they count.

A word is what stands between white space or dashes and holds a letter or a digit: couldn't, week-end and 3.14 are one each (Flesch 1949).
A sentence ends with . ! ? or … before white space, unless a small letter follows or the full stop is that of a title or an initial (Dr. J. Smith),
and at a blank line or a list item. Syllables follow from spelling; a figure has one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

Formula: TypeAlias = Literal["flesch", "flesch_kincaid", "ari"]

_TITLES: Final = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "vs", "e.g", "i.e", "cf", "approx"})
_SPELT_OUT: Final = {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ß": "ss", "đ": "d", "ð": "d", "þ": "th", "’": "'"}
_CLOSING: Final = "\"')]}*_»”"


class Counts(NamedTuple):
    """What the formulas read. `characters` are letters and digits of words; `latin` and `foreign` are the letters of the text by script."""

    characters: int
    syllables: int
    words: int
    sentences: int
    latin: int
    foreign: int

    @property
    def is_readable(self) -> bool:
        """Whether there is a word of letters, and no more letters of other scripts than Latin ones."""
        return self.words > 0 and 0 < self.latin >= self.foreign


def readability(counts: Counts, formula: Formula) -> float:
    """The value of a formula; `counts` hold at least one word.

    flesch: 206.835 − 1.015 · words / sentences − 84.6 · syllables / words (Flesch 1948). At most 121.22, without a lower bound; higher is easier.
    flesch_kincaid: 0.39 · words / sentences + 11.8 · syllables / words − 15.59 (Kincaid et al. 1975). A US school grade, from −3.4.
    ari: 4.71 · characters / words + 0.5 · words / sentences − 21.43 (Smith and Senter 1967, as in Kincaid et al. 1975). A US school grade.
    """
    length = counts.words / counts.sentences
    if formula == "ari":
        return 4.71 * counts.characters / counts.words + 0.5 * length - 21.43
    syllables = counts.syllables / counts.words
    return 206.835 - 1.015 * length - 84.6 * syllables if formula == "flesch" else 0.39 * length + 11.8 * syllables - 15.59


def counted(text: str) -> Counts:
    """Counts the sentences, words, syllables and characters of a text. Words with letters or digits that are not Latin are left out."""
    plain = text if text.isascii() else text.translate(_latin())
    characters = syllables = words = sentences = 0
    for block in _block_edge().split(plain):
        is_open = False
        pieces = _piece().findall(block)
        for piece, following in zip(pieces, [*pieces[1:], ""], strict=False):
            bare = _no_part_of_word().sub("", piece)
            if bare and bare.isascii():
                characters += len(bare)
                syllables += syllables_of(piece)
                words += 1
                is_open = True
            if is_open and _ends_sentence(piece, following):
                sentences += 1
                is_open = False
        sentences += is_open
    letters = _letter().findall(plain)
    latin = sum(map(str.isascii, letters))
    return Counts(characters, syllables, words, sentences, latin, len(letters) - latin)


def syllables_of(word: str) -> int:
    """The syllables of an English word as it is spelt, at least 1; parts joined by a hyphen or a mark are counted one by one.

    In 131 questions' answers (25 268 running words that are in the CMU Pronouncing Dictionary) 98 of 100 words get a number that the dictionary allows.
    """
    parts = _part().findall(word.replace("'", "").lower())
    return max(sum(map(_syllables_of_part, parts)), 1)


def _syllables_of_part(part: str) -> int:
    if not part.isalpha():
        return 1
    return max(len(_vowels().findall(part)) + len(_one_more().findall(part)) - len(_silent().findall(part)), 1)


def _ends_sentence(piece: str, following: str) -> bool:
    bare = piece.rstrip(_CLOSING)
    if not bare.endswith((".", "!", "?")) or following[:1].islower():
        return False
    if bare[-1] != ".":
        return True
    stem = bare[:-1].lstrip("\"'([*_")
    is_initial = len(stem) == 1 and stem.isupper() and stem != "I"
    return not (following and (is_initial or stem.lower() in _TITLES))


class _Latin(dict[int, "str | None"]):
    """What a character is read as: letters without their accents, typographic forms as in ASCII. Learned as characters are met."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        parts = unicodedata.normalize("NFKD", _SPELT_OUT.get(character, character))
        self[code] = becomes = "".join([part for part in parts if unicodedata.category(part) not in ("Mn", "Mc", "Me", "Cf")]) or None
        return becomes


@cache
def _latin() -> _Latin:
    return _Latin()


@cache
def _block_edge() -> re.Pattern[str]:
    """A blank line, or the beginning of a list item, a quotation or a heading with its mark."""
    return re.compile(r"\n[ \t\r]*\n|(?:^|\n)[ \t]*(?:[-*+•>]|\d{1,3}[.)]|#{1,6})[ \t]+")


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(r"(?:[^\s–—-]|-(?!-))+")


@cache
def _no_part_of_word() -> re.Pattern[str]:
    return re.compile(r"[\W_]+")


@cache
def _letter() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_]")


@cache
def _part() -> re.Pattern[str]:
    """Letters, or a figure with its separators."""
    return re.compile(r"[a-z]+|\d+(?:[.,:]\d+)*")


@cache
def _vowels() -> re.Pattern[str]:
    return re.compile(r"[aeiouy]+")


@cache
def _one_more() -> re.Pattern[str]:
    """Where a run of vowels is two syllables, or consonants are one."""
    return re.compile(
        r"(?<![tcsgx])i(?=[aou])(?!(?<=[a-z][ln]i)ons?$)(?!(?<=[a-z]li)ans?$)"  # var-i-ous, but not na-tion, mil-lion, Ital-ian
        r"|(?<=[tcsg])i(?=a(?![lnt]|$))|(?<=[tcsgx])i(?=[ou](?!n|us|r|s))"
        r"|i(?=et)|(?<![tc])i(?=en[ct])|(?<=[a-z]{3})i(?=e(?:rs?|st)$)"  # soci-ety, cli-ent, eas-ier
        r"|(?<=[^qg])u(?=a)|(?<=[^aeiouqg])u(?=ou)|(?<=[^aeiou])e(?=o(?![up]))"  # act-u-al, vid-e-o
        r"|[aeiouy](?=ing)|(?<=[aeou])y(?=[aeiou])(?!ed$)|(?<=\bco)o(?=[pr])|(?<=cr)e(?=at(?!ur))|(?<=\br)e(?=ac[^h])"  # go-ing, play-er
        r"|(?<=[^aeiouy])le$|[^aeiouy]les$|[^aeiouyl]led$"  # ta-ble
        r"|sms?$|(?<=[ds])nt$"  # tour-is-m, did-n't
    )


@cache
def _silent() -> re.Pattern[str]:
    """Where an e is not spoken."""
    return re.compile(
        r"(?<=[^aeiouy])e$|(?<=g)ue$"  # make, league
        r"|(?<=[^aeiouytd])ed$|(?<=[^aeiouyszxcg])(?<![sc]h)es$"  # walked, makes
        r"|(?<=[a-z])e(?=ly$|ful|less|ness)|(?<=[aeiouy][^aeiouyl])e(?=ment)|(?<=\bsom)e"  # lovely, movement, something
    )
