"""Rows one by one as they arrive, for a filter in a pipe: nothing is known of the rows that come later."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from measurand.core.errors import DataError, Problem
from measurand.core.record import Record
from measurand.data.columns import Columns, Wanted, named_columns, unfound_problems
from measurand.data.dataset import RecordRow
from measurand.data.fields import BadValueError, FieldReader, MappingChangedError
from measurand.data.identity import NoTaskPartError, identify
from measurand.data.rows import BadRow, Row
from measurand.data.source import Source


def stream(source: Source, *, columns: Wanted = (), on_bad: Callable[[BadRow], None] | None = None) -> Iterator[RecordRow]:
    """Records in input order, one pass. The mapping follows the columns that have come up so far; values that do not fit an alias end its use from there on.

    A row without id has its task as id (its trial is its own or 0), a row without task part its order number. `on_bad` is called with each bad row; without
    it the first one raises `DataError`. At the end a column that was named and never came up raises `DataError`.
    """
    seen = Columns(named_columns(columns))
    reader = FieldReader(seen, seen.decide())
    ordinal = 0
    for position, row in enumerate(source.rows(), 1):
        if isinstance(row, BadRow):
            _report(row, on_bad)
            continue
        try:
            reader, record, hashes = _recorded(row, position, seen, reader)
        except BadValueError as error:
            _report(BadRow(row.source, row.line, error.message, error.hint, row.unit), on_bad)
            continue
        yield RecordRow(ordinal, record, hashes, row)
        ordinal += 1
    unfound = list(unfound_problems(seen.decide(), seen))
    if unfound and ordinal:
        raise DataError(unfound)


def _report(bad: BadRow, on_bad: Callable[[BadRow], None] | None) -> None:
    if on_bad is None:
        raise DataError(Problem("bad_row", bad.where, bad.message, bad.hint))
    on_bad(bad)


def _recorded(row: Row, position: int, seen: Columns, reader: FieldReader) -> tuple[FieldReader, Record, dict[str, str]]:
    if any(seen.matters(name) for name in row.values):
        seen.see(row.values, row.where, row.cells)
        reader = FieldReader(seen, seen.decide())
    while True:
        try:
            fields = reader.fields(row)
        except MappingChangedError:
            reader = FieldReader(seen, seen.decide())
            continue
        try:
            own, task, trial, hashes = identify(fields, position, False)
        except NoTaskPartError:
            own, task, trial, hashes = identify(fields, position, True)
        return reader, Record(own or task, task, trial or 0, fields), hashes
