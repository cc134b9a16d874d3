from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.record import ExpectedToolCall, ToolCall
from measurand.formula.arguments import stated, wrong_arguments
from measurand.formula.credit import CallCredit, Credit, argument_credit, call_accuracy

from .calls import CALLS, EXPECTED, STRANGER  # noqa: TID252  # tests are imported by path, there is no package to name

PLAIN = st.lists(st.builds(ExpectedToolCall, st.sampled_from("ab"), st.none() | st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1))), max_size=4)
MADE = st.lists(st.builds(ToolCall, st.sampled_from("ab"), st.none() | st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1))), max_size=4)


def _by_trying_all(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> float | None:
    """Arguments right / expected in the best of all ways to give each expected call a call of its name, or none."""
    wanted = [one for one in expected if one.arguments is not None]
    total = sum(len(one.arguments or {}) or 1 for one in wanted)
    if not total:
        return None

    def right(one: ExpectedToolCall, call: ToolCall | None) -> int:
        if call is None or call.name != one.name:
            return 0
        made = call.arguments or {}
        return sum(made.get(name) == value for name, value in one.arguments.items()) if one.arguments else int(not made)

    places: list[ToolCall | None] = [*calls, *[None] * len(wanted)]
    return max(sum(map(right, wanted, order)) for order in permutations(places, len(wanted))) / total


@given(PLAIN, MADE)
def test_the_assignment_is_the_best_there_is(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    found = argument_credit(expected, calls).share
    assert found == (None if (value := _by_trying_all(expected, calls)) is None else pytest.approx(value))


@given(EXPECTED, CALLS, st.randoms())
def test_the_order_of_neither_list_matters(expected: list[ExpectedToolCall], calls: list[ToolCall], random: Any) -> None:
    mixed_expected, mixed_calls = random.sample(expected, len(expected)), random.sample(calls, len(calls))
    assert argument_credit(expected, calls).share == argument_credit(mixed_expected, mixed_calls).share
    assert call_accuracy(expected, calls, strict_order=False) == call_accuracy(mixed_expected, mixed_calls, strict_order=False)


@given(EXPECTED, CALLS)
def test_scores_are_shares_and_what_is_told_adds_up(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    credit = argument_credit(expected, calls)
    assert credit.share is None or 0 <= credit.share <= 1
    assert (credit.share is None) == (not credit.calls) == (credit.stated == 0)
    assert (credit.share == 1) == (bool(credit.calls) and not any(one.wrong for one in credit.calls))
    given_ = [one.call for one in credit.calls if one.call is not None]
    assert len(set(given_)) == len(given_)
    for strict in (True, False):
        assert 0 <= call_accuracy(expected, calls, strict) <= 1
    assert call_accuracy(expected, calls, strict_order=True) <= call_accuracy(expected, calls, strict_order=False)


@given(EXPECTED, CALLS)
def test_a_call_nobody_expects_never_raises_a_score(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    for place in range(len(calls) + 1):
        longer = [*calls[:place], STRANGER, *calls[place:]]
        assert argument_credit(expected, longer).share == argument_credit(expected, calls).share
        for strict in (True, False):
            assert call_accuracy(expected, longer, strict) <= call_accuracy(expected, calls, strict)


def test_of_two_ways_that_are_equally_good_the_one_with_a_call_wholly_right_is_told() -> None:
    expected = [ExpectedToolCall("f", {"a": 1, "b": 1}), ExpectedToolCall("f", {"a": 2, "b": 2})]
    calls = [ToolCall("f", {"a": 1, "b": 2}), ToolCall("f", {"a": 1, "b": 1})]
    # 1-1 and 2-2: 1 + 0; 1-2 and 2-1: 2 + 1
    assert argument_credit(expected, calls) == Credit(0.75, 4, (CallCredit("f", 1, ()), CallCredit("f", 0, ("a",))))


def test_a_call_of_the_name_is_told_even_where_nothing_of_it_is_right() -> None:
    credit = argument_credit([ExpectedToolCall("f", {"a": 1}), ExpectedToolCall("g", {"a": 1})], [ToolCall("f", {"a": 2})])
    assert credit.calls == (CallCredit("f", 0, ("a",)), CallCredit("g", None, ("a",)))


def test_alternatives() -> None:
    pay = ExpectedToolCall(
        "pay",
        {"to": "A", "by": "card"},
        alternatives=(ExpectedToolCall("transfer", {"to": "A", "iban": "x", "at": 1}), ExpectedToolCall("cash", alternatives=(ExpectedToolCall("cheque"),))),
    )
    assert argument_credit([pay], [ToolCall("transfer", {"to": "A", "iban": "y", "at": 1})]) == Credit(2 / 3, 2, (CallCredit("pay", 0, ("iban",)),))
    assert argument_credit([pay], [ToolCall("cash", "whatever")]).share == 1  # an alternative that states nothing is wholly right
    assert argument_credit([pay], [ToolCall("cheque")]).share == 1
    assert argument_credit([pay], [ToolCall("other")]).share == 0


@pytest.mark.parametrize(
    ("wanted", "match", "names"),
    [
        (None, {}, ()),
        ({}, {}, ("(no argument)",)),
        ({"a": 1, "b": 2}, {"b": "ignore"}, ("a",)),
        ({"a": 1}, {"a": "ignore"}, ()),
        ({}, {"a": {"one_of": [1]}}, ("a",)),
        (None, {"a": {"one_of": [1]}, "b": "ignore"}, ("a",)),
    ],
)
def test_what_an_expected_call_states(wanted: Any, match: Any, names: tuple[str, ...]) -> None:
    assert stated(wanted, match) == names


def test_wrong_arguments() -> None:
    wanted, match = {"a": 1, "b": "x", "c": "y"}, {"b": "casefold", "d": {"one_of": [1, None]}}
    assert wrong_arguments(wanted, match, {"a": 1.0, "b": "X", "c": "y"}) == ()
    assert wrong_arguments(wanted, match, {"a": True, "b": "X", "d": 2}) == ("a", "c", "d")
    assert wrong_arguments(wanted, match, "no json") == ("a", "b", "c", "d")
    assert wrong_arguments(wanted, match, None) == ("a", "b", "c")
    assert wrong_arguments({}, {}, []) == ("(no argument)",)
    assert wrong_arguments({"(no argument)": 1}, {}, {"(no argument)": 1}) == ()
