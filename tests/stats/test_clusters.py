from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from measurand.stats.clusters import ClusterTotals, clustered_error, cr2, degrees_of_freedom

Rows = tuple[list[float], list[int]]


def rows(minimum: int = 2, most: int = 25) -> st.SearchStrategy[Rows]:
    """Scores, and a cluster code for each."""
    row = st.tuples(st.integers(-1000, 1000).map(lambda thousandths: thousandths / 1000), st.integers(0, 6))
    return st.lists(row, min_size=minimum, max_size=most).map(lambda pairs: ([score for score, _ in pairs], [code for _, code in pairs]))


def bell_mccaffrey(x: NDArray[np.float64], codes: NDArray[np.int64]) -> tuple[float, float]:
    """V and ν straight from the matrices of the paper: OLS on a constant, A_g = (I − H_gg)^(−1/2), ν = tr(Ω)²/tr(Ω²) of the quadratic form."""
    n = x.size
    design = np.ones((n, 1))
    inverse = np.linalg.inv(design.T @ design)
    residual_maker = np.eye(n) - design @ inverse @ design.T
    residuals = residual_maker @ x
    variance, columns = 0.0, []
    for code in np.unique(codes):
        own = np.flatnonzero(codes == code)
        values, vectors = np.linalg.eigh(residual_maker[np.ix_(own, own)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        weights = root @ design[own] @ inverse
        variance += float(residuals[own] @ weights[:, 0]) ** 2
        columns.append(residual_maker[:, own] @ weights[:, 0])
    form = np.array(columns) @ np.array(columns).T
    return variance, float(np.trace(form) ** 2 / np.trace(form @ form))


@given(rows())
def test_equals_the_matrices_of_the_paper(case: Rows) -> None:
    x, codes = np.array(case[0]), np.array(case[1])
    assume(np.unique(codes).size > 1)
    variance, df = bell_mccaffrey(x, codes)
    found = cr2(x, codes)
    assert found.variance == pytest.approx(variance, rel=1e-9, abs=1e-15)
    assert found.df == pytest.approx(df, rel=1e-9)


@given(rows())
def test_the_double_sum_is_the_papers_formula_term_by_term(case: Rows) -> None:
    counted = np.bincount(case[1])
    sizes = counted[counted > 0].astype(np.float64)
    assume(sizes.size > 1)
    n = sizes.sum()
    pairs = sum(
        sizes[g] ** 2 * sizes[k] ** 2 / (n**2 * (1 - sizes[g] / n) * (1 - sizes[k] / n)) for g in range(sizes.size) for k in range(sizes.size) if g != k
    )
    assert degrees_of_freedom(sizes) == pytest.approx(n**2 / ((sizes**2).sum() + pairs), rel=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_every_row_its_own_cluster_is_no_cluster_at_all(x: list[float]) -> None:
    n = len(x)
    found = cr2(np.array(x), np.arange(n))
    assert found.variance == pytest.approx(np.var(x, ddof=1) / n, rel=1e-9, abs=1e-30)
    assert found.df == pytest.approx(n - 1, rel=1e-12)
    assert found.naive_std_error == pytest.approx(found.std_error, rel=1e-9, abs=1e-16)


@given(st.integers(2, 12), st.integers(1, 8))
def test_equal_clusters_have_one_degree_of_freedom_less_than_there_are_clusters(groups: int, size: int) -> None:
    assert degrees_of_freedom(np.full(groups, float(size))) == pytest.approx(groups - 1, rel=1e-12)


@given(rows())
def test_equal_sized_clusters_are_their_means(case: Rows) -> None:
    x = np.array(case[0])
    size = 3
    groups = x.size // size
    assume(groups >= 2)
    x = x[: groups * size]
    means = x.reshape(groups, size).mean(axis=1)
    found = cr2(x, np.repeat(np.arange(groups), size))
    assert found.variance == pytest.approx(means.var(ddof=1) / groups, rel=1e-9, abs=1e-20)


@given(rows(), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_the_names_of_clusters_matter(case: Rows, random: object) -> None:
    x, codes = np.array(case[0]), np.array(case[1])
    assume(np.unique(codes).size > 1)
    order = list(range(x.size))
    random.shuffle(order)  # type: ignore[attr-defined]
    one, other = cr2(x, codes), cr2(x[order], 10**9 * (7 - codes[order]))
    assert one.n_clusters == other.n_clusters
    assert one.df == pytest.approx(other.df)
    assert one.std_error == pytest.approx(other.std_error, rel=1e-9, abs=1e-15)
    assert one.cr0 == pytest.approx(other.cr0, rel=1e-9, abs=1e-15)


def test_two_documents_of_four_questions() -> None:
    # x̄ = 1/2, e = ±2, h = 1/2: V = 2·4/(1/2)/64 = 1/4; naive: s²/n = (2/7)/8 = 1/28; CR0 = √8/8; ν = 64/(32 + 2·256/(64/4)) = 1
    found = cr2(np.array([1.0, 1, 1, 1, 0, 0, 0, 0]), np.repeat([0, 1], 4))
    assert found.n_clusters == 2
    assert found.std_error == pytest.approx(0.5)
    assert found.df == pytest.approx(1.0)
    assert found.naive_std_error == pytest.approx(math.sqrt(1 / 28))
    assert found.cr0 == pytest.approx(math.sqrt(8) / 8)
    assert found.design_effect == pytest.approx(7.0)


def test_real_trajectories_agree_with_an_independent_clustered_error() -> None:
    # successes of 4 trials each of 32 airline tasks (tau-bench, gpt-4o): mean 0.40625, √(Σe²)/N = 0.061267137270930166, s/√N = 0.04358094446512651
    # as computed with numpy from the published trajectories, by task
    won = np.array([4] * 5 + [3] * 3 + [2] * 8 + [1] * 7 + [0] * 9)
    x = np.concatenate([np.repeat([1.0, 0.0], [c, 4 - c]) for c in won])
    found = cr2(x, np.repeat(np.arange(32), 4))
    assert x.mean() == 0.40625
    assert found.cr0 == pytest.approx(0.061267137270930166, rel=1e-12)
    assert found.naive_std_error == pytest.approx(0.04358094446512651, rel=1e-12)
    assert found.std_error == pytest.approx(0.061267137270930166 * math.sqrt(32 / 31), rel=1e-12)


def test_clusters_with_one_mean_have_exactly_no_variance_between_them() -> None:
    thirds = np.array([0.1, 0.2, 0.6, 0.6, 0.1, 0.2, 0.2, 0.6, 0.1])
    assert cr2(thirds, np.repeat([0, 1, 2], 3)).std_error == 0.0
    assert cr2(np.array([1.0, 0, 0, 0, 1, 0]), np.repeat([0, 1], 3)).std_error == 0.0


def test_one_cluster_says_nothing_of_others() -> None:
    found = cr2(np.array([0.0, 1.0, 1.0]), np.zeros(3, np.int64))
    assert (found.n_clusters, found.std_error, found.variance, found.df, found.design_effect, found.cr0) == (1, None, None, None, None, 0.0)


def test_equal_rows_have_no_design_effect() -> None:
    found = cr2(np.full(6, 0.3), np.repeat([0, 1], 3))
    assert (found.std_error, found.naive_std_error, found.design_effect) == (0.0, 0.0, None)


def test_rows_in_no_cluster_stand_alone() -> None:
    x = np.array([0.1, 0.9, 0.4, 0.5])
    assert cr2(x, np.array([0, 0, -1, -1])) == cr2(x, np.array([0, 0, 1, 2]))


def test_one_giant_beside_small_clusters_keeps_its_digits() -> None:
    # ν of sizes (10⁹, 1, 1) in exact fractions
    sizes = [10**9, 1, 1]
    n = Fraction(sum(sizes))
    weights = [Fraction(size) ** 2 / (n * (n - size)) for size in sizes]
    pairs = sum(weights) ** 2 - sum(weight**2 for weight in weights)
    exact = 1 / (sum(Fraction(size) ** 2 for size in sizes) / n**2 + pairs)
    assert degrees_of_freedom(np.array(sizes, np.float64)) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-900])
def test_extreme_units_give_the_same_errors_in_those_units(scale: float) -> None:
    x, codes = np.array([0.25, 0.5, 0.75, 0.125, 0.5]), np.array([0, 0, 1, 1, 2])
    plain, scaled = cr2(x, codes), cr2(x * scale, codes)
    assert plain.std_error is not None
    assert scaled.std_error == pytest.approx(plain.std_error * scale, rel=1e-12)
    assert scaled.cr0 == pytest.approx(plain.cr0 * scale, rel=1e-12)
    assert scaled.df == plain.df
    assert scaled.design_effect == pytest.approx(plain.design_effect)


def test_totals_alone_give_no_naive_error() -> None:
    found = clustered_error(ClusterTotals(np.array([2.0, 2.0]), np.array([1.0, -1.0])), None)
    assert found.naive_std_error is None
    assert found.design_effect is None
    # V = 2·1/(1/2)/16
    assert found.std_error == pytest.approx(0.5)
