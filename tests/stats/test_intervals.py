from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measurand.stats.clusters import cr2
from measurand.stats.intervals import mean_interval, t_interval
from measurand.stats.proportions import effective_n, wilson
from measurand.stats.student import t_quantile

INF = math.inf
SPREAD = np.linspace(0.05, 0.95, 40)  # 40 different values: nothing to guard


def test_zeros_and_ones_are_wilsons_whatever_the_range() -> None:
    x = np.array([1.0, 0, 1, 1, 0, 1, 1, 1, 1, 1])
    for high in (1.0, INF):
        found = mean_interval(x, low=0, high=high)
        assert (found.interval, found.n, found.mean) == ("wilson", 10, 0.8)
        assert (found.low, found.high) == wilson(8, 10)
        assert found.std_error == pytest.approx(x.std(ddof=1) / math.sqrt(10))  # √V, also beside Wilson
        assert found.notes == ()


def test_reals_are_students() -> None:
    found = mean_interval(SPREAD, low=0, high=1)
    theirs = stats.ttest_1samp(SPREAD, 0).confidence_interval(0.95)
    assert found.interval == "t"
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)
    assert found.df == 39


def test_unbounded_reals_are_never_guarded() -> None:
    latencies = np.array([0.5, 0.75, 2.0])
    found = mean_interval(latencies, low=0, high=INF)
    theirs = stats.ttest_1samp(latencies, 0).confidence_interval(0.95)
    assert found.interval == "t"
    assert found.low == 0.0  # clipped: a latency is not negative
    assert theirs.low < 0
    assert found.high == pytest.approx(theirs.high)


def test_few_rows_off_the_most_common_value_are_guarded_and_say_so() -> None:
    # 0.5 four times and a pseudo-row at either end: see test_guarded
    found = mean_interval(np.full(4, 0.5), low=0, high=1)
    assert (found.interval, found.notes) == ("t, guarded", ("few rows carry information",))
    assert (found.low, found.high) == pytest.approx((0.4 - 0.27764, 0.6 + 0.27764), abs=1e-5)
    assert found.std_error == 0.0


def test_equal_unbounded_values_give_a_point_and_say_what_it_is_worth() -> None:
    found = mean_interval(np.full(50, 2.5), low=0, high=INF)
    assert (found.low, found.high, found.interval, found.notes) == (2.5, 2.5, "t", ("few rows carry information",))
    clustered = mean_interval(np.full(50, 2.5), low=0, high=INF, clusters=np.arange(50) // 5)
    assert (clustered.low, clustered.high, clustered.interval, clustered.notes) == (2.5, 2.5, "t CR2", ("few rows carry information",))


def test_all_right_is_not_certainly_right() -> None:
    found = mean_interval(np.ones(5), low=0, high=1)
    assert (found.mean, found.std_error, found.high) == (1.0, 0.0, 1.0)
    assert found.low == pytest.approx(5 / (5 + 1.959964**2), rel=1e-6)  # Wilson at p̂ = 1: n/(n+z²)


def test_clustered_zeros_and_ones_take_the_effective_n() -> None:
    x = np.array([1.0] * 7 + [0] * 3 + [1] * 10 + [0] * 6 + [1] * 4)
    codes = np.repeat(np.arange(10), 3)
    spread = cr2(x, codes)
    assert spread.variance is not None
    assert spread.df is not None
    rows = effective_n(0.7, 30, spread.variance, spread.df, 10)
    found = mean_interval(x, low=0, high=1, clusters=codes)
    assert found.interval == "wilson, clustered"
    assert (found.low, found.high) == pytest.approx(wilson(0.7 * rows, rows), rel=1e-12)
    assert found.clustered == spread
    assert found.notes == ()
    plain = mean_interval(x, low=0, high=1)
    assert plain.low is not None
    assert found.low is not None
    assert found.low < plain.low


def test_clusters_that_all_are_right_are_what_there_is() -> None:
    # V = 0: n* = G·(t_59/t_11)² = 12·(2.00100/2.20099)²
    found = mean_interval(np.ones(60), low=0, high=1, clusters=np.repeat(np.arange(12), 5))
    rows = 12 * (2.00100 / 2.20099) ** 2
    assert found.low == pytest.approx(rows / (rows + 1.959964**2), rel=1e-5)


def test_clustered_reals_are_cr2_with_its_degrees_of_freedom() -> None:
    codes = np.repeat(np.arange(10), 4)
    found = mean_interval(SPREAD, low=0, high=1, clusters=codes)
    spread = cr2(SPREAD, codes)
    assert spread.std_error is not None
    assert found.interval == "t CR2"
    assert found.df == pytest.approx(9)
    assert found.high == pytest.approx(SPREAD.mean() + t_quantile(0.975, 9) * spread.std_error)
    assert found.notes == ()


def test_few_clusters_are_named() -> None:
    found = mean_interval(SPREAD, low=0, high=1, clusters=np.repeat(np.arange(8), 5))
    assert found.notes == ("few clusters",)
    # 11 clusters, one with 30 of 40 rows: ν < 5
    lopsided = mean_interval(SPREAD, low=0, high=1, clusters=np.maximum(np.arange(40) - 29, 0))
    assert lopsided.clustered is not None
    assert lopsided.clustered.n_clusters == 11
    assert lopsided.df is not None
    assert lopsided.df < 5
    assert lopsided.notes == ("few clusters",)


def test_both_notes_stand_together() -> None:
    found = mean_interval(np.array([0.5, 0.5, 1.0, 0.5]), low=0, high=1, clusters=np.array([0, 0, 1, 1]))
    assert (found.interval, found.notes) == ("t CR2, guarded", ("few clusters", "few rows carry information"))


@pytest.mark.parametrize("clusters", [None, np.array([], np.int64)])
def test_nothing_scored_has_no_mean(clusters: np.ndarray[tuple[int], np.dtype[np.int64]] | None) -> None:
    found = mean_interval(np.array([]), low=0, high=1, clusters=clusters)
    assert (found.mean, found.std_error, found.low, found.high, found.n) == (None, None, None, None, 0)
    assert (found.interval, found.notes) == ("none", ("nothing scored",))


def test_one_row_has_a_mean_and_no_interval() -> None:
    for clusters in (None, np.array([4])):
        found = mean_interval(np.array([1.0]), low=0, high=1, clusters=clusters)
        assert (found.mean, found.std_error, found.low, found.high, found.interval, found.notes) == (1.0, None, None, None, "none", ("n < 2",))


def test_one_cluster_has_a_mean_and_no_interval() -> None:
    found = mean_interval(np.array([1.0, 0.0]), low=0, high=1, clusters=np.array([4, 4]))
    assert (found.mean, found.std_error, found.low, found.high) == (0.5, None, None, None)
    assert (found.interval, found.notes) == ("none", ("fewer than 2 clusters",))
    assert found.clustered is not None
    assert found.clustered.n_clusters == 1


SCORES = st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=2, max_size=60)


@given(SCORES, st.data())
def test_the_mean_is_inside_and_the_range_is_kept(scores: list[float], data: st.DataObject) -> None:
    x = np.array(scores)
    codes = data.draw(st.none() | st.lists(st.integers(-1, 5), min_size=x.size, max_size=x.size))
    found = mean_interval(x, low=0, high=1, clusters=None if codes is None else np.array(codes, np.int64))
    if found.interval == "none":
        assert codes is not None
        assert len(set(codes)) == 1
        return
    assert found.low is not None
    assert found.high is not None
    assert found.mean is not None
    assert 0 <= found.low <= found.mean <= found.high <= 1


@given(SCORES)
def test_every_row_its_own_cluster_changes_nothing(scores: list[float]) -> None:
    x = np.array(scores)
    plain = mean_interval(x, low=0, high=1)
    alone = mean_interval(x, low=0, high=1, clusters=np.arange(x.size)[::-1])
    assert (alone.mean, alone.std_error, alone.low, alone.high, alone.interval, alone.notes) == (
        plain.mean,
        plain.std_error,
        plain.low,
        plain.high,
        plain.interval,
        plain.notes,
    )
    assert alone.clustered is not None
    assert alone.clustered.n_clusters == x.size


@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(scores: list[float], random: object) -> None:
    codes = [index % 4 for index in range(len(scores))]
    order = list(range(len(scores)))
    random.shuffle(order)  # type: ignore[attr-defined]
    one = mean_interval(np.array(scores), low=0, high=1, clusters=np.array(codes))
    other = mean_interval(np.array(scores)[order], low=0, high=1, clusters=np.array(codes)[order])
    assert one.mean == other.mean
    assert one.interval == other.interval
    assert one.low == pytest.approx(other.low, abs=1e-9)
    assert one.high == pytest.approx(other.high, abs=1e-9)


@given(st.integers(2, 6))
def test_repeating_every_row_narrows_the_interval(times: int) -> None:
    for x in (SPREAD, np.array([0.0] * 10 + [1.0] * 30)):
        once, often = (mean_interval(np.tile(x, count), low=0, high=1) for count in (1, times))
        assert once.low is not None
        assert once.high is not None
        assert often.low is not None
        assert often.high is not None
        assert once.low < often.low
        assert often.high < once.high


@pytest.mark.parametrize("codes", [None, [0, 0, 1, 1, 2, 2]])
@pytest.mark.parametrize("scale", [2.0**1000, 2.0**-1000])
def test_extreme_units_change_nothing_but_the_unit(scale: float, codes: list[int] | None) -> None:
    x = np.array([0.5, 1.5, 2.5, 3.5, 4.0, 8.0])
    clusters = None if codes is None else np.array(codes)
    plain = mean_interval(x, low=0, high=INF, clusters=clusters)
    scaled = mean_interval(x * scale, low=0, high=INF, clusters=clusters)
    for name in ("mean", "std_error", "low", "high"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name) * scale, rel=1e-12)
    assert scaled.notes == plain.notes


def test_an_end_that_no_float_holds_is_none_and_says_so() -> None:
    found = mean_interval(np.array([1.7e308, -1.7e308]), low=-INF, high=INF)
    assert (found.mean, found.low, found.high) == (0.0, None, None)
    assert found.notes == ("an end is beyond the largest float",)
    within = mean_interval(np.array([1.7e308, 1.6e308]), low=0, high=INF)
    assert within.mean == pytest.approx(1.65e308)
    assert within.high is None
    assert within.low == pytest.approx(1.65e308 - t_quantile(0.975, 1) * 0.05e308, rel=1e-9)


def test_a_range_of_all_floats_is_no_range_to_guard_with() -> None:
    found = mean_interval(np.array([1.0, 2.0, 4.0]), low=-1.7e308, high=1.7e308)
    assert found.interval == "t"


def test_tiny_scores_in_a_range_are_zeros() -> None:
    found = mean_interval(np.array([1e-300, 2e-300]), low=0, high=1)
    assert found.interval == "t, guarded"
    assert found.high == 1.0


@pytest.mark.parametrize(("bad", "words"), [(math.nan, "NaN or infinite"), (INF, "NaN or infinite"), (1.5, r"score 1\.5 of row 1 is outside the range 0 … 1")])
def test_what_is_no_score_is_refused(bad: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        mean_interval(np.array([0.5, bad]), low=0, high=1)


def test_a_score_over_the_end_by_rounding_is_kept() -> None:
    found = mean_interval(np.array([1.0000000000000002, 0.5]), low=0, high=1)
    assert found.mean == pytest.approx(0.75)


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the range 1 … 0 is empty"):
        mean_interval(np.array([0.5]), low=1, high=0)


def test_t_interval_is_clipped() -> None:
    assert t_interval(0.9, 0.1, 30, 0.0, 1.0) == pytest.approx((0.9 - 2.04227 * 0.1, 1.0), abs=1e-5)
