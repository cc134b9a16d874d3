from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.stats.repeats import flaky, flip_probability, pass_at_k, pass_hat_k


@given(st.integers(1, 7), st.data())
def test_equals_drawing_every_subset(trials: int, data: st.DataObject) -> None:
    won = data.draw(st.integers(0, trials))
    k = data.draw(st.integers(1, trials))
    outcomes = [True] * won + [False] * (trials - won)
    subsets = list(combinations(outcomes, k))
    K, c = np.array([trials]), np.array([won])
    assert pass_at_k(K, c, k)[0] == pytest.approx(sum(map(any, subsets)) / len(subsets), abs=1e-12)
    assert pass_hat_k(K, c, k)[0] == pytest.approx(sum(map(all, subsets)) / len(subsets), abs=1e-12)


@given(st.integers(2, 12), st.data())
def test_two_trials_that_differ(trials: int, data: st.DataObject) -> None:
    won = data.draw(st.integers(0, trials))
    outcomes = [True] * won + [False] * (trials - won)
    pairs = list(combinations(outcomes, 2))
    K, c = np.array([trials]), np.array([won])
    assert flip_probability(K, c)[0] == pytest.approx(sum(one != other for one, other in pairs) / len(pairs), abs=1e-12)
    assert flaky(K, c)[0] == float(0 < won < trials)


@given(st.integers(1, 30), st.data())
def test_more_draws_make_one_success_likelier_and_all_of_them_rarer(trials: int, data: st.DataObject) -> None:
    won = data.draw(st.integers(0, trials))
    K, c = np.array([trials]), np.array([won])
    at = [pass_at_k(K, c, k)[0] for k in range(1, trials + 1)]
    hat = [pass_hat_k(K, c, k)[0] for k in range(1, trials + 1)]
    assert at[0] == pytest.approx(hat[0])
    assert at[0] == pytest.approx(won / trials)
    assert at == pytest.approx(sorted(at))
    assert hat == pytest.approx(sorted(hat, reverse=True))
    assert all(0 <= value <= 1 for value in at + hat)


def test_many_trials_do_not_overflow() -> None:
    # C(2000, 1000) has 601 digits; C(c, k)/C(K, k) at c = K − 1 is 1 − k/K
    assert pass_hat_k(np.array([2000]), np.array([1999]), 1000)[0] == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("k", [0, 4])
def test_k_beyond_a_tasks_trials_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match=rf"k = {k}: 1 to 3"):
        pass_hat_k(np.array([5, 3]), np.array([1, 1]), k)
