"""Comparing the order of calls with an expected order, and looking for repetition in it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from measurand.core.effort import still_time
from measurand.formula.arguments import Mode, json_key
from measurand.formula.matching import Pairing, fits, paired, step_agreement

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
        seen.add(_key(call))
    return len(calls) - len(seen)


def efficiency(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode = "given") -> float | None:
    """min(1, needed calls / calls), 0 when no call is one of the expected ones; None when nothing was needed and nothing called.

    Needed are the required calls, and the optional ones that were made: an optional call that was made is no step too many, one that was not is no credit.
    """
    overlap = step_agreement(expected, calls, mode).overlap
    fitting = overlap.shared + len(calls) - overlap.given
    needed = overlap.wanted + len(calls) - overlap.given
    if not needed and not calls:
        return None
    return min(1.0, needed / len(calls)) if fitting else 0.0


# ---------------------------------------------------------------- order, partly right


class Common(NamedTuple):
    """How many blocks of expected calls were made in order, of how many, and the names of the required calls of those that were not."""

    found: int
    wanted: int
    left_out: tuple[str, ...]


def common_blocks(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode = "given") -> Common:
    """The longest common subsequence of the expected blocks and the calls. A block is found where all its required members are, in any order.

    Blocks without a required member are not counted. Where several subsequences are the longest, the one that ends first is taken.
    """
    wanted = [required for block in blocks(expected) if (required := [one for one in block if not one.optional])]
    finders = [_Finder(block, calls, mode) for block in wanted]
    ends: list[int] = [0]  # ends[n]: how few calls it takes to find n of the blocks looked at so far
    chains: list[_Chain] = [None]  # and which blocks these are, last first
    for place, finder in enumerate(finders):
        still_time()
        for found in range(len(ends) - 1, -1, -1):
            end = finder.end(ends[found])
            if end is None:
                continue
            if found + 1 == len(ends):
                ends.append(end)
                chains.append((place, chains[found]))
            elif end < ends[found + 1]:
                ends[found + 1], chains[found + 1] = end, (place, chains[found])
    taken = set(_places(chains[-1]))
    left_out = tuple(one.name for place, block in enumerate(wanted) if place not in taken for one in block)
    return Common(len(taken), len(wanted), left_out)


_Chain: TypeAlias = "tuple[int, _Chain] | None"


def _places(chain: _Chain) -> Iterator[int]:
    while chain is not None:
        place, chain = chain
        yield place


class _Finder:
    """Where a block ends, when it is looked for from some call on."""

    def __init__(self, block: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode) -> None:
        self._block = block
        self._calls = calls
        self._mode = mode
        self._ends: dict[int, int | None] = {}
        self._fitting = [place for place, call in enumerate(calls) if fits(block[0], call, mode)] if len(block) == 1 else []

    def end(self, start: int) -> int | None:
        """How many calls there are up to the end of the block, looked for from `start`; None when it is not there."""
        if len(self._block) == 1:
            at = bisect_left(self._fitting, start)
            return self._fitting[at] + 1 if at < len(self._fitting) else None
        if start not in self._ends:
            self._ends[start] = self._grown(start)
        return self._ends[start]

    def _grown(self, start: int) -> int | None:
        pairing = Pairing(self._block, self._mode)
        for place in range(start, len(self._calls)):
            if pairing.add(self._calls[place]) and pairing.complete:
                return place + 1
        return None


# ---------------------------------------------------------------- repetition, failure


LONGEST_LOOP: Final = 3
"""Calls of the longest block that is looked for."""
LOOP: Final = 3
"""How often a block occurs back to back, to be a loop."""


class Loop(NamedTuple):
    """A block of calls that occurs `times` times back to back, from the call at `start` on."""

    names: tuple[str, ...]
    start: int
    times: int


def loop(calls: Sequence[ToolCall]) -> Loop | None:
    """The first of the shortest blocks of 1 to 3 calls that occur 3 times or more back to back, equal in names and arguments; None without one."""
    keys = [_key(call) for call in calls]
    for length in range(1, LONGEST_LOOP + 1):
        equal = 0  # calls in a row that equal the one a block before
        for place in range(length, len(keys) + 1):
            if place < len(keys) and keys[place] == keys[place - length]:
                equal += 1
            elif equal >= length * (LOOP - 1):
                start = place - equal - length
                return Loop(tuple(call.name for call in calls[start : start + length]), start, equal // length + 1)
            else:
                equal = 0
    return None


class Recovery(NamedTuple):
    """How many calls failed, and how many of them were made good."""

    recovered: int
    failed: int


def recovery(calls: Sequence[ToolCall], window: int) -> Recovery:
    """Failed calls, and those of them that one of the next `window` calls makes good: a call of the same tool that does not fail."""
    failed = [place for place, call in enumerate(calls) if call.error is not None]
    good = sum(any(after.error is None and after.name == calls[place].name for after in calls[place + 1 : place + 1 + window]) for place in failed)
    return Recovery(good, len(failed))


def _key(call: ToolCall) -> Hashable:
    return (call.name, json_key({} if call.arguments is None else call.arguments))
