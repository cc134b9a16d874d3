"""Coverage of the intervals of one run where nothing can be enumerated: seeded experiments, with the data shapes that evaluations have."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from measurand.stats.clusters import cr2
from measurand.stats.intervals import mean_interval, t_interval
from measurand.stats.means import mean
from measurand.stats.quantiles import quantile_interval
from measurand.stats.reliability import count_trials, pass_curve

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]


def share(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def holds(low: float | None, high: float | None, truth: float) -> bool:
    assert low is not None
    assert high is not None
    return low <= truth <= high


# ---------------------------------------------------------------- independent reals


def zeros_and_ones_and_between(rng: np.random.Generator, n: int) -> Floats:
    kind = rng.random(n)
    return np.where(kind < 0.3, 0.0, np.where(kind < 0.7, 1.0, rng.random(n)))


SHAPES: dict[str, tuple[Draw, float, float, float]] = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0, -math.inf, math.inf),
    "beta(5, 1)": (lambda rng, n: rng.beta(5, 1, n), 5 / 6, 0.0, 1.0),
    "30 % zeros, 40 % ones": (zeros_and_ones_and_between, 0.55, 0.0, 1.0),
}


@pytest.mark.parametrize(("shape", "n"), [("normal", 12), ("normal", 30), ("normal", 100), *((shape, n) for shape in list(SHAPES)[1:] for n in (30, 100))])
def test_t_covers(shape: str, n: int) -> None:
    draw, truth, low, high = SHAPES[shape]
    rng = np.random.default_rng(20_240_000 + n)
    hits = []
    for _ in range(10_000):
        x = draw(rng, n)
        hits.append(holds(*t_interval(mean(x), float(x.std(ddof=1)) / math.sqrt(n), n - 1, low, high), truth))
    assert 0.93 <= share(hits) <= 0.97


def mostly_right(failing: float) -> Draw:
    """`failing` of the rows lie uniformly below 1, the rest are 1."""
    return lambda rng, n: np.where(rng.random(n) < failing, rng.random(n), 1.0)


@pytest.mark.parametrize(("failing", "n", "plain_at_most"), [(0.10, 30, 0.88), (0.10, 100, 0.94), (0.03, 30, 0.60), (0.03, 100, 0.88)])
def test_rows_piled_at_the_end_need_the_guard(failing: float, n: int, plain_at_most: float) -> None:
    draw, truth = mostly_right(failing), 1.0 - failing / 2
    rng = np.random.default_rng(20_240_100 + n)
    guarded, plain = [], []
    for _ in range(2_000):
        x = draw(rng, n)
        found = mean_interval(x, low=0.0, high=1.0)
        guarded.append(holds(found.low, found.high, truth))
        plain.append(holds(*t_interval(float(x.mean()), float(x.std(ddof=1)) / math.sqrt(n), n - 1, 0.0, 1.0), truth))
    assert share(guarded) >= 0.95
    assert share(plain) <= plain_at_most  # known to fail


# ---------------------------------------------------------------- clusters


def cluster_sizes(groups: int, *, equal: bool) -> list[int]:
    """Seven rows a cluster, or evenly from 1 to 13 of them."""
    return [7] * groups if equal else [round(size) for size in np.linspace(1, 13, groups)]


def clustered_reals(rng: np.random.Generator, sizes: list[int], icc: float) -> tuple[Floats, NDArray[np.int64]]:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    spread = 0.1
    between = rng.normal(scale=spread * math.sqrt(icc), size=len(sizes))
    return 0.5 + between[codes] + rng.normal(scale=spread * math.sqrt(1 - icc), size=codes.size), codes


@pytest.mark.parametrize("icc", [0.1, 0.4])
@pytest.mark.parametrize("equal", [True, False], ids=["equal", "13:1"])
@pytest.mark.parametrize("groups", [5, 10, 20, 50])
def test_cr2_with_bell_and_mccaffreys_degrees_of_freedom_covers(groups: int, equal: bool, icc: float) -> None:
    rng = np.random.default_rng(20_240_200 + groups)
    sizes = cluster_sizes(groups, equal=equal)
    hits = []
    for _ in range(10_000):
        x, codes = clustered_reals(rng, sizes, icc)
        found = mean_interval(x, low=-math.inf, high=math.inf, clusters=codes)
        hits.append(holds(found.low, found.high, 0.5))
    assert 0.93 <= share(hits) <= 0.97


def test_clusters_ignored_or_uncorrected_fail() -> None:
    rng = np.random.default_rng(20_240_300)
    sizes = cluster_sizes(10, equal=False)
    ignored, uncorrected = [], []
    for _ in range(2_000):
        x, codes = clustered_reals(rng, sizes, 0.4)
        spread, centre = cr2(x, codes), float(x.mean())
        assert spread.naive_std_error is not None
        ignored.append(abs(centre - 0.5) <= 1.96 * spread.naive_std_error)
        uncorrected.append(abs(centre - 0.5) <= 1.96 * spread.cr0)
    assert share(ignored) < 0.75
    assert share(uncorrected) < 0.91


def clustered_zeros_and_ones(rng: np.random.Generator, sizes: list[int], p: float, icc: float) -> tuple[Floats, NDArray[np.int64]]:
    """Beta-binomial clusters: mean p, intraclass correlation `icc`."""
    strength = (1 - icc) / icc
    codes = np.repeat(np.arange(len(sizes)), sizes)
    chances = rng.beta(p * strength, (1 - p) * strength, len(sizes))
    return (rng.random(codes.size) < chances[codes]).astype(np.float64), codes


@pytest.mark.parametrize("icc", [0.1, 0.4])
@pytest.mark.parametrize("equal", [True, False], ids=["equal", "13:1"])
@pytest.mark.parametrize("p", [0.5, 0.8, 0.9, 0.97])
@pytest.mark.parametrize("groups", [10, 20, 50])
def test_wilson_with_the_effective_n_covers(groups: int, p: float, equal: bool, icc: float) -> None:
    rng = np.random.default_rng(20_240_400 + groups)
    sizes = cluster_sizes(groups, equal=equal)
    hits = []
    for _ in range(2_000):
        x, codes = clustered_zeros_and_ones(rng, sizes, p, icc)
        found = mean_interval(x, low=0.0, high=1.0, clusters=codes)
        hits.append(holds(found.low, found.high, p))
    assert share(hits) >= 0.86


def test_it_is_weakest_for_rare_failures_in_large_unequal_clusters() -> None:
    rng = np.random.default_rng(20_240_450)
    hits = []
    for _ in range(2_000):
        x, codes = clustered_zeros_and_ones(rng, [round(size) for size in np.linspace(3, 39, 20)], 0.97, 0.4)
        found = mean_interval(x, low=0.0, high=1.0, clusters=codes)
        hits.append(holds(found.low, found.high, 0.97))
    assert 0.80 <= share(hits) <= 0.88  # a known limit: below the 0.86 that clusters of up to 13 rows keep


# ---------------------------------------------------------------- quantiles and repetitions


@pytest.mark.parametrize("n", [100, 300])
def test_order_statistics_cover_p95(n: int) -> None:
    rng = np.random.default_rng(20_240_500 + n)
    truth = float(np.exp(stats.norm.ppf(0.95)))
    hits = []
    for _ in range(2_000):
        found = quantile_interval(rng.lognormal(size=n), 0.95, name="p95")
        hits.append(holds(found.low, found.high, truth))
    assert share(hits) >= 0.94


@pytest.mark.parametrize("p", [0.3, 0.6, 0.9])
def test_pass_hat_k_estimates_the_power_of_p(p: float) -> None:
    rng = np.random.default_rng(20_240_600)
    tasks = np.repeat(np.arange(50), 5)
    estimates = []
    for _ in range(2_000):
        counts = count_trials(rng.random(250) < p, tasks)
        estimates.append([one.value for one in pass_curve("pass^", counts, 5)])
    found = np.array(estimates, np.float64)
    errors = found.std(axis=0, ddof=1) / math.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - p ** np.arange(1, 6)) <= 4 * errors)
