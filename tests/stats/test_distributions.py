from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.stats.distributions import Z95, binomial_cdf, first_at_or_above, most_at_or_below
from measurand.stats.student import t_quantile


def test_the_quantiles_are_those_of_the_printed_tables() -> None:
    # Student's t, 0.975: any statistics textbook
    for df, expected in ((1, 12.706), (4, 2.776), (9, 2.262), (30, 2.042), (1e9, 1.960)):
        assert t_quantile(0.975, df) == pytest.approx(expected, abs=5e-4)
    assert 0.5 * (1 + math.erf(Z95 / math.sqrt(2))) == pytest.approx(0.975, abs=1e-15)


@given(st.integers(1, 60), st.floats(0.01, 0.99))
def test_the_binomial_sums_its_terms(n: int, p: float) -> None:
    for k in range(n + 1):
        terms = math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))
        assert binomial_cdf(k, n, p) == pytest.approx(terms, abs=1e-12)


@given(st.integers(1, 200), st.floats(0.05, 0.95))
def test_ranks_cut_off_no_more_than_the_tail_and_as_much_as_they_can(n: int, p: float) -> None:
    below = most_at_or_below(0.025, n, p)
    assert below == 0 or binomial_cdf(below - 1, n, p) <= 0.025
    assert below == n or binomial_cdf(below, n, p) > 0.025
    above = first_at_or_above(0.975, n, p)
    if above is None:
        assert binomial_cdf(n - 1, n, p) < 0.975
    else:
        assert binomial_cdf(above, n, p) >= 0.975
        assert above == 0 or binomial_cdf(above - 1, n, p) < 0.975


def test_the_statistics_load_scipy_only_where_quantiles_are_bounded() -> None:
    code = "import sys, measurand.stats.summary; print('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == ["False"]
