"""Wilson's coverage, exactly: every count of successes weighted by its binomial probability. No chance is involved."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from measurand.stats.proportions import wilson

SHARES = np.linspace(0.01, 0.99, 9801)  # coverage jumps from share to share: a coarse grid would miss the worst


def coverage(ends: list[tuple[float, float]], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance, at each true share, that the interval of the count that came out holds it; `ends` by count of successes."""
    n = len(ends) - 1
    low, high = np.array(ends).T
    chances = stats.binom.pmf(np.arange(n + 1)[:, None], n, shares)
    inside = (low[:, None] <= shares) & (shares <= high[:, None])
    return np.asarray((chances * inside).sum(axis=0), dtype=np.float64)


def wald_t(n: int) -> list[tuple[float, float]]:
    """What is used elsewhere: p̂ ± t·s/√n."""
    share = np.arange(n + 1) / n
    half = stats.t.ppf(0.975, n - 1) * np.sqrt(share * (1 - share) / (n - 1))
    return list(zip(share - half, share + half, strict=True))


@pytest.mark.parametrize(("n", "mean", "least"), [(12, 0.954, 0.83), (30, 0.953, 0.85), (100, 0.951, 0.90), (300, 0.950, 0.93)])
def test_wilson_covers(n: int, mean: float, least: float) -> None:
    found = coverage([wilson(count, n) for count in range(n + 1)], SHARES)
    assert 0.945 <= found.mean() <= 0.96
    assert found.mean() == pytest.approx(mean, abs=5e-4)
    assert found.min() >= least


@pytest.mark.parametrize(("n", "least"), [(12, 0.912), (30, 0.922), (100, 0.933), (300, 0.941)])
def test_wilson_in_the_middle(n: int, least: float) -> None:
    found = coverage([wilson(count, n) for count in range(n + 1)], np.linspace(0.1, 0.9, 801))
    assert found.min() == pytest.approx(least, abs=6e-4)


@pytest.mark.parametrize(("n", "least"), [(12, 0.844), (30, 0.860), (100, 0.910), (300, 0.935)])
def test_wilson_near_the_end(n: int, least: float) -> None:
    found = coverage([wilson(count, n) for count in range(n + 1)], np.arange(950, 996) / 1000)
    assert found.min() == pytest.approx(least, abs=6e-4)


@pytest.mark.parametrize(("n", "least"), [(12, 0.06), (30, 0.14), (100, 0.39), (300, 0.78)])
def test_the_t_interval_of_zeros_and_ones_fails(n: int, least: float) -> None:
    found = coverage(wald_t(n), np.arange(5, 996, 5) / 1000)
    assert found.min() == pytest.approx(least, abs=5e-3)
