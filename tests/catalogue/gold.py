"""Gold calls of other projects as records of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent / "data"

Calls = list[dict[str, Any]]


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


# ---------------------------------------------------------------- τ²-bench


def tau2_expected(action: dict[str, Any]) -> dict[str, Any]:
    """An action as an expected call: `compare_args` are the arguments that are compared, all others are ignored."""
    compared = action.get("compare_args")
    ignored = [] if compared is None else [name for name in action["arguments"] if name not in compared]
    return {"name": action["name"], "arguments": action["arguments"], "match": dict.fromkeys(ignored, "ignore")}


# ---------------------------------------------------------------- BFCL


def bfcl_expected(calls: Sequence[dict[str, Any]]) -> Calls:
    """Allowed values as `one_of`, with null where the argument may be left out; calls in any order."""
    return [
        {
            "name": call["name"],
            "arguments": {},
            "match": {name: {"one_of": allowed(values)} for name, values in call["allowed_arguments"].items()},
            "group": "g",
        }
        for call in calls
    ]


def bfcl_made(calls: Sequence[dict[str, Any]]) -> Calls:
    """The calls themselves, each argument with the first of its allowed values."""
    made = [(call["name"], {name: allowed(values)[0] for name, values in call["allowed_arguments"].items()}) for call in calls]
    return [{"name": name, "arguments": {key: value for key, value in arguments.items() if value is not None}} for name, arguments in made]


def allowed(values: Sequence[Any]) -> list[Any]:
    """`""` is null: left out. An object holds allowed values for each of its keys, so it is written out as all objects it allows."""
    return [one for value in values for one in ([None] if value == "" else written_out(value))]


def written_out(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [list(items) for items in product(*map(written_out, value))]
    if isinstance(value, dict):
        return [dict(pair for pair in pairs if pair) for pairs in product(*(_pairs(key, values) for key, values in value.items()))]
    return [value]


def _pairs(key: str, values: Sequence[Any]) -> list[tuple[str, Any] | None]:
    return [None if value is None else (key, value) for value in allowed(values)]


def mutations(calls: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Calls]]:
    """Every gold call with one argument changed, or left out where it must be there."""
    made = bfcl_made(calls)
    for place, call in enumerate(calls):
        for name in made[place]["arguments"]:
            arguments = made[place]["arguments"]
            changed = [{**arguments, name: value} for value in ("no such value", -987654.25, True if arguments[name] is not True else "true")]
            if "" not in call["allowed_arguments"][name]:
                changed.append({key: value for key, value in arguments.items() if key != name})
            for one in changed:
                yield name, [*made[:place], {"name": call["name"], "arguments": one}, *made[place + 1 :]]
