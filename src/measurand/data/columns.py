"""Which column feeds which field. Decided for the whole dataset, from the columns' names and, for other projects' names, from their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

from measurand.core.coerce import is_missing, misfit
from measurand.core.errors import DataError, Problem, did_you_mean
from measurand.core.fields import FIELDS, Json
from measurand.core.jsontext import compact_json

How = Literal["named", "exact", "alias"]
Wanted: TypeAlias = "Mapping[str, str | Mapping[str, str]] | Iterable[tuple[str, str | Mapping[str, str]]]"

SAMPLES: Final = 3
SAMPLE_CHARS: Final = 60
MOST_COLUMNS: Final = 1_000
"""Unknown columns beyond this many are still metadata, but not listed one by one."""

_SPLITTABLE: Final = ("contexts", "list[str]", "expected", "calls", "expected_calls", "tools")


def folded(name: str) -> str:
    """A column's name without case, spaces, `_` and `-`: how names are compared."""
    return name.casefold().replace(" ", "").replace("_", "").replace("-", "")


_CLAIMS: Final[Mapping[str, tuple[str, int]]] = {
    folded(name): (field.name, rank) for field in FIELDS.values() for rank, name in enumerate((field.name, *field.aliases))
}


def names_ids(column: str) -> bool:
    """Whether a column's name says that bare texts in it are ids of passages: `relevant_ids`, `qrels`."""
    return folded(column).endswith("ids") or folded(column) == "qrels"


@frozen
class Named:
    """A column that the user named for a field, and the mark its texts are split at."""

    field: str
    column: str
    split: str | None = None


@frozen
class Binding:
    """Where a field's values come from. `path` leads into nested objects; else the column is a key of the row."""

    field: str
    column: str
    how: How
    path: tuple[str, ...] | None = None
    split: str | None = None

    @property
    def ids(self) -> bool:
        """Whether bare texts are ids of passages."""
        return names_ids(self.column)


class Column:
    """What has been seen of a column."""

    __slots__ = ("filled", "misfit", "name", "samples")

    def __init__(self, name: str) -> None:
        self.name = name
        self.filled = False
        self.samples: list[str] = []
        self.misfit: str | None = None


@frozen
class ColumnMap:
    """The decision: one binding at most for a field; every other column is metadata."""

    bindings: tuple[Binding, ...]
    unfound: tuple[Named, ...]

    def of(self, field: str) -> Binding | None:
        """The binding of a field."""
        return next((one for one in self.bindings if one.field == field), None)


def named_columns(wanted: Wanted) -> tuple[Named, ...]:
    """What the user wrote: FIELD = COLUMN, or FIELD = {from, split}. Raises `DataError` with everything that cannot be meant."""
    pairs = list(wanted.items()) if isinstance(wanted, Mapping) else list(wanted)
    named: dict[str, Named] = {}
    problems: list[Problem] = []
    for field, told in pairs:
        one = _named(field, told)
        if isinstance(one, Problem):
            problems.append(one)
        elif field in named and named[field] != one:
            message = f"two columns are named for {field}: '{named[field].column}' and '{one.column}'"
            problems.append(Problem("two_columns", f"column {field}", message, "name one"))
        else:
            named[field] = one
    if problems:
        raise DataError(problems)
    return tuple(named.values())


def _named(field: str, told: Any) -> Named | Problem:
    where = f"column {field}"
    if field not in FIELDS and not (field.startswith("metadata.") and len(field) > len("metadata.")):
        return Problem("unknown_field", where, f"'{field}' is no field of a record", did_you_mean(field, FIELDS) or f"a record has {', '.join(FIELDS)}")
    if isinstance(told, str):
        return Named(field, told)
    column = told.get("from") if isinstance(told, Mapping) else None
    split = told.get("split") if isinstance(told, Mapping) else None
    if not isinstance(column, str) or not (split is None or (isinstance(split, str) and split)):
        return Problem("bad_column", where, "a column is named by its name, or by { from, split }", f'{field} = {{ from = "Docs", split = "\\n" }}')
    if split is not None and FIELDS.get(field, FIELDS["contexts"]).shape not in _SPLITTABLE:
        return Problem("bad_column", where, f"{field} is no list, so its texts cannot be split", f'{field} = "{column}"')
    return Named(field, column, split)


class Columns:
    """The columns of a dataset as they come up, and what they can feed."""

    def __init__(self, named: Sequence[Named]) -> None:
        self.named = tuple(named)
        self.seen: dict[str, Column] = {}
        self.more = 0
        self._folds: dict[str, str] = {}
        self._roots = {one.column.partition(".")[0] for one in named}
        self._targets = {folded(one.column) for one in named} | {folded(root) for root in self._roots}

    def matters(self, name: str) -> bool:
        """Whether a column that has not been seen could change the decision."""
        if name in self.seen:
            return False
        fold = folded(name)
        if fold not in _CLAIMS and fold not in self._targets:
            return False
        return fold not in self._folds or name in FIELDS or name in self._roots or any(name == one.column for one in self.named)

    def see(self, values: Mapping[str, Json], where: str, cells: bool) -> None:
        """Takes note of a row: its columns, samples of their values, and values that a field does not take."""
        for name, value in values.items():
            column = self.seen.get(name)
            if column is None:
                if len(self.seen) >= MOST_COLUMNS and folded(name) not in _CLAIMS and folded(name) not in self._targets:
                    self.more += 1
                    continue
                column = self.seen[name] = Column(name)
                self._folds.setdefault(folded(name), name)
            if value is None or (cells and value == ""):
                continue
            column.filled = True
            self._sample(column, value)
            claim = _CLAIMS.get(folded(name))
            if claim is not None and claim[1] > 0 and column.misfit is None and not is_missing(FIELDS[claim[0]], value):
                reason = misfit(claim[0], value, ids=names_ids(name))
                if reason is not None:
                    column.misfit = f"{where}: {reason}"

    def _sample(self, column: Column, value: Json) -> None:
        if len(column.samples) < SAMPLES:
            text = short(value)
            if text not in column.samples:
                column.samples.append(text)

    def refuse(self, name: str, reason: str) -> None:
        """A value turned up that the field does not take: the column is not read as that field."""
        self.seen[name].misfit = reason

    def decide(self) -> ColumnMap:
        """Named columns first, then a field's own name, then the aliases in their order; an alias whose values do not fit is passed over."""
        bindings: dict[str, Binding] = {}
        unfound: list[Named] = []
        for one in self.named:
            found = self._located(one)
            if found is None:
                unfound.append(one)
            else:
                bindings[one.field] = found
        taken = {one.column for one in bindings.values() if one.path is None}
        for field, candidates in self._candidates(taken).items():
            if field not in bindings and field not in (one.field for one in unfound):
                usable = next((name for rank, name in candidates if rank == 0 or self.seen[name].misfit is None), None)
                if usable is not None:
                    bindings[field] = Binding(field, usable, "exact" if _CLAIMS[folded(usable)][1] == 0 else "alias")
        return ColumnMap(tuple(bindings.values()), tuple(unfound))

    def _located(self, one: Named) -> Binding | None:
        if one.column in self.seen:
            return Binding(one.field, one.column, "named", None, one.split)
        alike = self._folds.get(folded(one.column))
        if alike is not None:
            return Binding(one.field, alike, "named", None, one.split)
        root, *inner = one.column.split(".")
        if inner and root in self.seen:
            return Binding(one.field, one.column, "named", (root, *inner), one.split)
        return None

    def _candidates(self, taken: set[str]) -> dict[str, list[tuple[int, str]]]:
        """For each field the columns that bear its name or an alias, best first; written exactly so before written alike, then as they came."""
        found: dict[str, list[tuple[int, int, int, str]]] = {}
        for order, name in enumerate(self.seen):
            claim = _CLAIMS.get(folded(name))
            if claim is not None and name not in taken:
                field, rank = claim
                literal = name == (FIELDS[field].name, *FIELDS[field].aliases)[rank]
                found.setdefault(field, []).append((rank, 0 if literal else 1, order, name))
        return {field: [(rank, name) for rank, _, _, name in sorted(found[field])] for field in FIELDS if field in found}

    # ------------------------------------------------------------ what `check` shows

    def entries(self, decided: ColumnMap) -> Iterator[dict[str, Any]]:
        """The mapping as JSON: {field, column, how, note, samples}; columns that feed no field have the field `metadata`."""
        for one in decided.bindings:
            root = one.column if one.path is None else one.path[0]
            yield _entry(one.field, one.column, one.how, self._note(one), self.seen[root].samples if one.path is None else [])
        used = {one.column for one in decided.bindings if one.path is None}
        for name, column in self.seen.items():
            if name not in used:
                yield _entry("metadata", name, "metadata", self._why_not(name, decided), column.samples)

    def _note(self, one: Binding) -> str:
        if one.split is not None:
            return f"split at {compact_json(one.split)}"
        if one.path is None and not self.seen[one.column].filled:
            others = [name for _, name in self._candidates(set()).get(one.field, []) if name != one.column and self.seen[name].filled]
            if others:
                return f"has no value in the rows looked at; '{others[0]}' has, and is not used: --column {one.field}={others[0]} takes it"
        return "bare texts are ids" if one.ids and FIELDS.get(one.field, FIELDS["id"]).shape == "contexts" else ""

    def _why_not(self, name: str, decided: ColumnMap) -> str:
        claim = _CLAIMS.get(folded(name))
        if claim is None:
            return ""
        if claim[1] > 0 and self.seen[name].misfit is not None:
            return f"not read as {claim[0]}: {self.seen[name].misfit}"
        winner = decided.of(claim[0])
        return f"not read as {claim[0]}: '{winner.column}' is" if winner is not None else ""


def _entry(field: str, column: str, how: str, note: str, samples: Sequence[str]) -> dict[str, Any]:
    return {"field": field, "column": column, "how": how, "note": note, "samples": list(samples)}


def short(value: Json) -> str:
    """A value in a few words, on one line."""
    text = value if isinstance(value, str) else compact_json(value)
    text = " ".join(text[: 4 * SAMPLE_CHARS].split())
    return text if len(text) <= SAMPLE_CHARS else f"{text[: SAMPLE_CHARS - 1]}…"


def unfound_problems(decided: ColumnMap, columns: Columns) -> Iterator[Problem]:
    """What is said of columns that the user named and no row has."""
    known = list(columns.seen)
    for one in decided.unfound:
        listed = f"the data has {', '.join(known[:12])}{' …' if len(known) > 12 else ''}"
        yield Problem("unknown_column", f"column {one.field}", f"no column is called '{one.column}'", did_you_mean(one.column, known) or listed)
