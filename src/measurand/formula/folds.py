"""How the verdicts on many items become one number.

A verdict is p(yes), a float in [0, 1]. A linear fold uses p as it is; a branching one calls p ≥ 0.5 a yes. On verdicts of 0 and 1 both read the same.
No verdicts fold to None: 0/0 is no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from attrs import frozen

from measurand.formula.overlap import weighted_f

YES: Final = 0.5  # a branching fold reads p from here on as yes


@frozen
class Share:
    """Mean probability of `answer`: with 0/1 verdicts the share of items that got it. Linear."""

    answer: Literal["yes", "no"] = "yes"

    @property
    def name(self) -> str:
        """`share` or `share(no)`."""
        return "share" if self.answer == "yes" else "share(no)"

    def __call__(self, verdicts: Sequence[float]) -> float | None:
        if not verdicts:
            return None
        mean = sum(verdicts) / len(verdicts)
        return mean if self.answer == "yes" else 1.0 - mean


@frozen
class ExpectedValue:
    """Mean of the verdicts' expected values (levels of a scale, scores of a choice). Linear."""

    name: str = "expected_value"

    def __call__(self, verdicts: Sequence[float]) -> float | None:
        return sum(verdicts) / len(verdicts) if verdicts else None


@frozen
class AveragePrecision:
    """Mean of precision@i over the ranks i of the yes verdicts, which are in rank order; 0 when none is yes. Branching.

    The denominator is the number of relevant items *retrieved* (ragas, deepeval), where `code_average_precision` has all relevant ones (trec_eval).
    """

    name: str = "average_precision"

    def __call__(self, verdicts: Sequence[float]) -> float | None:
        if not verdicts:
            return None
        found = 0
        total = 0.0
        for rank, p in enumerate(verdicts, start=1):
            if p >= YES:
                found += 1
                total += found / rank
        return total / found if found else 0.0


@frozen
class Worst:
    """Whether the worst item is good: 1 when every verdict is `answer`, else 0. Branching."""

    answer: Literal["yes", "no"] = "yes"

    @property
    def name(self) -> str:
        """`worst` or `worst(no)`."""
        return "worst" if self.answer == "yes" else "worst(no)"

    def __call__(self, verdicts: Sequence[float]) -> float | None:
        if not verdicts:
            return None
        return float(all((p >= YES) == (self.answer == "yes") for p in verdicts))


@frozen
class FBeta:
    """F-β of two lists of verdicts: the precision's (are my items right?) and the recall's (are theirs found?). Branching.

    Only one list empty: 0. Both: None. Raises `ValueError` for a β that is not positive.
    """

    beta: float = 1.0

    def __attrs_post_init__(self) -> None:
        if not self.beta > 0:
            raise ValueError(f"beta is {self.beta}; it is a number above 0")

    @property
    def name(self) -> str:
        """`f_beta(1)` …"""
        return f"f_beta({self.beta:g})"

    def __call__(self, mine: Sequence[float], theirs: Sequence[float]) -> float | None:
        if not mine and not theirs:
            return None
        if not mine or not theirs:
            return 0.0
        return weighted_f(_share_of_yes(mine), _share_of_yes(theirs), self.beta)


def _share_of_yes(verdicts: Sequence[float]) -> float:
    return sum(p >= YES for p in verdicts) / len(verdicts)


share: Final = Share
expected_value: Final = ExpectedValue()
average_precision: Final = AveragePrecision()
worst: Final = Worst
f_beta: Final = FBeta
