"""One pass over the selected rows of a source: what both passes, and the search for duplicates, have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from attrs import frozen

from measurand.data.columns import ColumnMap, Columns
from measurand.data.fields import BadValueError, FieldReader
from measurand.data.identity import Identity, NoTaskPartError, identify
from measurand.data.rows import BadRow, Row
from measurand.data.selection import Matcher, Selection
from measurand.data.source import Source


class Selected(NamedTuple):
    """A selected row with its fields and what it is."""

    row: Row
    fields: dict[str, Any]
    identity: Identity


@frozen
class Ways:
    """How a dataset is read, the same in every pass."""

    source: Source
    columns: Columns
    decided: ColumnMap
    selection: Selection
    id_order: bool


def ignore(_row: Row | BadRow) -> None:
    """What later passes do with rows that the first pass has judged: had it judged otherwise, the fingerprint would differ."""


class Pass:
    """A pass in progress. `bad` is told of rows that cannot be read, `nameless` of rows that nothing tells from others.

    `filtered` rows were left out by the selection so far; `matcher` knows which conditions name something.
    """

    def __init__(self, ways: Ways, bad: Callable[[BadRow], None] = ignore, nameless: Callable[[Row], None] = ignore) -> None:
        self._ways = ways
        self._bad = bad
        self._nameless = nameless
        self.filtered = 0
        self.matcher = Matcher(ways.selection.where)

    def rows(self, *, count_all: bool) -> Iterator[Selected]:
        """The selected rows. `count_all`: rows beyond the limit are still read and counted."""
        ways = self._ways
        read = FieldReader(ways.columns, ways.decided).fields
        limit = ways.selection.limit
        matcher = self.matcher or None
        taken = 0
        if limit == 0 and not count_all:
            return
        for position, row in enumerate(ways.source.rows(), 1):
            if type(row) is BadRow:
                self._bad(row)
                continue
            assert type(row) is Row
            if limit is not None and taken >= limit:
                self.filtered += 1
                continue
            try:
                fields = read(row)
                identity = identify(fields, position, ways.id_order)
            except BadValueError as error:
                self._bad(BadRow(row.source, row.line, error.message, error.hint, row.unit))
                continue
            except NoTaskPartError:
                self._nameless(row)
                continue
            if matcher is not None and not matcher.matches(row, fields, identity):
                self.filtered += 1
                continue
            taken += 1
            yield Selected(row, fields, identity)
            if taken == limit and not count_all:
                return
