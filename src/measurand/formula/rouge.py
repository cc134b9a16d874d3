"""ROUGE (Lin 2004): overlap of n-grams, longest common subsequence, and its union over sentences.

Where all letters of both texts are Latin, the numbers are those of rouge-score 0.1.2 without stemming, tokens included: runs of a–z and 0–9, so that
an accented letter separates. Where either has a letter of another script, both are split into words as in `formula/normalise.py`, and nobody scores 0
for writing in Greek, Bengali or Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

from measurand.core.errors import CellTimeoutError
from measurand.formula.normalise import words
from measurand.formula.overlap import Overlap, multiset_overlap

LARGEST_L: Final = 5_000_000_000
"""Words of the output times words of the reference in ROUGE-L: beyond, the search takes more than a few seconds."""
LARGEST_LSUM: Final = 400_000_000
"""The same in ROUGE-Lsum, which must know where the words are, not only how many."""
MOST_ROWS: Final = 2_000_000
"""Lines of the output times words of the reference in ROUGE-Lsum."""
_NOTHING = Overlap(0, 0, 0)


def rouge_n(output: str, reference: str, n: int) -> Overlap:
    """Shared n-grams with repeats, n = 1 or 2."""
    given, wanted = _read(output, reference)
    if n == 2:
        given, wanted = [f"{a} {b}" for a, b in pairwise(given)], [f"{a} {b}" for a, b in pairwise(wanted)]
        if not given and not wanted:
            return _same_text(output, reference)
    return multiset_overlap(given, wanted) if given or wanted else _same_text(output, reference)


def rouge_l(output: str, reference: str) -> Overlap:
    """Length of the longest common subsequence of tokens. Raises `CellTimeoutError` beyond `LARGEST_L` pairs of words, but for equal ones."""
    given, wanted = _read(output, reference)
    if not given and not wanted:
        return _same_text(output, reference)
    if given == wanted:
        return Overlap(len(given), len(given), len(given))
    _refuse_beyond(LARGEST_L, len(given), "words", len(wanted))
    return Overlap(_lcs_length()(given, wanted), len(given), len(wanted))


def rouge_lsum(output: str, reference: str) -> Overlap:
    """For each line of the reference, the union of its longest common subsequences with the lines of the output; each token counts once.

    Raises `CellTimeoutError` beyond `LARGEST_LSUM` pairs of words or `MOST_ROWS` pairs of a line and a word, but for equal texts.
    """
    tokenise = _tokeniser(output, reference)
    given = [tokenise(line) for line in output.split("\n") if line]
    wanted = [tokenise(line) for line in reference.split("\n") if line]
    sizes = sum(map(len, given)), sum(map(len, wanted))
    if not any(sizes):
        return _same_text(output, reference)
    if given == wanted:
        return Overlap(sizes[0], *sizes)
    _refuse_beyond(LARGEST_LSUM, sizes[0], "words", sizes[1])
    _refuse_beyond(MOST_ROWS, len(given), "lines", sizes[1])
    left_given, left_wanted = _counts(given), _counts(wanted)
    hits = 0
    for line in wanted:
        for token in _union(line, given):
            if left_given.get(token, 0) and left_wanted[token]:
                left_given[token] -= 1
                left_wanted[token] -= 1
                hits += 1
    return Overlap(hits, *sizes)


def _refuse_beyond(most: int, given: int, what: str, wanted: int) -> None:
    if given * wanted > most:
        raise CellTimeoutError(f"comparing {given} {what} with {wanted} words would take too long; the product may be at most {most}")


def _same_text(output: str, reference: str) -> Overlap:
    """No token on either side: the texts themselves decide (two equal emoji are equal, two different ones are not)."""
    return _NOTHING if words(output) == words(reference) else Overlap(0, 1, 1)


def _read(output: str, reference: str) -> tuple[Sequence[str], Sequence[str]]:
    tokenise = _tokeniser(output, reference)
    return tokenise(output), tokenise(reference)


def _tokeniser(output: str, reference: str) -> Callable[[str], Sequence[str]]:
    if (output.isascii() or not _other_letter()(output)) and (reference.isascii() or not _other_letter()(reference)):
        return _latin_tokens
    return words


def _latin_tokens(text: str) -> list[str]:
    return _latin_token()(text.lower())


@cache
def _latin_token() -> Callable[[str], list[str]]:
    return re.compile("[a-z0-9]+").findall


@cache
def _other_letter() -> Callable[[str], Any]:
    """Finds a letter of a script other than Latin. Letters that all scripts share (µ, ʰ) are none."""
    import regex

    search: Callable[[str], Any] = regex.compile(r"[\p{L}--[\p{Latin}\p{Common}\p{Inherited}]]", regex.V1).search
    return search


@cache
def _lcs_length() -> Callable[[Sequence[str], Sequence[str]], int]:
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity


def _counts(lines: Sequence[Sequence[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in lines:
        for token in line:
            counts[token] = counts.get(token, 0) + 1
    return counts


def _union(reference: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    found: set[int] = set()
    for line in lines:
        found.update(_lcs_places(reference, line))
    return [reference[place] for place in sorted(found)]


def _lcs_places(reference: Sequence[str], line: Sequence[str]) -> list[int]:
    """Places in `reference` of one longest common subsequence. Of several, the one that rouge-score finds by walking back from the end.

    Row i of the usual table is kept as one integer whose bit j says that the table rises there (Crochemore et al. 2001): a row costs a few
    operations on whole integers.
    """
    rises = _rising_bits(reference, line)
    places: list[int] = []
    row, column = len(reference), len(line)
    while row and column:
        if reference[row - 1] == line[column - 1]:
            row, column = row - 1, column - 1
            places.append(row)
        elif _length(rises, row, column - 1) > _length(rises, row - 1, column):
            column -= 1
        else:
            row -= 1
    return places


def _rising_bits(reference: Sequence[str], line: Sequence[str]) -> list[int]:
    where: dict[str, int] = {}
    for place, token in enumerate(line):
        where[token] = where.get(token, 0) | 1 << place
    every = (1 << len(line)) - 1
    flat = every
    rows = [0]
    for token in reference:
        met = flat & where.get(token, 0)
        flat = (flat + met | flat - met) & every
        rows.append(~flat & every)
    return rows


def _length(rises: Sequence[int], row: int, column: int) -> int:
    return (rises[row] & ((1 << column) - 1)).bit_count()
