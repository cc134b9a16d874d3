"""The variance of a mean whose rows come in clusters: bias-reduced (CR2) with Bell and McCaffrey's degrees of freedom."""

from __future__ import annotations

import math

import numpy as np
from attrs import evolve, frozen

from measurand.stats.arrays import Codes, Floats, dense, same_length
from measurand.stats.means import mean, sum_of_squares, unit_exponent, zero_or_one

_ROUNDING = 8 * float(np.finfo(np.float64).eps)


@frozen
class Clustered:
    """What clustering does to the standard error of a mean. Errors are in the unit of the scores; None: fewer than 2 clusters, or 0/0."""

    n_clusters: int
    std_error: float | None
    """√V, CR2."""
    df: float | None
    """ν, the degrees of freedom of V."""
    naive_std_error: float | None
    """s/√N, what it would be if the rows were independent."""
    cr0: float
    """√(Σe²)/N without a small-sample factor (Liang & Zeger 1986; Miller 2024): to compare with other tools, too small for an interval."""
    design_effect: float | None
    """V / V_naive; None when all rows are equal."""

    @property
    def variance(self) -> float | None:
        """V, the CR2 variance of the mean."""
        return None if self.std_error is None else self.std_error * self.std_error


@frozen
class ClusterTotals:
    """All that the variance needs of the rows: of each cluster its size and e, the sum of its deviations from the mean of all rows."""

    sizes: Floats
    residuals: Floats


def cr2(values: Floats, clusters: Codes) -> Clustered:
    """The variance of the mean of clustered rows, in time linear in the rows.

    With h_g = n_g/N and e_g = Σ_{i∈g}(x_i − x̄): V = Σ e_g²/(1−h_g) / N² and
    ν = N² / (Σ n_g² + Σ_{g≠k} n_g² n_k² / (N²(1−h_g)(1−h_k))). Each row its own cluster: V = s²/n, ν = n−1.
    A negative cluster code is a row in no cluster.
    Source: Bell & McCaffrey 2002, Bias reduction in standard errors for linear regression with multi-stage samples, Survey Methodology
    28(2), 169-181; Imbens & Kolesár 2016, Robust standard errors in small samples: some practical advice, Review of Economics and
    Statistics 98(4), 701-712 (there for the intercept alone).

    Raises:
        ValueError: no rows, or arrays of different length.
    """
    same_length(values, clusters=clusters)
    exponent = unit_exponent(values)
    if exponent:
        return in_units(cr2(np.ldexp(values, -exponent), clusters), exponent)
    centre = mean(values)
    return clustered_error(cluster_totals(values, clusters, centre), naive_variance(values, centre))


def naive_variance(values: Floats, centre: float) -> float | None:
    """s²/n, the variance of a mean of independent rows; None for a single row."""
    n = values.size
    return sum_of_squares(values, centre) / (n - 1) / n if n > 1 else None


def cluster_totals(values: Floats, clusters: Codes, centre: float) -> ClusterTotals:
    """Sizes and residual sums by cluster. What is only rounding becomes 0: V = 0 is a case of its own."""
    codes = dense(clusters)
    sizes = np.bincount(codes).astype(np.float64)
    present = sizes > 0
    if zero_or_one(values):
        ones = np.bincount(codes, values)
        exact = (values.size * ones - sizes * float(ones.sum())) / values.size
        return ClusterTotals(sizes[present], exact[present])
    deviations = values - centre
    residuals = np.bincount(codes, deviations).astype(np.float64)
    rounding = _ROUNDING * (np.bincount(codes, np.abs(deviations)) + sizes * abs(centre))
    residuals[np.abs(residuals) <= rounding] = 0.0
    return ClusterTotals(sizes[present], residuals[present])


def clustered_error(totals: ClusterTotals, naive: float | None) -> Clustered:
    """The errors and degrees of freedom that follow from the totals and the variance under independence."""
    n = float(totals.sizes.sum())
    several = totals.sizes.size > 1
    variance = cluster_variance(totals) if several else None
    return Clustered(
        n_clusters=totals.sizes.size,
        std_error=None if variance is None else math.sqrt(variance),
        df=degrees_of_freedom(totals.sizes) if several else None,
        naive_std_error=None if naive is None else math.sqrt(naive),
        cr0=math.sqrt(float(np.dot(totals.residuals, totals.residuals))) / n,
        design_effect=variance / naive if variance is not None and naive else None,
    )


def cluster_variance(totals: ClusterTotals) -> float:
    """V, the CR2 variance of the mean of clustered rows (2 clusters or more)."""
    n = float(totals.sizes.sum())
    weighted = totals.residuals / n
    return float(np.sum(weighted * weighted * n / (n - totals.sizes)))


def degrees_of_freedom(sizes: Floats) -> float:
    """Bell and McCaffrey's ν of the mean of clusters of these sizes (at least 2), under independent equal-variance rows."""
    n = float(sizes.sum())
    weights = sizes / n * sizes / (n - sizes)  # n_g² / (N² (1 − h_g))
    largest = int(weights.argmax())
    others = np.delete(weights, largest)
    rest = float(others.sum())
    # Σ_{g≠k}, with the largest weight apart: as a difference of two large sums its digits would be lost.
    pairs = 2.0 * float(weights[largest]) * rest + max(rest * rest - float(np.dot(others, others)), 0.0)
    shares = sizes / n
    return 1.0 / (float(np.dot(shares, shares)) + pairs)


def in_units(found: Clustered, exponent: int) -> Clustered:
    """The same errors where one unit is 2**exponent."""

    def back(error: float | None) -> float | None:
        return None if error is None else math.ldexp(error, exponent)

    return evolve(found, std_error=back(found.std_error), naive_std_error=back(found.naive_std_error), cr0=math.ldexp(found.cr0, exponent))
