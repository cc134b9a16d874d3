from __future__ import annotations

import numpy as np
import pytest

from measurand.stats.pass_rate import on_good_side, pass_rate
from measurand.stats.proportions import wilson


def test_the_share_with_wilsons_interval() -> None:
    found = pass_rate(np.array([True, True, False, True]))
    assert found is not None
    assert (found.value, found.n, found.interval) == (0.75, 4, "wilson")
    assert (found.low, found.high) == wilson(3, 4)


def test_no_units_have_no_rate_and_one_has_no_interval() -> None:
    assert pass_rate(np.array([], np.bool_)) is None
    one = pass_rate(np.array([True]))
    assert one is not None
    assert (one.value, one.low, one.high, one.notes) == (1.0, None, None, ("n < 2",))


def test_clusters_widen_it() -> None:
    passed = np.repeat([True, False, True, True], 5)
    plain, clustered = pass_rate(passed), pass_rate(passed, np.repeat(np.arange(4), 5))
    assert plain is not None
    assert plain.low is not None
    assert clustered is not None
    assert clustered.low is not None
    assert clustered.low < plain.low
    assert clustered.interval == "wilson, clustered"


def test_the_good_side() -> None:
    values = np.array([0.4, 0.5, 0.6])
    assert on_good_side(values, 0.5, "higher").tolist() == [False, True, True]
    assert on_good_side(values, 0.5, "lower").tolist() == [True, False, False]
    with pytest.raises(ValueError, match="no good side"):
        on_good_side(values, 0.5, "none")


def test_a_mean_that_rounding_carried_off_its_threshold_still_reaches_it() -> None:
    just_below = np.array([0.7999999999999999])
    assert on_good_side(just_below, 0.8, "higher").tolist() == [False]
    assert on_good_side(just_below, 0.8, "higher", 1e-12).tolist() == [True]
    assert on_good_side(just_below, 0.8, "lower", 1e-12).tolist() == [False]
