"""Whether the arguments of a call are those that were expected."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final, Literal

from measurand.core.errors import InvalidFieldError, did_you_mean
from measurand.core.fields import Json
from measurand.formula.normalise import folded
from measurand.formula.patterns import found

Mode = Literal["given", "exact", "ignore"]
"""Which arguments are compared: those the expected call gives, these and no others, or none."""

COMPARATORS: Final = ("exact", "numeric", "regex", "casefold", "one_of", "ignore")
_FIELD: Final = "expected_tool_calls"
ABSENT: Final = object()
"""Stands for an argument that is not there: null is a value."""


def json_key(value: Json) -> Hashable:
    """A hashable stand-in that is equal exactly for equal JSON: 1 equals 1.0, not "1" and not true; the order of keys does not matter."""
    kind = type(value)
    if kind is str or kind is int or kind is float:
        return value  # type: ignore[no-any-return]  # one of the three
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return ("object", frozenset([(key, json_key(item)) for key, item in value.items()]))
    if isinstance(value, (list, tuple)):
        return ("array", *[json_key(item) for item in value])
    return value  # type: ignore[no-any-return]  # null


def arguments_fit(wanted: Mapping[str, Json] | None, match: Mapping[str, Json], given: Json, mode: Mode = "given") -> bool:
    """Whether the arguments `given` in a call fit those `wanted`, compared as `match` says, argument by argument.

    `wanted` None with no `match`: not checked. `{}`: there must be none. Otherwise each wanted argument must be there and fit; others are not
    looked at, or with mode "exact" not allowed. Absent arguments are `{}`; text that was no JSON object fits nothing.
    Raises `InvalidFieldError` for a comparator that does not exist, `CellTimeoutError` for a pattern that takes too long.
    """
    if mode == "ignore" or (wanted is None and not match):
        return True
    made = {} if given is None else given
    if not isinstance(made, Mapping):
        return False
    expected = wanted or {}
    if not expected and not match:
        return not made
    if mode == "exact" and any(name not in expected and name not in match for name in made):
        return False
    return all(_fits(name, expected, match, made) for name in (*expected, *(name for name in match if name not in expected)))


NO_ARGUMENT: Final = "(no argument)"
"""What an expected `{}` states."""


def stated(wanted: Mapping[str, Json] | None, match: Mapping[str, Json]) -> tuple[str, ...]:
    """The arguments that an expected call states something about, those that `match` ignores left out. `{}` states one thing: that there is none."""
    if not match:
        return () if wanted is None else tuple(wanted) or (NO_ARGUMENT,)
    expected = wanted or {}
    return tuple(name for name in (*expected, *(name for name in match if name not in expected)) if match.get(name) != "ignore")


def wrong_arguments(wanted: Mapping[str, Json] | None, match: Mapping[str, Json], given: Json) -> tuple[str, ...]:
    """Those of the `stated` arguments that are not right in the arguments `given` in a call, compared as by `arguments_fit`."""
    names = stated(wanted, match)
    if names == (NO_ARGUMENT,) and not wanted:
        return () if given is None or given == {} else names
    made = {} if given is None else given
    if not isinstance(made, Mapping):
        return names
    return tuple(name for name in names if not _fits(name, wanted or {}, match, made))


def _fits(name: str, expected: Mapping[str, Json], match: Mapping[str, Json], made: Mapping[str, Json]) -> bool:
    if name in match:
        return argument_fits(match[name], expected.get(name, ABSENT), made.get(name, ABSENT))
    return name in made and json_key(expected[name]) == json_key(made[name])


def argument_fits(comparator: Json, wanted: object, given: object) -> bool:
    """Whether one argument fits, by a comparator. `ABSENT` as `wanted` or `given` stands for an argument that is not there.

    | comparator | fits when |
    | --- | --- |
    | `"exact"`, `{exact = …}` | equal as JSON to the wanted value, or to the one given here |
    | `"numeric"`, `{numeric = 0.01}`, `{numeric = {abs = …, rel = …}}` | both are numbers or numeric text, that near (default: 1e-9 of the larger) |
    | `"regex"`, `{regex = "…"}` | the pattern (the wanted value, or the one given here) is found in the argument's text |
    | `"casefold"`, `{casefold = …}` | equal to the wanted value, or to the one given here, letter case apart |
    | `"one_of"`, `{one_of = […]}` | equal to one of the list (the wanted value, or the one given here); null in the list allows the argument to be absent |
    | `"ignore"` | always, also when absent |

    Raises `InvalidFieldError` for a comparator that does not exist or has nothing to compare with, `CellTimeoutError` for a pattern that takes too long.
    """
    kind, setting = _comparator(comparator)
    if kind == "ignore":
        return True
    target = wanted if setting is ABSENT or kind == "numeric" else setting
    if target is ABSENT:
        raise InvalidFieldError(f'match: {kind} has no value to compare with; name the argument in `arguments`, or write {{"exact": …}}', _FIELD)
    if kind == "one_of":
        return _is_one_of(target, None if given is ABSENT else given)
    if kind == "regex":
        return _found(target, given)
    if kind == "numeric":
        return _near(target, given, setting)
    if given is ABSENT:
        return False
    if kind == "casefold":
        return json_key(_folded(target)) == json_key(_folded(given))
    return json_key(target) == json_key(given)


def _comparator(written: Json) -> tuple[str, object]:
    if isinstance(written, str) and written in COMPARATORS:
        return written, ABSENT
    if isinstance(written, Mapping) and len(written) == 1:
        kind, setting = next(iter(written.items()))
        if kind in COMPARATORS and kind != "ignore":
            return kind, setting
    word = written if isinstance(written, str) else next(iter(written), "") if isinstance(written, Mapping) else ""
    hint = did_you_mean(str(word), COMPARATORS) or f'allowed are {", ".join(COMPARATORS)}, or one of them with its setting: {{"numeric": 0.01}}'
    raise InvalidFieldError(f"match: {written!r} is no comparator; {hint}", _FIELD)


def _is_one_of(allowed: object, given: object) -> bool:
    if not isinstance(allowed, (list, tuple)):
        raise InvalidFieldError(f"match: one_of needs a list of allowed values, not {allowed!r}", _FIELD)
    key = json_key(given)
    return any(json_key(value) == key for value in allowed)


def _found(pattern: object, given: object) -> bool:
    if not isinstance(pattern, str):
        raise InvalidFieldError(f"match: regex needs a pattern in text, not {pattern!r}", _FIELD)
    return isinstance(given, str) and found(pattern, given, field=_FIELD)


def _near(wanted: object, given: object, setting: object) -> bool:
    absolute, relative = _tolerance(setting)
    left, right = _number(wanted), _number(given)
    if left is None:
        raise InvalidFieldError(f"match: numeric compares with a number, not {wanted!r:.80}", _FIELD)
    if right is None:
        return False
    return left == right or abs(left - right) <= max(absolute, relative * max(abs(left), abs(right)))


def _tolerance(setting: object) -> tuple[float, float]:
    if setting is ABSENT:
        return 0.0, 1e-9
    if _is_number(setting):
        return float(setting), 0.0  # type: ignore[arg-type]  # a number, just tested
    if isinstance(setting, Mapping) and setting and set(setting) <= {"abs", "rel"} and all(_is_number(value) for value in setting.values()):
        return float(setting.get("abs", 0.0)), float(setting.get("rel", 0.0))
    raise InvalidFieldError(f"match: the tolerance of numeric is a number from 0, or abs and rel, not {setting!r}", _FIELD)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)) or (isinstance(value, str) and "_" in value):
        return None  # Python reads "1_000" as a number, nobody else does
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if number - number == 0 else None  # infinities and NaN, which float() reads from text, are no numbers here


def _folded(value: Json) -> Json:
    if isinstance(value, str):
        return folded(value)
    if isinstance(value, Mapping):
        return {key: _folded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_folded(item) for item in value]
    return value
