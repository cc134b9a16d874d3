"""The dataset: one validating pass that finds every problem and decides the mapping, one scoring pass that must find the same bytes."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from attrs import frozen

from measurand.core.derive import DERIVED_FIELDS
from measurand.core.errors import DataError, Problem, RunIncompleteError
from measurand.core.fields import FIELDS
from measurand.core.record import Context, Record
from measurand.data.columns import Columns, Wanted, named_columns, unfound_problems
from measurand.data.fields import MappingChangedError
from measurand.data.identity import Hashes, Occurrences
from measurand.data.reading import Pass, Selected, Ways
from measurand.data.rows import BadRow, Row
from measurand.data.selection import Selection
from measurand.data.source import Source

__all__ = ["Dataset", "Observer", "RecordRow", "Selection", "survey"]

Observer: TypeAlias = "Callable[[Mapping[str, Any], str], None]"

LOOKED_AT: Final = 1_000
"""The mapping is decided from so many rows; a later row that contradicts it begins the pass again."""

LOOKED_AT_BYTES: Final = 64_000_000
PROBLEMS_SHOWN: Final = 20
PROBLEMS_COUNTED: Final = 1_000
_NAMED: Final = 5
_RESTARTS: Final = 500


class RecordRow(NamedTuple):
    """A row of the scoring pass. `ordinal` counts the selected rows from 0."""

    ordinal: int
    record: Record
    task_hashes: dict[str, str]
    row: Row

    @property
    def where(self) -> str:
        """`file:line`."""
        return self.row.where


@frozen(eq=False)
class Dataset:
    """A surveyed dataset.

    `rows` selected, `filtered` left out by where and limit, `skipped` unreadable and left out. `available`: field → rows that have it, derived ones and
    `metadata` counted. `fingerprint` is the hash of the selected rows' bytes. `has_trials`: rows carry `trial`, or tasks repeat.
    """

    label: str
    files: tuple[str, ...]
    rows: int
    filtered: int
    skipped: int
    fingerprint: str
    mapping: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    available: Mapping[str, int]
    has_trials: bool
    has_clusters: bool
    _ways: Ways
    _occurrences: Callable[[], Occurrences]

    @property
    def path(self) -> str:
        """What was asked for, as it was typed."""
        return self.label

    def records(self) -> Iterator[RecordRow]:
        """The scoring pass, in the data's order. Raises `RunIncompleteError` at its end when the data is not what was surveyed."""
        occurrences = self._occurrences()
        digest = blake2b(digest_size=16)
        ordinal = -1
        try:
            for ordinal, one in enumerate(Pass(self._ways).rows(count_all=False)):
                if ordinal >= self.rows:
                    break
                digest.update(one.row.raw)
                digest.update(b"\n")
                yield RecordRow(ordinal, _record(one, occurrences), one.identity.hashes, one.row)
        except DataError as error:
            raise RunIncompleteError(f"data changed: {error}") from None
        except MappingChangedError:
            raise RunIncompleteError(f"data changed: {self.label} has other columns than were checked at the start") from None
        if ordinal + 1 != self.rows or digest.hexdigest() != self.fingerprint:
            raise RunIncompleteError(f"data changed: {self.label} is not what was checked at the start; run it again")


def _record(one: Selected, occurrences: Occurrences) -> Record:
    own, task, trial, _ = one.identity
    number = occurrences.next(task)
    if trial is None:
        trial = number
    if own is None:
        own = f"{task}#{trial}" if len(occurrences) else task
    return Record(own, task, trial, one.fields)


def survey(
    source: Source,
    *,
    columns: Wanted = (),
    selection: Selection | None = None,
    id_order: bool = False,
    on_bad_row: Literal["stop", "skip"] = "stop",
    observe: Callable[[], Observer] | None = None,
) -> Dataset:
    """The validating pass. Raises `DataError` with every problem: bad rows, repeated ids, unknown columns, no rows.

    `columns`: FIELD → column, or FIELD → {from, split}. `observe` is called at the beginning of each pass and gives what is called for each selected row with
    its fields and its name; only the last pass counts (a row that contradicts the mapping begins the pass again, which is rare).
    """
    source = source.again()
    seen = Columns(named_columns(columns))
    _look(source, seen)
    for _ in range(_RESTARTS):
        ways = Ways(source, seen, seen.decide(), selection or Selection(), id_order)
        survey_pass = _Survey(ways, on_bad_row, observe)
        try:
            return survey_pass.dataset()
        except MappingChangedError:
            continue
    raise DataError(
        Problem(
            "unclear_columns", source.label, "the columns change from row to row too often to say which feeds which field", "name them: --column FIELD=COLUMN"
        )
    )


def _look(source: Source, columns: Columns) -> None:
    size = 0
    for row in islice(source.rows(), LOOKED_AT):
        if isinstance(row, Row):
            columns.see(row.values, row.where, row.cells)
            size += len(row.raw)
            if size > LOOKED_AT_BYTES:
                return


class _Survey:
    """One attempt at the validating pass, under one mapping."""

    def __init__(self, ways: Ways, on_bad_row: str, observe: Callable[[], Observer] | None) -> None:
        self._ways = ways
        self._stop = on_bad_row != "skip"
        self._observe = observe() if observe is not None else None
        self._bad: list[Problem] = []
        self._bad_rows = 0
        self._nameless: list[str] = []
        self._nameless_rows = 0
        self._shapes: Counter[tuple[str, ...]] = Counter()
        self._ids = Hashes()
        self._tasks = Hashes()
        self._pairs = Hashes()
        self._lined = _OnePassage()
        self._digest = blake2b(digest_size=16)

    def dataset(self) -> Dataset:
        """The dataset, or `DataError` with everything that is wrong with it."""
        current = Pass(self._ways, self._take_bad, self._take_nameless)
        try:
            self._read(current)
        except DataError as error:
            raise DataError([*self._bad_problems(), *error.problems]) from None
        rows = len(self._tasks)
        repeated = self._tasks.repeated()
        problems = [
            *self._bad_problems(),
            *unfound_problems(self._ways.decided, self._ways.columns),
            *current.matcher.unknown(self._ways.columns.seen),
            *self._nameless_problems(),
        ]
        if not problems:
            problems += self._repeated_ids(repeated)
        if not rows and not problems:
            problems.append(self._nothing(current.filtered))
        if problems:
            raise DataError(problems)
        has_trials = bool(repeated) or len(self._pairs) > 0
        available = self._available()
        return Dataset(
            label=self._ways.source.label,
            files=self._ways.source.files,
            rows=rows,
            filtered=current.filtered,
            skipped=self._bad_rows,
            fingerprint=self._digest.hexdigest(),
            mapping=tuple(self._mapping(available)),
            notes=tuple(self._notes(len(repeated))),
            available=available,
            has_trials=has_trials,
            has_clusters=available.get("cluster", 0) > 0,
            ways=self._ways,
            occurrences=lambda: Occurrences(repeated),
        )

    def _read(self, current: Pass) -> None:
        shapes, digest, observe, lined = self._shapes, self._digest, self._observe, self._lined
        for row, fields, identity in current.rows(count_all=True):
            digest.update(row.raw)
            digest.update(b"\n")
            own, task, trial, _ = identity
            self._tasks.add(hash(task))
            if own is not None:
                self._ids.add(hash(own))
            if trial is not None:
                self._pairs.add(hash((task, trial)))
            shapes[tuple(fields)] += 1
            if lined.possible:
                lined.see(fields)
            if observe is not None:
                observe(fields, own or f"{row.unit} {row.line}")

    # ------------------------------------------------------------ what is wrong

    def _take_bad(self, bad: BadRow) -> None:
        self._bad_rows += 1
        if not self._stop:
            return
        if len(self._bad) < PROBLEMS_SHOWN:
            self._bad.append(Problem("bad_row", bad.where, bad.message, bad.hint))
        if self._bad_rows >= PROBLEMS_COUNTED:
            raise DataError(())

    def _take_nameless(self, row: Row) -> None:
        self._nameless_rows += 1
        if len(self._nameless) < _NAMED:
            self._nameless.append(row.where)

    def _nameless_problems(self) -> Iterator[Problem]:
        if self._nameless_rows:
            rows = "row has" if self._nameless_rows == 1 else "rows have"
            more = " …" if self._nameless_rows > len(self._nameless) else ""
            message = f"{self._nameless_rows} {rows} no id, no task, and nothing that says what was asked ({', '.join(self._nameless)}{more})"
            yield Problem(
                "no_id", self._ways.source.label, message, 'name the column that tells rows apart: --column id=COLUMN; or number them: [data] id = "order"'
            )

    def _bad_problems(self) -> list[Problem]:
        if not self._stop or not self._bad_rows:
            return []
        more = self._bad_rows - len(self._bad)
        if not more:
            return list(self._bad)
        least = "at least " if self._bad_rows >= PROBLEMS_COUNTED else ""
        last = Problem("bad_row", self._ways.source.label, f"and {least}{more} more bad rows", 'to leave them out, counted: [data] on_bad_row = "skip"')
        return [*self._bad, last]

    def _nothing(self, filtered: int) -> Problem:
        label = self._ways.source.label
        selection = self._ways.selection
        if filtered and selection.where:
            return Problem("no_rows", label, f"0 rows: none of {filtered} meets {selection.described()}", "metrics check shows the columns and what they hold")
        if filtered:
            return Problem("no_rows", label, f"0 rows: --limit {selection.limit} leaves none of {filtered}", "give a limit from 1")
        if self._bad_rows:
            return Problem("no_rows", label, f"0 rows: all {self._bad_rows} are bad rows, left out", 'on_bad_row = "stop" says what is wrong with them')
        return Problem("no_rows", label, "0 rows: the dataset is empty")

    def _repeated_ids(self, repeated_tasks: array[int]) -> list[Problem]:
        """Ids that stand twice, with both lines. Hashes say that there are some; a further pass finds them."""
        again = set(self._ids.repeated())
        if again:
            return list(_twice(self._ways, lambda one: one.identity.id if hash(one.identity.id) in again else None, _said_own))
        all_own = len(self._ids) == len(self._tasks)
        mixed = 0 < len(self._pairs) < len(self._tasks) and len(repeated_tasks) > 0
        if all_own or not (mixed or self._pairs.repeated()):
            return []
        occurrences = Occurrences(repeated_tasks)
        return list(_twice(self._ways, lambda one: None if one.identity.id is not None else _record(one, occurrences).id, _said_derived))

    # ------------------------------------------------------------ what is told

    def _available(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for names, rows in self._shapes.items():
            for name in names:
                counts[name] += rows
        return {name: counts[name] for name in FIELDS if counts[name]}

    def _mapping(self, available: Mapping[str, int]) -> Iterator[dict[str, Any]]:
        decided = self._ways.decided
        yield from self._ways.columns.entries(decided)
        messages = decided.of("messages")
        if messages is None or "messages" not in available:
            return
        for name, how in DERIVED_FIELDS.items():
            own = decided.of(name)
            if name in available and (own is None or (own.path is None and not self._ways.columns.seen[own.column].filled)):
                yield {"field": name, "column": messages.column, "how": "derived", "note": how, "samples": []}

    def _notes(self, repeated: int) -> Iterator[str]:
        if self._bad_rows:
            yield f'{self._bad_rows} bad rows were left out (on_bad_row = "skip")'
        if repeated and len(self._pairs) < len(self._tasks):
            yield f"{repeated} tasks occur more than once: the rows of a task are its trials, numbered in their order"
        again = len(self._pairs.repeated())
        if again:
            yield f"{again} pairs of task and trial occur more than once; rows of one task are averaged. To take one system: --where COLUMN=VALUE"
        if self._ways.columns.more:
            yield "there are more columns than are listed; all are metadata"
        for field in self._lined.found():
            binding = self._ways.decided.of(field)
            column = binding.column if binding is not None else field
            yield f'{field}: every row is one passage with line breaks; to split it: [data.columns] {field} = {{ from = "{column}", split = "\\n" }}'


def _said_own(name: str) -> tuple[str, str]:
    return f"the id '{name}' is there twice", "an id names one row; is the column the task? --column task=COLUMN"


def _said_derived(name: str) -> tuple[str, str]:
    return f"two rows have the same task and trial ('{name}')", "give each row an id: --column id=COLUMN; or take one system: --where COLUMN=VALUE"


def _twice(ways: Ways, name_of: Callable[[Selected], str | None], said: Callable[[str], tuple[str, str]]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    shown = 0
    more = 0
    for one in Pass(ways).rows(count_all=False):
        name = name_of(one)
        if name is None:
            continue
        if name not in first:
            first[name] = one.row.where
            continue
        if shown == PROBLEMS_SHOWN:
            more += 1
            continue
        shown += 1
        message, hint = said(name)
        yield Problem("duplicate_id", one.row.where, f"{message}, first at {first[name]}", hint)
    if more:
        yield Problem("duplicate_id", ways.source.label, f"and {more} more rows like this")


class _OnePassage:
    """Whether every row's passages are one text with line breaks: most likely several passages in one cell, which is worth a word."""

    def __init__(self) -> None:
        self._rows = {"contexts": 0, "reference_contexts": 0}
        self.possible = True

    def see(self, fields: Mapping[str, Any]) -> None:
        """Takes note of a row."""
        for name in list(self._rows):
            passages = fields.get(name)
            if passages is None:
                continue
            if type(passages) is list and len(passages) == 1 and type(passages[0]) is Context and "\n" in (passages[0].text or "").strip():
                self._rows[name] += 1
            else:
                del self._rows[name]
                self.possible = bool(self._rows)

    def found(self) -> Iterator[str]:
        """The fields of which it is so."""
        return (name for name, rows in self._rows.items() if rows)
