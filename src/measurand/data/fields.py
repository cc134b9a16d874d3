"""One row → the fields of its record, by the mapping. The hot path: what can be decided for a set of columns is decided once for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn, TypeAlias

from measurand.core.coerce import Invalid, is_missing, misfit, normalise
from measurand.core.derive import derive
from measurand.core.errors import InvalidFieldError
from measurand.core.fields import FIELDS, Json
from measurand.core.textlist import BrokenListError, held
from measurand.data.columns import Binding, ColumnMap, Columns
from measurand.data.rows import Row

STRICT: Final = frozenset(("id", "task", "trial", "cluster", "tags"))
"""Fields that say what a row is: a value of the wrong type is a bad row, not an error of some cells."""

_TEXTS: Final = ("str", "text", "expected")
_PLANS_KEPT: Final = 1_000

_Reader: TypeAlias = Callable[[Json, Row], Any]
_Step: TypeAlias = "tuple[str, str, bool, bool, _Reader]"
_ABSENT: Final = object()


class MappingChangedError(Exception):
    """The row shows that the mapping was decided on too little: it has been noted, and the pass begins again."""


class BadValueError(Exception):
    """A row that cannot be placed among the others."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


class _Plan:
    """How rows with one set of columns are read."""

    __slots__ = ("extras", "metadata", "paths", "steps")

    def __init__(self, steps: tuple[_Step, ...], paths: tuple[tuple[Binding, _Reader], ...], extras: tuple[str, ...], metadata: str | None) -> None:
        self.steps = steps
        self.paths = paths
        self.extras = extras
        self.metadata = metadata


class FieldReader:
    """Reads rows by a mapping. Raises `MappingChangedError` when a row contradicts it, `BadValueError` for a row that cannot be used."""

    def __init__(self, columns: Columns, decided: ColumnMap) -> None:
        self._columns = columns
        self._bindings = decided.bindings
        self._plans: dict[tuple[bool, tuple[str, ...]], _Plan] = {}

    def fields(self, row: Row) -> dict[str, Any]:
        """The fields the row has: missing ones left out, misshapen ones `Invalid`, derived ones added."""
        values = row.values
        key = (row.cells, tuple(values))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._planned(key, row)
        fields: dict[str, Any] = {}
        for name, column, is_text, empty_is_missing, read in plan.steps:
            value = values[column]
            if is_text and type(value) is str:
                if value or not empty_is_missing:
                    fields[name] = value
            elif value is not None:
                found = read(value, row)
                if found is not _ABSENT:
                    fields[name] = found
        if plan.paths:
            _read_paths(plan.paths, row, fields)
        if plan.extras or plan.metadata is not None:
            _read_metadata(plan, row, fields)
        if "messages" in fields:
            derive(fields)
        return fields

    def _planned(self, key: tuple[bool, tuple[str, ...]], row: Row) -> _Plan:
        if any(self._columns.matters(name) for name in key[1]):
            self._columns.see(row.values, row.where, row.cells)
            raise MappingChangedError
        steps = []
        there = set(key[1])
        used = set()
        metadata = None
        for one in self._bindings:
            if one.path is not None or one.column not in there:
                continue
            used.add(one.column)
            if one.field == "metadata":
                metadata = one.column
            elif one.field in FIELDS:
                steps.append(self._step(one, row.cells))
        paths = tuple((one, self._reader(one, row.cells)) for one in self._bindings if one.path is not None or one.field not in FIELDS)
        extras = tuple(name for name in key[1] if name not in used)
        if len(self._plans) >= _PLANS_KEPT:
            self._plans.clear()
        plan = self._plans[key] = _Plan(tuple(steps), paths, extras, metadata)
        return plan

    def _step(self, one: Binding, cells: bool) -> _Step:
        field = FIELDS[one.field]
        plain_text = field.shape in _TEXTS and one.split is None and not (cells and field.shape == "expected")
        empty_is_missing = field.empty_is_missing or (cells and field.name != "output")
        return one.field, one.column, plain_text, empty_is_missing, self._reader(one, cells)

    def _reader(self, one: Binding, cells: bool) -> _Reader:
        field = FIELDS.get(one.field)
        if field is None:
            return lambda value, _row: _ABSENT if value is None or (cells and value == "") else value
        empty_is_missing = cells and field.name != "output"
        strict = field.name in STRICT
        spoken = field.name == "input" and one.how == "alias"

        def read(value: Json, row: Row) -> Any:
            if (empty_is_missing and value == "") or is_missing(field, value):
                return _ABSENT
            if one.split is not None and isinstance(value, str):
                value = [piece for piece in value.split(one.split) if piece.strip()]
            elif cells and field.shape == "expected":
                value = _accepted(value)
            if spoken and (reason := misfit("input", value)) is not None:
                self._refuse(one, row, reason)
            try:
                return normalise(field.name, value, ids=one.ids)
            except InvalidFieldError as error:
                if one.how == "alias":
                    self._refuse(one, row, error.message)
                if strict:
                    raise BadValueError(error.message) from None
                return Invalid(error.message)

        return read

    def _refuse(self, one: Binding, row: Row, reason: str) -> NoReturn:
        self._columns.refuse(one.column, f"{row.where}: {reason}")
        raise MappingChangedError


def _accepted(cell: str) -> Json:
    """A cell of `expected` that holds a list of texts is several accepted answers; any other text is the one answer."""
    try:
        found = held(cell)
    except BrokenListError as error:
        return Invalid(f"expected {error}")
    texts = isinstance(found, list) and found and all(isinstance(item, str) for item in found)
    return found if texts else cell


def _read_paths(paths: tuple[tuple[Binding, _Reader], ...], row: Row, fields: dict[str, Any]) -> None:
    for one, read in paths:
        value: Any = row.values if one.path is not None else row.values.get(one.column)
        for key in one.path or ():
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is None:
            continue
        found = read(value, row)
        if found is _ABSENT:
            continue
        if one.field in FIELDS:
            fields[one.field] = found
        else:
            fields.setdefault("metadata", {})[one.field.removeprefix("metadata.")] = found


def _read_metadata(plan: _Plan, row: Row, fields: dict[str, Any]) -> None:
    """Columns that feed no field stand under their own names; a `metadata` column that is no object does so too. Its own keys win."""
    values = row.values
    extra: dict[str, Any] = fields.get("metadata") or {}
    for name in plan.extras:
        value = values[name]
        if value is not None and not (row.cells and value == ""):
            extra.setdefault(name, value)
    if plan.metadata is not None:
        own = values[plan.metadata]
        if isinstance(own, str) and row.cells:
            own = _object_in(own)
        if isinstance(own, dict):
            extra.update(own)
        elif own is not None and own != "":
            extra["metadata"] = own
    if extra:
        fields["metadata"] = extra


def _object_in(cell: str) -> Json:
    try:
        found = held(cell)
    except BrokenListError:
        return cell
    return found if isinstance(found, dict) else cell
