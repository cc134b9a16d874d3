from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.record import Context
from measurand.formula.passages import comparable, judge, redundant

REFUND = "Refunds take five days"


def _text(text: str) -> Context:
    return Context(text=text)


def _id(name: str, score: float | None = None) -> Context:
    return Context(id=name, score=score)


@pytest.mark.parametrize(
    ("found", "reference", "same"),
    [
        (_id("d1"), _id("d1"), True),
        (_id("d1"), _id("D1"), False),
        (_id("doc"), _id("doc_2"), False),
        (Context(REFUND, "a"), Context(REFUND, "b"), False),
        (Context(REFUND, "a"), _text(REFUND), True),
        (_text(REFUND), Context(REFUND, "b"), True),
        (Context("other", "d1"), _text("d1"), True),
        (_text("d1"), Context(REFUND, "d1"), True),
        (_text("d-11"), _text("d1-1"), False),
        (_text("Paris"), _text("paris"), False),
        (Context("Paris", "a"), _text("Paris"), True),
        (_text("  REFUNDS take\nfive days "), _text(REFUND), True),
        (_text("Stra\u00dfe und Zug"), _text("STRASSE und Zug"), True),
        (_text("fa\u0308hrt um acht"), _text("f\u00e4hrt um acht"), True),
        (_text("Refunds take five working days"), _text(REFUND), True),
        (_text("Refunds take a month"), _text(REFUND), False),
        (_text("東京は日本の首都です。"), _text("東京は日本の首都です"), True),
        (_text("東京"), _text("京都"), False),
        (_text(""), _text(REFUND), False),
        (_id("d1"), _text(REFUND), False),
    ],
)
def test_same_passage(found: Context, reference: Context, same: bool) -> None:
    assert judge([found], [reference], 0.8).relevant == [same]


def test_overlap_is_token_f1_against_a_threshold() -> None:
    # 4 tokens shared, 5 and 4 given: F1 = 8/9
    pair = [_text("Refunds take five working days")], [_text(REFUND)]
    assert judge(*pair, 8 / 9).relevant == [True]
    assert judge(*pair, 0.9).relevant == [False]


def test_no_shared_token_is_no_overlap_whatever_the_threshold() -> None:
    assert judge([_text("shipping is free")], [_text(REFUND)], 0.0).relevant == [False]


def test_a_repeated_passage_counts_once_at_its_first_rank() -> None:
    ranked = judge([_id("x"), _id("d1"), _id("x"), _id("d1")], [_id("d1"), _id("d2")], 0.8)
    assert ranked.relevant == [False, True, False, False]
    assert ranked.copies == {2, 3}


def test_two_passages_like_one_reference_find_it_once() -> None:
    ranked = judge([_text("Refunds take five working days"), _text(REFUND)], [_text(REFUND)], 0.8)
    assert ranked.relevant == [True, False]
    assert ranked.copies == {1}


def test_of_two_references_alike_the_free_one_is_found() -> None:
    references = [Context(REFUND, "a"), Context(REFUND, "b")]
    assert judge([_text(REFUND), _id("a")], references, 0.8).copies == {1}
    assert judge([_id("a"), _text(REFUND)], references, 0.8).relevant == [True, True]


def test_grades_and_repeated_references() -> None:
    ranked = judge([_id("a"), _id("b"), _id("c")], [_id("a", 1), _id("a", 3), _id("b", 0), _id("d")], 0.8)
    assert ranked.grades == (3.0, 0.0, None)
    assert ranked.ideal == (3.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("found", "references", "can"),
    [
        ([_id("a")], [_id("b")], True),
        ([_text(REFUND)], [_text("x y")], True),
        ([_text(REFUND)], [_id("b")], False),
        ([_id("b")], [_text(REFUND)], False),
        ([_text("b")], [_id("b")], True),
        ([_text(REFUND), _id("b")], [_id("b")], True),
        ([], [_id("b")], True),
    ],
)
def test_ids_against_texts_cannot_be_compared(found: list[Context], references: list[Context], can: bool) -> None:
    assert comparable(found, references) is can


def test_redundant_passages() -> None:
    assert redundant([_text(REFUND), _text("refunds TAKE five days!"), _text("Shipping is free")], 0.8) == 1
    assert redundant([_text("w x y z"), _text("v w x y z")], 0.8) == 1  # 4 of 5 shared
    assert redundant([_text("w x y z"), _text("v w x y z")], 0.81) == 0
    assert redundant([_id("x"), _id("x"), _id("y")], 0.8) == 1
    assert redundant([_text(""), _text("")], 0.8) == 1
    assert redundant([], 0.8) == 0


PASSAGES = st.lists(
    st.builds(Context, st.sampled_from([None, REFUND, "Refunds take five working days", "d1", "Shipping is free"]), st.sampled_from(["d1", "d2", "d3"])),
    max_size=6,
)


@given(PASSAGES, PASSAGES)
def test_every_reference_is_credited_at_most_once(found: list[Context], references: list[Context]) -> None:
    ranked = judge(found, references, 0.8)
    assert len(ranked.grades) == len(found)
    assert sum(ranked.relevant) <= ranked.total <= len(references)


@given(PASSAGES, PASSAGES)
def test_retrieving_everything_twice_changes_only_the_second_half(found: list[Context], references: list[Context]) -> None:
    once, twice = judge(found, references, 0.8), judge([*found, *found], references, 0.8)
    assert twice.relevant[: len(found)] == once.relevant
    assert not any(twice.relevant[len(found) :])


NAMES = st.sampled_from(["a", "b", "c", "d"])
LISTS = st.tuples(st.lists(NAMES, max_size=8), st.lists(st.tuples(NAMES, st.none() | st.sampled_from([-1.0, 0.0, 1.0, 3.0])), max_size=6))


@given(LISTS)
def test_a_bare_text_does_as_an_id_does(lists: tuple[list[str], list[tuple[str, float | None]]]) -> None:
    """Lists of ids take a quick way of their own; texts that are ids take the general one."""
    names, graded = lists
    by_id = judge([_id(name) for name in names], [_id(name, grade) for name, grade in graded], 0.8)
    by_text = judge([_text(name) for name in names], [Context(name, score=grade) for name, grade in graded], 0.8)
    assert by_id == by_text


@given(LISTS)
def test_among_ids_copies_are_the_ranks_that_repeat_an_earlier_one(lists: tuple[list[str], list[tuple[str, float | None]]]) -> None:
    names, graded = lists
    ranked = judge([_id(name) for name in names], [_id(name, grade) for name, grade in graded], 0.8)
    assert ranked.copies == {rank for rank, name in enumerate(names) if name in names[:rank]}
    assert sum(ranked.relevant) <= ranked.total
