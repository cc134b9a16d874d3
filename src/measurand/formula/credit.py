"""Partial credit for calls: how many of the expected arguments the calls made have right, when each expected call is given its best call."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from measurand.core.effort import still_time
from measurand.formula.arguments import json_key, stated, wrong_arguments
from measurand.formula.assignment import best_assignment

if TYPE_CHECKING:
    from measurand.core.fields import Json
    from measurand.core.record import ExpectedToolCall, ToolCall


class CallCredit(NamedTuple):
    """What one expected call has got: `call` is the place of the call it was given, None for none; `wrong` the arguments that are not right."""

    name: str
    call: int | None
    wrong: tuple[str, ...]


class Credit(NamedTuple):
    """Arguments that are right, arguments that are stated, and each expected call that states any. `share` is their ratio, None when none is stated."""

    share: float | None
    stated: int
    calls: tuple[CallCredit, ...]


class _Fit(NamedTuple):
    """How far a call fits an expected one: `right` of `stated` arguments, by the variant (itself or an alternative) that fits best."""

    right: int
    stated: int
    wrong: tuple[str, ...]


def argument_credit(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall]) -> Credit:
    """Gives the expected calls their calls, one to one, so that the most arguments are right; among such ways one with the most calls wholly right.

    An expected call counts with the arguments it states itself; by an alternative it gets the same share of them as the call has of the alternative's.
    Optional expected calls, and those that state no argument, are not counted. The order of the two lists does not change the share.
    """
    counted = [(one, names) for one in expected if not one.optional and (names := stated(one.arguments, one.match))]
    if not counted:
        return Credit(None, 0, ())
    fits = [[_best_fit(one, call) for call in calls] for one, _ in counted]
    scale = lcm(*(fit.stated for row in fits for fit in row if fit))
    worth = [[len(names) * fit.right * scale // fit.stated if fit else 0 for fit in row] for (_, names), row in zip(counted, fits, strict=True)]
    given = best_assignment([[_weight(fit, value, len(counted)) for fit, value in zip(*pair, strict=True)] for pair in zip(fits, worth, strict=True)])
    right = sum(row[call] for row, call in zip(worth, given, strict=True) if call is not None)
    total = sum(len(names) for _, names in counted)
    return Credit(right / (total * scale), total, tuple(_told(one, names, row, call) for (one, names), row, call in zip(counted, fits, given, strict=True)))


def _weight(fit: _Fit | None, worth: int, rows: int) -> int:
    """Worth first, then whether it is wholly right, then that there is a call of the name at all."""
    if fit is None:
        return 0
    step = rows + 1
    return (worth * step + (not fit.wrong)) * step + 1


def _told(one: ExpectedToolCall, names: tuple[str, ...], row: Sequence[_Fit | None], call: int | None) -> CallCredit:
    fit = None if call is None else row[call]
    return CallCredit(one.name, call, names if fit is None else fit.wrong)


def _variants(one: ExpectedToolCall) -> Iterator[ExpectedToolCall]:
    yield one
    for other in one.alternatives:
        yield from _variants(other)


def _best_fit(one: ExpectedToolCall, call: ToolCall) -> _Fit | None:
    still_time()
    best: _Fit | None = None
    for variant in _variants(one):
        if variant.name == call.name:
            fit = _fit(variant, call)
            if best is None or fit.right * best.stated > best.right * fit.stated:
                best = fit
    return best


def _fit(one: ExpectedToolCall, call: ToolCall) -> _Fit:
    of = len(stated(one.arguments, one.match))
    if not of:
        return _Fit(1, 1, ())
    wrong = wrong_arguments(one.arguments, one.match, call.arguments)
    return _Fit(of - len(wrong), of, wrong)


# ---------------------------------------------------------------- accuracy


def call_accuracy(expected: Sequence[ExpectedToolCall], calls: Sequence[ToolCall], strict_order: bool) -> float:
    """Mean over the expected calls of the share of their arguments that their call has equal; 0 when the names differ. Neither expected nor made: 1.

    Names are compared as sequences, and calls pair up by place; without `strict_order` as multisets, and calls pair up inside a name, so that the mean is
    the largest there is.
    """
    names, wanted = [call.name for call in calls], [one.name for one in expected]
    if names != wanted and (strict_order or sorted(names) != sorted(wanted)):
        return 0.0
    if not expected:
        return 1.0
    keys = [_keys(call.arguments) for call in calls]
    scale = lcm(*(len(one.arguments or ()) or 1 for one in expected))
    if strict_order:
        right = sum(_equal(one, key, scale) for one, key in zip(expected, keys, strict=True))
    else:
        table = [[_equal(one, key, scale) if name == one.name else 0 for name, key in zip(names, keys, strict=True)] for one in expected]
        right = sum(row[call] for row, call in zip(table, best_assignment(table), strict=True) if call is not None)
    return right / (scale * len(expected))


def _keys(arguments: Json) -> Mapping[str, Hashable] | None:
    """Arguments by name as comparable keys, absent ones as none; None for what is no JSON object."""
    if arguments is None:
        return {}
    return {name: json_key(value) for name, value in arguments.items()} if isinstance(arguments, Mapping) else None


def _equal(one: ExpectedToolCall, keys: Mapping[str, Hashable] | None, scale: int) -> int:
    """The share of the expected arguments that are there and equal, times `scale`."""
    still_time()
    if keys is None:
        return 0
    if not one.arguments:
        return 0 if keys else scale
    return sum(name in keys and keys[name] == json_key(value) for name, value in one.arguments.items()) * scale // len(one.arguments)
