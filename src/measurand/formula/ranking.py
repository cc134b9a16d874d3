"""Measures of a ranked list, after trec_eval."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2
from typing import Final, Literal, NamedTuple

Gains = Literal["linear", "exp"]
LARGEST_EXP_GRADE: Final = 1000  # 2^1024 is no float


class Ranked(NamedTuple):
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
    ideal = sorted([grade for grade in ranked.ideal if grade > 0], reverse=True)
    best = _discounted(enumerate(ideal[:k], start=1), gains)
    if not best:
        return None
    copies = ranked.copies
    found = [(rank, grade) for rank, grade in enumerate(ranked.grades[:k], start=1) if grade is not None and grade > 0 and rank - 1 not in copies]
    return _discounted(found, gains) / best


def unjudged(ranked: Ranked, k: int | None = None) -> float:
    """Distinct passages found (among the first k) that have no judgement / distinct passages found. Nothing found: 0."""
    first = [grade for rank, grade in enumerate(ranked.grades[:k]) if rank not in ranked.copies]
    return sum(grade is None for grade in first) / len(first) if first else 0.0


def _discounted(ranked: Iterable[tuple[int, float]], gains: Gains) -> float:
    """Σ gain / log2(rank + 1) over pairs of a rank, from 1, and a grade above 0."""
    summed = 0.0
    if gains == "linear":
        for rank, grade in ranked:
            summed += grade / log2(rank + 1)
        return summed
    for rank, grade in ranked:
        if grade > LARGEST_EXP_GRADE:
            raise OverflowError(f"2^{grade:g} is too large")
        summed += (2.0**grade - 1.0) / log2(rank + 1)
    return summed
