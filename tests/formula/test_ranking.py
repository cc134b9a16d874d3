from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.ranking import Ranked, average_precision, ndcg, precision, r_precision, recall, reciprocal_rank, unjudged

# Ranks: relevant, unjudged, a copy of the first, judged and not relevant, relevant. R = 3: one relevant passage was never found.
MIXED = Ranked((1.0, None, 1.0, 0.0, 2.0), frozenset({2}), (1.0, 0.0, 2.0, 1.0))


def test_a_copy_keeps_its_rank_and_is_not_relevant() -> None:
    assert MIXED.relevant == [True, False, False, False, True]
    assert MIXED.total == 3


@pytest.mark.parametrize(("k", "value"), [(None, 2 / 4), (1, 1.0), (2, 1 / 2), (5, 2 / 5), (10, 2 / 10)])
def test_precision(k: int | None, value: float) -> None:
    assert precision(MIXED, k) == value


@pytest.mark.parametrize(("k", "value"), [(None, 2 / 3), (1, 1 / 3), (5, 2 / 3)])
def test_recall(k: int | None, value: float) -> None:
    assert recall(MIXED, k) == value


def test_r_precision_looks_at_the_first_r() -> None:
    assert r_precision(MIXED) == 1 / 3


@pytest.mark.parametrize(("k", "value"), [(None, (1 + 2 / 5) / 3), (4, 1 / 3), (5, (1 + 2 / 5) / 3)])
def test_average_precision_divides_by_all_relevant(k: int | None, value: float) -> None:
    assert average_precision(MIXED, k) == pytest.approx(value)


@pytest.mark.parametrize(("relevance", "value"), [([0, 1], 0.5), ([1, 0], 1.0), ([1, 0, 1], 0.8333333333333333)])
def test_average_precision_sees_the_rank(relevance: list[float], value: float) -> None:
    assert average_precision(Ranked(tuple(relevance), frozenset(), tuple(relevance))) == pytest.approx(value)


def test_reciprocal_rank() -> None:
    late = Ranked((None, None, 1.0), frozenset(), (1.0,))
    assert reciprocal_rank(late) == 1 / 3
    assert reciprocal_rank(late, 2) == 0.0
    assert reciprocal_rank(late, 3) == 1 / 3


def test_ndcg_by_hand() -> None:
    # gains 1, 0, 0, 0, 2 against the ideal 2, 1, 1, 0
    assert ndcg(MIXED) == pytest.approx((1 + 2 / log2(6)) / (2 + 1 / log2(3) + 1 / 2))
    assert ndcg(MIXED, 1) == 1 / 2
    assert ndcg(MIXED, gains="exp") == pytest.approx((1 + 3 / log2(6)) / (3 + 1 / log2(3) + 1 / 2))


def test_grades_below_zero_gain_nothing_and_are_not_relevant() -> None:
    ranked = Ranked((-1.0, 1.0), frozenset(), (-1.0, 1.0))
    assert ranked.relevant == [False, True]
    assert ndcg(ranked) == pytest.approx(1 / log2(3))


def test_a_grade_too_large_for_exponential_gains_is_told() -> None:
    with pytest.raises(OverflowError, match="2\\^5000 is too large"):
        ndcg(Ranked((5000.0,), frozenset(), (5000.0,)), gains="exp")


def test_unjudged_counts_distinct_passages() -> None:
    assert unjudged(MIXED) == 1 / 4
    assert unjudged(MIXED, 2) == 1 / 2
    assert unjudged(Ranked((), frozenset(), (1.0,))) == 0.0


def test_without_a_relevant_passage_what_divides_by_r_is_undefined() -> None:
    ranked = Ranked((0.0, None), frozenset(), (0.0, -1.0))
    assert recall(ranked) is None
    assert r_precision(ranked) is None
    assert average_precision(ranked) is None
    assert ndcg(ranked) is None
    assert reciprocal_rank(ranked) is None
    assert precision(ranked) == 0.0


def test_nothing_found() -> None:
    ranked = Ranked((), frozenset(), (1.0,))
    assert precision(ranked) == precision(ranked, 3) == recall(ranked) == average_precision(ranked) == ndcg(ranked) == reciprocal_rank(ranked) == 0.0


GRADES = st.lists(st.none() | st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=8)


def _ranked(found: list[float | None], never_found: list[float]) -> Ranked:
    return Ranked(tuple(found), frozenset(), (*(grade for grade in found if grade is not None), *never_found))


@given(GRADES, st.lists(st.sampled_from([0.0, 1.0, 3.0]), max_size=3), st.none() | st.integers(1, 9))
def test_every_measure_is_a_share(found: list[float | None], never_found: list[float], k: int | None) -> None:
    ranked = _ranked(found, never_found)
    measured = [m(ranked, k) for m in (precision, recall, average_precision, ndcg, reciprocal_rank, unjudged)]
    assert all(value is None or 0 <= value <= 1 + 1e-12 for value in [*measured, r_precision(ranked), ndcg(ranked, k, "exp")])


@given(GRADES.filter(any), st.permutations(range(8)))
def test_the_best_order_has_ndcg_1_and_no_other_more(found: list[float | None], order: list[int]) -> None:
    best = sorted(found, key=lambda grade: -(grade or 0))
    assert ndcg(_ranked(best, [])) == pytest.approx(1.0)
    mixed = [found[place] for place in order if place < len(found)]
    value = ndcg(_ranked(mixed, []))
    assert value is not None
    assert value <= 1 + 1e-12


@given(GRADES.filter(any), st.permutations(range(8)))
def test_measures_of_sets_do_not_see_the_order(found: list[float | None], order: list[int]) -> None:
    mixed = _ranked([found[place] for place in order if place < len(found)], [])
    ranked = _ranked(found, [])
    assert precision(mixed) == precision(ranked)
    assert recall(mixed) == recall(ranked)
    assert unjudged(mixed) == unjudged(ranked)


@given(GRADES, st.lists(st.just(1.0), max_size=2))
def test_an_irrelevant_passage_at_the_end_never_helps(found: list[float | None], never_found: list[float]) -> None:
    before, after = _ranked(found, never_found), _ranked([*found, None], never_found)
    for measure in (precision, recall, average_precision, ndcg, reciprocal_rank):
        one, other = measure(before), measure(after)
        assert (one is None) is (other is None)
        assert one is None or other is None or other <= one + 1e-12
