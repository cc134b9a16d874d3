"""Measures of a ranked list, after trec_eval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import log2
from typing import Final, Literal

from attrs import frozen

Gains = Literal["linear", "exp"]
LARGEST_EXP_GRADE: Final = 1000  # 2^1024 is no float


@frozen
class Ranked:
    """A ranked list against its judgements.

    `grades`: for each rank the grade of the passage found there; None where nobody judged it. `copies`: ranks (from 0) that only repeat an
    earlier one: they keep their place and are not relevant. `ideal`: the grade of every judged passage, found or not. Relevant: grade > 0.
    """

    grades: tuple[float | None, ...]
    copies: frozenset[int]
    ideal: tuple[float, ...]

    @property
    def relevant(self) -> list[bool]:
        """Whether each rank holds a relevant passage that no earlier rank held."""
        return [grade is not None and grade > 0 and rank not in self.copies for rank, grade in enumerate(self.grades)]

    @property
    def total(self) -> int:
        """R: how many relevant passages there are, found or not."""
        return sum(grade > 0 for grade in self.ideal)


def precision(ranked: Ranked, k: int | None = None) -> float:
    """Relevant / distinct passages found; with `k`, relevant among the first k / k, also when fewer were found (trec_eval P_k). Nothing found: 0."""
    found = ranked.relevant
    if k is not None:
        return sum(found[:k]) / k
    distinct = len(found) - len(ranked.copies)
    return sum(found) / distinct if distinct else 0.0


def recall(ranked: Ranked, k: int | None = None) -> float | None:
    """Relevant found (among the first k) / R; None when R = 0."""
    return sum(ranked.relevant[:k]) / ranked.total if ranked.total else None


def r_precision(ranked: Ranked) -> float | None:
    """Relevant among the first R / R; None when R = 0."""
    return recall(ranked, ranked.total)


def reciprocal_rank(ranked: Ranked, k: int | None = None) -> float | None:
    """1 / rank of the first relevant passage (among the first k), 0 when none was found; None when R = 0."""
    if not ranked.total:
        return None
    return next((1.0 / rank for rank, hit in enumerate(ranked.relevant[:k], start=1) if hit), 0.0)


def average_precision(ranked: Ranked, k: int | None = None) -> float | None:
    """Σ precision@i over the ranks i (up to k) of relevant passages / R (trec_eval map, map_cut); None when R = 0."""
    if not ranked.total:
        return None
    found = 0
    summed = 0.0
    for rank, hit in enumerate(ranked.relevant[:k], start=1):
        if hit:
            found += 1
            summed += found / rank
    return summed / ranked.total


def ndcg(ranked: Ranked, k: int | None = None, gains: Gains = "linear") -> float | None:
    """Σ gain / log2(rank + 1) up to k, divided by that sum of the best possible order (Järvelin & Kekäläinen 2002); None when no grade is above 0.

    gain = grade (trec_eval ndcg), or 2^grade − 1 with gains "exp" (Burges et al. 2005); below 0 is 0. Raises `OverflowError` for a grade over 1000 with "exp".
    """
    best = _dcg(sorted((_gain(grade, gains) for grade in ranked.ideal), reverse=True), k)
    if not best:
        return None
    return _dcg([0.0 if grade is None or rank in ranked.copies else _gain(grade, gains) for rank, grade in enumerate(ranked.grades)], k) / best


def unjudged(ranked: Ranked, k: int | None = None) -> float:
    """Distinct passages found (among the first k) that have no judgement / distinct passages found. Nothing found: 0."""
    first = [grade for rank, grade in enumerate(ranked.grades[:k]) if rank not in ranked.copies]
    return sum(grade is None for grade in first) / len(first) if first else 0.0


def _gain(grade: float, gains: Gains) -> float:
    if grade <= 0:
        return 0.0
    if gains == "linear":
        return float(grade)
    if grade > LARGEST_EXP_GRADE:
        raise OverflowError(f"2^{grade:g} is too large")
    return float(2.0**grade) - 1.0


def _dcg(gained: Sequence[float], k: int | None) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(islice(gained, k), start=1) if gain)
