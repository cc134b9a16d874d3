"""Which calls that were made are calls that were expected: names, arguments, alternatives, optional calls, one to one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from measurand.core.effort import still_time
from measurand.formula.arguments import Mode, arguments_fit, json_key
from measurand.formula.overlap import Overlap

if TYPE_CHECKING:
    from measurand.core.record import ExpectedToolCall, ToolCall


def fits(expected: ExpectedToolCall, call: ToolCall, mode: Mode = "given") -> bool:
    """Whether a call is the expected one, or one of its alternatives: same name, and arguments that fit (see `arguments_fit`)."""
    still_time()
    if expected.name == call.name and arguments_fit(expected.arguments, expected.match, call.arguments, mode):
        return True
    return any(fits(other, call, mode) for other in expected.alternatives)


class Pairing:
    """A largest one-to-one pairing of calls with expected calls, grown call by call (augmenting paths, Berge 1957)."""

    def __init__(self, expected: Sequence[ExpectedToolCall], mode: Mode = "given") -> None:
        self._expected = expected
        self._mode = mode
        self._edges: list[list[int]] = []
        self._expected_of: dict[int, int] = {}
        self._call_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._call_of)

    @property
    def complete(self) -> bool:
        """Whether every expected call has its call."""
        return len(self._call_of) == len(self._expected)

    @property
    def unpaired(self) -> list[ExpectedToolCall]:
        """The expected calls that have no call, in order."""
        return [one for index, one in enumerate(self._expected) if index not in self._call_of]

    def add(self, call: ToolCall) -> bool:
        """Adds a call; whether the pairing has grown by it. A call that has its expected call never loses having one."""
        still_time()
        start = len(self._edges)
        self._edges.append([index for index, one in enumerate(self._expected) if fits(one, call, self._mode)])
        reached_from: dict[int, int] = {}
        queue = [start]
        for left in queue:
            for right in self._edges[left]:
                if right in reached_from:
                    continue
                reached_from[right] = left
                if right not in self._call_of:
                    self._flip(right, reached_from, start)
                    return True
                queue.append(self._call_of[right])
        return False

    def _flip(self, right: int, reached_from: dict[int, int], start: int) -> None:
        while True:
            left = reached_from[right]
            before = self._expected_of.get(left, right)
            self._expected_of[left], self._call_of[right] = right, left
            if left == start:
                return
            right = before


def paired(expected: Sequence[ExpectedToolCall], calls: Iterable[ToolCall], mode: Mode = "given") -> int:
    """How many calls pair up with expected calls, one to one, at most."""
    pairing = Pairing(expected, mode)
    for call in calls:
        if pairing.complete:
            break
        pairing.add(call)
    return len(pairing)


class Agreement(NamedTuple):
    """What the calls made and the calls expected share, as multisets, and the names of what only one of them has."""

    overlap: Overlap
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]


Key = tuple[str, Hashable]


def name_agreement(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall]) -> Agreement:
    """Agreement of the names, as multisets. Optional expected calls are neither missed nor wrong."""
    return _agreement((((one.name, None), one.optional) for one in expected), [(call.name, None) for call in calls])


def call_agreement(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall]) -> Agreement:
    """Agreement of (name, arguments), as multisets: arguments equal as JSON, absent ones are `{}`. Optional expected calls are neither missed nor wrong."""
    wanted = (((one.name, json_key(one.arguments or {})), one.optional) for one in expected)
    return _agreement(wanted, [(call.name, json_key(call.arguments or {}) if has_readable_arguments(call) else object()) for call in calls])


def step_agreement(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], mode: Mode = "given") -> Agreement:
    """Agreement of calls with expected calls that they fit, by a largest pairing. Optional expected calls are neither missed nor wrong.

    A largest pairing with all expected calls can be chosen so that it holds a largest one with the required ones (Mendelsohn & Dulmage 1958): the rest of it
    are the calls that optional ones account for.
    """
    required = [one for one in expected if not one.optional]
    needed = Pairing(required, mode)
    unexpected = [call.name for call in calls if not needed.add(call)]
    if len(required) < len(expected):
        allowed = Pairing(expected, mode)
        unexpected = [call.name for call in calls if not allowed.add(call)]
    shared = len(needed)
    return Agreement(Overlap(shared, shared + len(unexpected), len(required)), tuple(one.name for one in needed.unpaired), tuple(unexpected))


def has_readable_arguments(call: ToolCall) -> bool:
    """Whether a call's arguments are a JSON object, or absent; any others equal nothing."""
    return call.arguments is None or isinstance(call.arguments, dict)


def _agreement(expected: Iterable[tuple[Key, bool]], given: Iterable[Key]) -> Agreement:
    required: list[Key] = []
    optional: list[Key] = []
    for key, is_optional in expected:
        (optional if is_optional else required).append(key)
    beyond, missing = _without(given, required)
    unexpected, _ = _without(beyond, optional) if optional else (beyond, [])
    shared = len(required) - len(missing)
    return Agreement(
        Overlap(shared, shared + len(unexpected), len(required)),
        tuple(name for name, _ in missing),
        tuple(name for name, _ in unexpected),
    )


def _without(given: Iterable[Key], taken: Iterable[Key]) -> tuple[list[Key], list[Key]]:
    """What is left of two multisets when what they share is taken from both, in order."""
    counts: dict[Key, int] = {}
    for key in taken:
        counts[key] = counts.get(key, 0) + 1
    left: list[Key] = []
    for key in given:
        if counts.get(key):
            counts[key] -= 1
        else:
            left.append(key)
    return left, [key for key, count in counts.items() for _ in range(count)]
