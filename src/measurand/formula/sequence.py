"""Comparing the order of calls with an expected order, and looking for repetition in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from measurand.formula.arguments import Mode, json_key
from measurand.formula.matching import Pairing, fits, paired

if TYPE_CHECKING:
    from measurand.core.record import ExpectedToolCall, ToolCall


def blocks(expected: Sequence[ExpectedToolCall]) -> list[list[ExpectedToolCall]]:
    """The expected calls in order, members of one group together where the first of them stands; a call without a group is a block of its own."""
    found: list[list[ExpectedToolCall]] = []
    of_group: dict[str, list[ExpectedToolCall]] = {}
    for one in expected:
        if one.group is None:
            found.append([one])
        elif one.group in of_group:
            of_group[one.group].append(one)
        else:
            of_group[one.group] = [one]
            found.append(of_group[one.group])
    return found


def is_exact(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode = "given") -> bool:
    """Whether the calls are the expected ones and no others, block after block; optional ones may be absent."""
    ends = {0}
    for block in blocks(expected):
        fewest = sum(not one.optional for one in block)
        ends = {
            start + length
            for start in ends
            for length in range(fewest, len(block) + 1)
            if start + length <= len(calls) and _fills(block, calls[start : start + length], mode)
        }
        if not ends:
            return False
    return len(calls) in ends


def _fills(block: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode) -> bool:
    # Where one pairing covers all calls and another all required members, a third covers both (Mendelsohn & Dulmage 1958).
    required = [one for one in block if not one.optional]
    return paired(block, calls, mode) == len(calls) and (len(required) == len(block) or paired(required, calls, mode) == len(required))


def is_in_order(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode = "given") -> bool:
    """Whether the calls contain every required one, block after block, with anything in between. No call expected: whether none was made."""
    if not expected:
        return not calls
    rest = iter(calls)
    return all(_completed([one for one in block if not one.optional], rest, mode) for block in blocks(expected))


def is_any_order(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode = "given") -> bool:
    """Whether the calls contain every required one, in any order, one to one. No call expected: whether none was made."""
    if not expected:
        return not calls
    return _completed([one for one in expected if not one.optional], iter(calls), mode)


def _completed(required: Sequence[ExpectedToolCall], rest: Iterator[ToolCall], mode: Mode) -> bool:
    pairing = Pairing(required, mode)
    while not pairing.complete:
        call = next(rest, None)
        if call is None:
            return False
        pairing.add(call)
    return True


def repeated(calls: Sequence[ToolCall]) -> int:
    """How many calls have the name and the arguments (equal as JSON, absent = `{}`) of an earlier call."""
    seen: set[Hashable] = set()
    for call in calls:
        seen.add((call.name, json_key({} if call.arguments is None else call.arguments)))
    return len(calls) - len(seen)


def efficiency(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode = "given") -> float | None:
    """min(1, expected calls / calls), 0 when no call is one of the expected ones; None when there are neither."""
    if not expected and not calls:
        return None
    if not any(fits(one, call, mode) for call in calls for one in expected):
        return 0.0
    return min(1.0, len(expected) / len(calls))
