"""Intervals for a share: Wilson's, and Wilson's with the sample size that clustered rows are worth."""

from __future__ import annotations

import math

from measurand.stats.distributions import Z95
from measurand.stats.student import t_quantile


def wilson(successes: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval of a proportion, as (low, high) within [0, 1].

    The p for which |p̂ − p| ≤ z·√(p(1−p)/n). Neither `successes` nor `n` need be whole: an effective sample size may be given.
    Source: Wilson 1927, Probable inference, the law of succession, and statistical inference, JASA 22(158), 209-212.

    Raises:
        ValueError: n is not positive, or successes is outside [0, n].
    """
    if not n > 0 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}: n must be positive and the successes within 0 and n")
    return _wilson_low(successes, n, z), 1.0 - _wilson_low(n - successes, n, z)


def _wilson_low(successes: float, n: float, z: float) -> float:
    # The two roots multiply to successes²/(n(n+z²)): dividing by the larger loses no digits where the smaller is near 0.
    half = z * math.sqrt(successes * (n - successes) / n + z * z / 4)
    larger = successes + z * z / 2 + half
    return successes * successes / (n * larger) if larger else 0.0


def effective_n(p: float, n: int, variance: float, df: float, n_clusters: int) -> float:
    """How many independent rows clustered rows are worth for the proportion p.

    n* = min(n, p(1−p)/V) · (t_{n−1}/t_ν)², with the 0.975 quantiles of t; where V = 0, n* = G · (t_{n−1}/t_ν)², as the clusters are all there is.
    V and ν (`df`) are those of `clusters.cr2`.
    Source: Korn & Graubard 1998, Confidence intervals for proportions with small expected number of positive counts estimated from survey
    data, Survey Methodology 24(2), 193-201. They put n* into Clopper and Pearson's interval, here it goes into Wilson's.
    """
    rows = min(float(n), p * (1.0 - p) / variance) if variance > 0 else float(n_clusters)
    return float(rows * (t_quantile(0.975, n - 1) / t_quantile(0.975, df)) ** 2)
