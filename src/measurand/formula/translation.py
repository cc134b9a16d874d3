"""BLEU, chrF and TER as sacrebleu computes them (Post 2018), for a sentence and for all rows together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from measurand.core.errors import CellTimeoutError

LARGEST_TER: Final = 100_000
"""Words of the output times words of a reference: beyond, the search for moved phrases may take minutes."""

LARGEST: Final = 2_000_000
"""Characters of the output and all references in BLEU and chrF, which take some microseconds for each."""


class Scored(NamedTuple):
    """A value as sacrebleu gives it, 0–100 (TER: beyond), and the signature that names its settings."""

    value: float
    signature: str


def bleu(output: str, references: Sequence[str]) -> Scored:
    """BLEU-4 of one sentence with effective order (Papineni et al. 2002; Chen & Cherry 2014 for short ones), 13a tokens, 0–100.

    Raises `CellTimeoutError` for texts of more than `LARGEST` characters together.
    """
    _refuse_too_large(output, references)
    return _sentence(_metric("BLEU"), output, references, same=100.0)


def chrf(output: str, references: Sequence[str]) -> Scored:
    """chrF2: F-score of character n-grams up to 6, recall weighted twice, white space left out (Popović 2015), 0–100.

    Raises `CellTimeoutError` for texts of more than `LARGEST` characters together.
    """
    _refuse_too_large(output, references)
    return _sentence(_metric("CHRF"), output, references, same=100.0)


def ter(output: str, references: Sequence[str]) -> Scored:
    """Edits and moves of phrases / words of the reference (Snover et al. 2006), without case, 0 is best, beyond 100 possible.

    Raises `CellTimeoutError` for texts too long to search.
    """
    _refuse_too_long(output, references)
    return _sentence(_metric("TER"), output, references, same=0.0)


def _sentence(metric: Any, output: str, references: Sequence[str], *, same: float) -> Scored:
    scored = metric.sentence_score(output, list(references)).score
    if not output.strip() and not all(reference.strip() for reference in references):
        scored = same
    return Scored(float(scored), str(metric.get_signature().format()))


def _refuse_too_large(output: str, references: Sequence[str]) -> None:
    size = len(output) + sum(map(len, references))
    if size > LARGEST:
        raise CellTimeoutError(f"output and references of {size} characters would take too long; together they may have {LARGEST}")


def _refuse_too_long(output: str, references: Sequence[str]) -> None:
    given = len(output.split())
    longest = max((len(reference.split()) for reference in references), default=0)
    if given * longest > LARGEST_TER:
        raise CellTimeoutError(f"TER of {given} by {longest} words may take minutes; the product may be at most {LARGEST_TER}")


State = tuple[float, ...]
"""Counts that add up over rows; empty before the first."""


class CorpusScore:
    """The corpus value in [0, 1] (TER: [0, ∞)): counts are summed over rows, then scored once. It is no mean of rows."""

    def __init__(self, make: Callable[[], Any], highest: float = math.inf) -> None:
        self._make = make
        self._highest = highest

    def zero(self) -> State:
        """No rows."""
        return ()

    def add(self, state: State, output: str, expected: Sequence[str]) -> State:
        """With one more row."""
        if self._make is _corpus_ter:
            _refuse_too_long(output, expected)
        counts = self._make()._extract_corpus_statistics([output], [[reference] for reference in expected])[
            0
        ]  # sufficient statistics have no public name there
        return self.merge(state, tuple(counts))

    def merge(self, a: State, b: State) -> State:
        """The counts of both."""
        if not a or not b:
            return a or b
        return tuple(x + y for x, y in zip(a, b, strict=True))

    def value(self, state: State) -> float | None:
        """The score of the counts; None without rows."""
        if not state:
            return None
        score = float(self._make()._compute_score_from_stats(list(state)).score) / 100  # as in add
        return min(score, self._highest)


@cache
def _metric(name: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    return BLEU(effective_order=True) if name == "BLEU" else CHRF() if name == "CHRF" else TER()


@cache
def _corpus_bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU()


def _corpus_chrf() -> Any:
    return _metric("CHRF")


def _corpus_ter() -> Any:
    return _metric("TER")


CORPUS_BLEU: Final = CorpusScore(_corpus_bleu, highest=1.0)
CORPUS_CHRF: Final = CorpusScore(_corpus_chrf, highest=1.0)
CORPUS_TER: Final = CorpusScore(_corpus_ter)
