"""Overlap of two collections of tokens, and the numbers made of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

_SHORT: Final = 24  # up to this many tokens, removing from a list is faster than counting


class Overlap(NamedTuple):
    """How many tokens were given, how many were wanted, and how many of them are shared, all as counts with repeats."""

    shared: int
    given: int
    wanted: int

    @property
    def precision(self) -> float:
        """shared / given, in [0, 1]. Nothing given: 1 when nothing was wanted either, else 0."""
        return self.shared / self.given if self.given else float(not self.wanted)

    @property
    def recall(self) -> float:
        """shared / wanted, in [0, 1]. Nothing wanted: 1 when nothing was given either, else 0."""
        return self.shared / self.wanted if self.wanted else float(not self.given)


def f1(overlap: Overlap) -> float:
    """Harmonic mean of precision and recall, 2·shared / (given + wanted), in [0, 1]. Nothing on either side: 1."""
    shared, given, wanted = overlap
    return 2 * shared / (given + wanted) if given or wanted else 1.0


def multiset_overlap(given: Sequence[str], wanted: Sequence[str]) -> Overlap:
    """Shared tokens counted with repeats: each wanted token is matched once."""
    if given == wanted:
        return Overlap(len(given), len(given), len(given))
    return Overlap(_shared(given, wanted), len(given), len(wanted))


def _shared(given: Sequence[str], wanted: Sequence[str]) -> int:
    shared = 0
    if len(wanted) <= _SHORT:
        left = list(wanted)
        for token in given:
            if token in left:
                left.remove(token)
                shared += 1
        return shared
    counts = _counted(wanted)
    for token in given:
        if counts.get(token, 0):
            counts[token] -= 1
            shared += 1
    return shared


def _counted(some: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for token in some:
        counts[token] = counts.get(token, 0) + 1
    return counts


def jaccard(a: Collection[str], b: Collection[str]) -> float:
    """Distinct tokens in both / distinct tokens in either, in [0, 1]; symmetric. Nothing on either side: 1."""
    one, other = frozenset(a), frozenset(b)
    either = len(one | other)
    return len(one & other) / either if either else 1.0


def weighted_f(precision: float, recall: float, beta: float = 1.0) -> float:
    """F-β: (1 + β²)·P·R / (β²·P + R); β > 1 leans to recall. 0 when both are 0. (van Rijsbergen 1979)"""
    if precision == 0.0 and recall == 0.0:
        return 0.0
    weight = beta * beta
    return (1.0 + weight) * precision * recall / (weight * precision + recall)
