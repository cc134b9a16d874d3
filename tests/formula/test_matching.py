from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.record import ExpectedToolCall, ToolCall
from measurand.formula.matching import Agreement, call_agreement, fits, name_agreement, paired, step_agreement
from measurand.formula.overlap import Overlap, f1

from .calls import CALLS, EXPECTED, STRANGER, called, wanted  # noqa: TID252  # tests are imported by path, there is no package to name


def test_a_call_fits_its_name_its_arguments_or_an_alternative() -> None:
    refund = ExpectedToolCall("refund_order", {"id": 7}, alternatives=(ExpectedToolCall("refund"), ExpectedToolCall("credit", {"id": 7})))
    assert fits(refund, ToolCall("refund_order", {"id": 7}))
    assert not fits(refund, ToolCall("refund_order", {"id": 8}))
    assert fits(refund, ToolCall("refund_order", {"id": 8}), "ignore")
    assert fits(refund, ToolCall("refund", {"id": 8}))
    assert fits(refund, ToolCall("credit", {"id": 7.0}))
    assert not fits(refund, ToolCall("credit"))


def test_the_pairing_is_the_largest_whatever_comes_first() -> None:
    broad, narrow = ExpectedToolCall("pay", {"by": "card"}), ExpectedToolCall("pay", {"amount": 5})
    both, only_broad = ToolCall("pay", {"by": "card", "amount": 5}), ToolCall("pay", {"by": "card", "amount": 9})
    for expected in permutations([broad, narrow]):
        for calls in permutations([both, only_broad]):
            assert paired(expected, calls) == 2


@given(EXPECTED, CALLS)
def test_the_pairing_is_the_largest(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    def largest(rest: list[ExpectedToolCall], free: frozenset[int]) -> int:
        if not rest:
            return 0
        taken = [1 + largest(rest[1:], free - {index}) for index in free if fits(rest[0], calls[index])]
        return max([largest(rest[1:], free), *taken])

    assert paired(expected, calls) == largest(expected, frozenset(range(len(calls))))


@given(EXPECTED, CALLS, st.randoms())
def test_the_pairing_does_not_depend_on_order(expected: list[ExpectedToolCall], calls: list[ToolCall], random: st.DataObject) -> None:
    mixed_expected, mixed_calls = list(expected), list(calls)
    random.shuffle(mixed_expected)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    random.shuffle(mixed_calls)  # type: ignore[attr-defined]
    assert paired(expected, calls) == paired(mixed_expected, mixed_calls)


@pytest.mark.parametrize(
    ("expected", "calls", "overlap", "missing", "unexpected"),
    [
        ("ab", "ba", Overlap(2, 2, 2), "", ""),
        ("a", "aaa", Overlap(1, 3, 1), "", "aa"),
        ("aa", "a", Overlap(1, 1, 2), "a", ""),
        ("a?b", "ab", Overlap(1, 1, 1), "", ""),
        ("a?b", "aab", Overlap(1, 2, 1), "", "a"),
        ("a?", "", Overlap(0, 0, 0), "", ""),
        ("", "a", Overlap(0, 1, 0), "", "a"),
    ],
)
def test_names_as_multisets(expected: str, calls: str, overlap: Overlap, missing: str, unexpected: str) -> None:
    assert name_agreement(wanted(expected), called(calls)) == Agreement(overlap, tuple(missing), tuple(unexpected))


def test_calls_as_multisets_of_name_and_arguments() -> None:
    expected = [ExpectedToolCall("f", {"a": 1}), ExpectedToolCall("f"), ExpectedToolCall("g", {})]
    calls = [ToolCall("f", {"a": 1.0}), ToolCall("f", {}), ToolCall("g", "no json"), ToolCall("g", "no json")]
    agreement = call_agreement(expected, calls)
    assert agreement == Agreement(Overlap(2, 4, 3), ("g",), ("g", "g"))


@given(EXPECTED, CALLS)
def test_a_call_nobody_expects_never_raises_an_overlap(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    for agreement in (name_agreement, call_agreement):
        before, after = agreement(expected, calls).overlap, agreement(expected, [*calls, STRANGER]).overlap
        assert after.precision <= before.precision
        assert after.recall <= before.recall
        assert f1(after) <= f1(before)


@given(EXPECTED, CALLS)
def test_f1_lies_between_precision_and_recall(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    for agreement in (name_agreement, call_agreement):
        overlap = agreement(expected, calls).overlap
        low, high = sorted((overlap.precision, overlap.recall))
        assert 0 <= low <= f1(overlap) + 1e-12
        assert f1(overlap) <= high + 1e-12
        assert high <= 1


@given(EXPECTED, CALLS)
def test_calls_agree_at_most_as_far_as_their_names(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    assert call_agreement(expected, calls).overlap.shared <= name_agreement(expected, calls).overlap.shared


@pytest.mark.parametrize(
    ("expected", "calls", "overlap", "missing", "unexpected"),
    [
        ("ab", "ba", Overlap(2, 2, 2), "", ""),
        ("a", "aaa", Overlap(1, 3, 1), "", "aa"),
        ("a?b", "aab", Overlap(1, 2, 1), "", "a"),
        ("a?a", "aa", Overlap(1, 1, 1), "", ""),
        ("a?", "b", Overlap(0, 1, 0), "", "b"),
        ("abc", "xb", Overlap(1, 2, 3), "ac", "x"),
        ("", "", Overlap(0, 0, 0), "", ""),
    ],
)
def test_steps_are_paired(expected: str, calls: str, overlap: Overlap, missing: str, unexpected: str) -> None:
    assert step_agreement(wanted(expected), called(calls)) == Agreement(overlap, tuple(missing), tuple(unexpected))


@given(EXPECTED, CALLS)
def test_optional_calls_account_for_as_many_calls_as_they_can(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    """By trying every choice of calls for the optional ones that leaves the required ones as many as they can have."""
    required = [one for one in expected if not one.optional]
    most = paired(required, calls)
    accounted = max(
        paired([one for one in expected if one.optional], [call for index, call in enumerate(calls) if index in chosen])
        for size in range(len(calls) + 1)
        for chosen in map(frozenset, combinations(range(len(calls)), size))
        if paired(required, [call for index, call in enumerate(calls) if index not in chosen]) == most
    )
    assert step_agreement(expected, calls).overlap == Overlap(most, len(calls) - accounted, len(required))


@given(EXPECTED, CALLS, st.randoms())
def test_steps_agree_in_any_order(expected: list[ExpectedToolCall], calls: list[ToolCall], random: Any) -> None:
    mixed = random.sample(expected, len(expected)), random.sample(calls, len(calls))
    assert step_agreement(*mixed).overlap == step_agreement(expected, calls).overlap


@given(EXPECTED, CALLS)
def test_a_step_nobody_expects_never_raises_an_overlap(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    before, after = step_agreement(expected, calls).overlap, step_agreement(expected, [*calls, STRANGER]).overlap
    assert after.precision <= before.precision
    assert after.recall <= before.recall


def test_the_calls_that_are_named_are_as_many_as_are_counted() -> None:
    expected = [ExpectedToolCall("pay", {"by": "card"}), ExpectedToolCall("pay", {"amount": 5}), ExpectedToolCall("tip", optional=True)]
    calls = [ToolCall("pay", {"by": "card", "amount": 5}), ToolCall("pay", {"by": "cash"}), ToolCall("tip"), ToolCall("tip")]
    assert step_agreement(expected, calls) == Agreement(Overlap(1, 3, 2), ("pay",), ("pay", "tip"))
