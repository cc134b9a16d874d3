"""Which rows of a dataset are meant: `--where FIELD=VALUE`, `--limit N`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from measurand.core.errors import Problem, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.shapes import scalar_text
from measurand.data.columns import folded
from measurand.data.identity import Identity
from measurand.data.rows import Row

_METADATA: Final = "metadata."
_OF_IDENTITY: Final[Mapping[str, Callable[[Identity], Any]]] = {
    "id": lambda one: one.task if one.id is None else one.id,
    "task": lambda one: one.task,
    "trial": lambda one: one.trial,
}


def _pairs(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in pairs)


@frozen
class Selection:
    """Rows that meet every condition, the first `limit` of them. A condition names a field, `metadata.x`, or a column of the data.

    A list meets a condition when an item does; numbers are compared as numbers. `id` and `trial` are the row's own; a row without id goes by its task.
    """

    where: tuple[tuple[str, str], ...] = field(default=(), converter=_pairs)
    limit: int | None = None

    def described(self) -> str:
        """As it was typed."""
        return " ".join(f"--where {name}={value}" for name, value in self.where)


class Matcher:
    """Tests rows against the conditions, and learns which of their names the data has."""

    def __init__(self, conditions: Sequence[tuple[str, str]]) -> None:
        self._conditions = tuple(conditions)
        self._met: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._conditions)

    def matches(self, row: Row, fields: Mapping[str, Any], identity: Identity) -> bool:
        """Whether the row meets every condition."""
        held = [self._holds(name, wanted, row, fields, identity) for name, wanted in self._conditions]  # each is asked, so that each name is looked for
        return all(held)

    def _holds(self, name: str, wanted: str, row: Row, fields: Mapping[str, Any], identity: Identity) -> bool:
        found, value = _value(name, row, fields, identity)
        if found:
            self._met.add(name)
        return found and _equal(value, wanted)

    def unknown(self, columns: Iterable[str]) -> Iterator[Problem]:
        """Names that are no field and that no row has as a column."""
        known = [*FIELDS, *columns]
        for name, value in self._conditions:
            if name not in FIELDS and name not in self._met:
                hint = did_you_mean(name, known) or f"a condition names a field, metadata.NAME or a column: {', '.join(list(columns)[:12])}"
                yield Problem("unknown_column", f"--where {name}={value}", f"nothing in the data is called '{name}'", hint)


def _value(name: str, row: Row, fields: Mapping[str, Any], identity: Identity) -> tuple[bool, Any]:
    if name in _OF_IDENTITY:
        return True, _OF_IDENTITY[name](identity)
    if name in FIELDS:
        return True, fields.get(name)
    if name.startswith(_METADATA):
        return _inside(fields.get("metadata", {}), name.removeprefix(_METADATA))
    if name in row.values:
        return True, row.values[name]
    fold = folded(name)
    column = next((key for key in row.values if folded(key) == fold), None)
    return (True, row.values[column]) if column is not None else (False, None)


def _inside(value: Any, path: str) -> tuple[bool, Any]:
    if isinstance(value, Mapping) and path in value:
        return True, value[path]
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return False, None
        value = value[key]
    return True, value


def _equal(value: Any, wanted: str) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_equal(item, wanted) for item in value)
    text = scalar_text(value)
    if text is None or text == wanted:
        return text is not None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(wanted) == value
        except ValueError:
            return False
    return False
