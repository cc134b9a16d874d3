from __future__ import annotations

import re
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.record import ExpectedToolCall, ToolCall
from measurand.formula.matching import fits
from measurand.formula.sequence import Common, Loop, Recovery, blocks, common_blocks, efficiency, is_any_order, is_exact, is_in_order, loop, recovery, repeated

from .calls import CALLS, EXPECTED, STRANGER, called, wanted  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.mark.parametrize(
    ("expected", "calls", "exact", "in_order", "any_order"),
    [
        ("", "", True, True, True),
        ("", "a", False, False, False),
        ("a", "", False, False, False),
        ("abc", "abc", True, True, True),
        ("abc", "axbxc", False, True, True),
        ("abc", "cba", False, False, True),
        ("aab", "ab", False, False, False),
        ("[ab]c", "bac", True, True, True),
        ("[ab]c", "bxac", False, True, True),
        ("[ab]c", "bca", False, False, True),
        ("[ab][cd]", "badc", True, True, True),
        ("[ab][cd]", "acbd", False, False, True),
        ("ab?c", "ac", True, True, True),
        ("ab?c", "abc", True, True, True),
        ("ab?c", "bac", False, True, True),
        ("a?", "", True, True, True),
        ("a?", "b", False, True, True),
        ("[ab?]c", "bac", True, True, True),
        ("[ab?]c", "ac", True, True, True),
        ("[ab?]c", "bc", False, False, False),
        ("[ab?c?]", "ca", True, True, True),
        ("a?a", "a", True, True, True),
        ("aa?a", "aaa", True, True, True),
        ("aa?a", "aaaa", False, True, True),
    ],
)
def test_the_three_orders(expected: str, calls: str, exact: bool, in_order: bool, any_order: bool) -> None:
    assert is_exact(wanted(expected), called(calls)) is exact
    assert is_in_order(wanted(expected), called(calls)) is in_order
    assert is_any_order(wanted(expected), called(calls)) is any_order


def test_members_of_a_group_stand_where_the_first_of_them_does() -> None:
    parted = [ExpectedToolCall("a", group="g"), ExpectedToolCall("b"), ExpectedToolCall("c", group="g")]
    assert [[one.name for one in block] for block in blocks(parted)] == [["a", "c"], ["b"]]
    assert is_exact(parted, called("cab"))
    assert not is_exact(parted, called("abc"))


def _by_trying_all(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> bool:
    """Whether some order within the groups and some choice of optional calls is what was called."""
    for order in product(*(list(permutations(block)) for block in blocks(expected))):
        steps = [one for block in order for one in block]
        for made in product(*([True, False] if one.optional else [True] for one in steps)):
            kept = [one for one, is_made in zip(steps, made, strict=True) if is_made]
            if len(kept) == len(calls) and all(fits(one, call) for one, call in zip(kept, calls, strict=True)):
                return True
    return False


def _some_part(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> bool:
    required = [one for block in blocks(expected) for one in block if not one.optional]
    return any(
        _by_trying_all(required, [call for call, kept in zip(calls, choice, strict=True) if kept])
        for choice in product([True, False], repeat=len(calls))
        if sum(choice) == len(required)
    )


@given(EXPECTED, CALLS)
def test_exact_agrees_with_trying_all_orders(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    assert is_exact(expected, calls) is _by_trying_all(expected, calls)


@given(EXPECTED, CALLS)
def test_in_order_agrees_with_trying_all_parts(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    assert is_in_order(expected, calls) is (_some_part(expected, calls) if expected else not calls)


@given(EXPECTED)
def test_doing_what_was_expected_is_exact(expected: list[ExpectedToolCall]) -> None:
    calls = [ToolCall(one.name, one.arguments) for block in blocks(expected) for one in reversed(block)]
    assert is_exact(expected, calls)


@given(EXPECTED, CALLS)
def test_exact_implies_in_order_implies_any_order(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    exact, in_order, any_order = is_exact(expected, calls), is_in_order(expected, calls), is_any_order(expected, calls)
    assert exact <= in_order <= any_order


@given(EXPECTED, CALLS)
def test_a_call_nobody_expects_never_raises_a_score(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    for place in range(len(calls) + 1):
        longer = [*calls[:place], STRANGER, *calls[place:]]
        assert is_exact(expected, longer) <= is_exact(expected, calls)
        assert is_in_order(expected, longer) <= is_in_order(expected, calls)
        assert is_any_order(expected, longer) <= is_any_order(expected, calls)
        before, after = efficiency(expected, calls), efficiency(expected, longer)
        assert after is not None
        assert before is None or after <= before


@given(EXPECTED, CALLS)
def test_efficiency_is_a_share(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    value = efficiency(expected, calls)
    assert (value is None) is (not calls and all(one.optional for one in expected))
    assert value is None or 0 <= value <= 1


@pytest.mark.parametrize(
    ("expected", "calls", "value"),
    [
        ("abc", "abc", 1.0),
        ("abc", "c", 1.0),
        ("ab", "axxxb", 0.4),
        ("ab", "xy", 0.0),
        ("ab", "", 0.0),
        ("", "a", 0.0),
        ("", "", None),
        ("a?b", "b", 1.0),
        ("a?b", "xb", 0.5),
        ("a?b", "ab", 1.0),
        ("a?b", "aab", 2 / 3),
        ("a?", "a", 1.0),
        ("a?", "x", 0.0),
        ("a?", "", None),
    ],
)
def test_efficiency(expected: str, calls: str, value: float | None) -> None:
    assert efficiency(wanted(expected), called(calls)) == value


def test_repeats_are_equal_as_json() -> None:
    calls = [ToolCall("f", {"a": 1, "b": 2}), ToolCall("f", {"b": 2.0, "a": 1.0}), ToolCall("f", {"a": True, "b": 2}), ToolCall("f"), ToolCall("f", {})]
    assert repeated(calls) == 2
    assert repeated([]) == 0
    assert repeated([ToolCall("f", "text"), ToolCall("f", "text"), ToolCall("g", "text")]) == 1


def test_a_long_trajectory_is_no_trouble() -> None:
    calls = called("ab" * 1000)
    assert is_exact(wanted("ab" * 1000), calls)
    assert is_in_order(wanted("ab" * 900), calls)
    assert not is_in_order(wanted("ab" * 1001), calls)


# ---------------------------------------------------------------- order, partly right


@pytest.mark.parametrize(
    ("expected", "calls", "found", "of", "left_out"),
    [
        ("abc", "abc", 3, 3, ""),
        ("abc", "cba", 1, 3, "ab"),
        ("sqs", "ssq", 2, 3, "q"),
        ("abc", "bxc", 2, 3, "a"),
        ("aa", "a", 1, 2, "a"),
        ("[ab]c", "bac", 2, 2, ""),
        ("[ab]c", "bc", 1, 2, "ab"),
        ("[ab]cd", "cdab", 2, 3, "ab"),
        ("a?b", "b", 1, 1, ""),
        ("a?", "x", 0, 0, ""),
        ("[a?b]c", "cb", 1, 2, "b"),
        ("", "a", 0, 0, ""),
        ("abcab", "bcaab", 4, 5, "a"),
    ],
)
def test_the_longest_common_subsequence(expected: str, calls: str, found: int, of: int, left_out: str) -> None:
    assert common_blocks(wanted(expected), called(calls)) == Common(found, of, tuple(left_out))


@given(EXPECTED, CALLS)
def test_it_is_the_longest_of_all_choices_of_blocks(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    parts = [required for block in blocks(expected) if (required := [one for one in block if not one.optional])]
    longest = max(
        sum(choice)
        for choice in product([0, 1], repeat=len(parts))
        if not sum(choice) or is_in_order([one for part, taken in zip(parts, choice, strict=True) if taken for one in part], calls)
    )
    assert common_blocks(expected, calls)[:2] == (longest, len(parts))


@given(EXPECTED, CALLS)
def test_all_blocks_are_found_exactly_where_the_calls_are_in_order(expected: list[ExpectedToolCall], calls: list[ToolCall]) -> None:
    common = common_blocks(expected, calls)
    if expected:
        assert (common.found == common.wanted) is is_in_order(expected, calls)
    longer = common_blocks(expected, [STRANGER, *calls, STRANGER])
    assert longer == common


# ---------------------------------------------------------------- repetition, failure


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        ("", None),
        ("aa", None),
        ("aaa", Loop(("a",), 0, 3)),
        ("xaaaay", Loop(("a",), 1, 4)),
        ("ababa", None),
        ("ababab", Loop(("a", "b"), 0, 3)),
        ("xabababay", Loop(("a", "b"), 1, 3)),
        ("abcabcabc", Loop(("a", "b", "c"), 0, 3)),
        ("aabaabaab", Loop(("a", "a", "b"), 0, 3)),
        ("abcdabcdabcd", None),
        ("abaca", None),
        ("abababccc", Loop(("c",), 6, 3)),
    ],
)
def test_loops(calls: str, found: Loop | None) -> None:
    assert loop(called(calls)) == found


@given(st.text("ab", max_size=12))
def test_a_loop_is_there_exactly_where_a_pattern_finds_one(calls: str) -> None:
    assert (loop(called(calls)) is not None) is (re.search(r"(.{1,3})\1\1", calls) is not None)


def test_a_loop_has_equal_arguments() -> None:
    assert loop([ToolCall("f", {"n": n}) for n in (1, 2, 3)]) is None
    assert loop([ToolCall("f", {"n": n}) for n in (1, 1.0, True)]) is None
    assert loop([ToolCall("f", {"n": 1}), ToolCall("f", {"n": 1.0}), ToolCall("f", {"n": 1})]) == Loop(("f",), 0, 3)
    assert loop([ToolCall("f"), ToolCall("f", {}), ToolCall("f", None)]) == Loop(("f",), 0, 3)


@pytest.mark.parametrize(
    ("calls", "window", "found"),
    [
        ("A a", 2, Recovery(1, 1)),
        ("A x a", 2, Recovery(1, 1)),
        ("A x y a", 2, Recovery(0, 1)),
        ("A x y a", 3, Recovery(1, 1)),
        ("A A a B", 2, Recovery(2, 3)),
        ("a A", 2, Recovery(0, 1)),
        ("A b", 2, Recovery(0, 1)),
        ("a b", 2, Recovery(0, 0)),
        ("", 2, Recovery(0, 0)),
    ],
)
def test_recovery(calls: str, window: int, found: Recovery) -> None:
    """Capitals are calls that failed."""
    made = [ToolCall(name.lower(), error="x" if name.isupper() else None) for name in calls.split()]
    assert recovery(made, window) == found
