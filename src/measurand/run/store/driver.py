"""Statements straight to the driver, where a statement through SQLAlchemy would cost several times what it does: the record of calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from measurand.run.store.dialect import DIALECTS, Dialect

T = TypeVar("T")

_PARAMETERS: Final = 500  # of one statement; SQLite takes 999 in its older versions


class Driver:
    """The driver's connection under a SQLAlchemy one, in the same transaction. Raises what SQLAlchemy would."""

    __slots__ = ("_error", "_raw", "dialect", "place")

    def __init__(self, connection: Connection) -> None:
        self.dialect: Dialect = DIALECTS[connection.dialect.name]
        self.place = self.dialect.place
        """Stands for one parameter."""
        self._raw: Any = connection.connection.driver_connection
        self._error: Any = connection.dialect.dbapi.Error if connection.dialect.dbapi is not None else DBAPIError

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        try:
            found: list[tuple[Any, ...]] = self._raw.execute(statement, values).fetchall()
        except self._error as error:
            raise DBAPIError(statement, None, error) from error
        return found

    def do(self, statement: str, values: Sequence[Any] = ()) -> None:
        """A statement without an answer."""
        try:
            self._raw.execute(statement, values)
        except self._error as error:
            raise DBAPIError(statement, None, error) from error

    def insert(self, into: str, rows: Sequence[Sequence[Any]], on_conflict: str = "") -> None:
        """Insert rows, many in one statement: each statement lets other threads run, and waits until it may go on."""
        if not rows:
            return
        places = f"({self.places(len(rows[0]))})"
        for some in in_groups(rows, _PARAMETERS // len(rows[0])):
            self.do(f"INSERT INTO {into} VALUES {', '.join([places] * len(some))} {on_conflict}", [value for row in some for value in row])  # noqa: S608  # our own names

    def commit(self) -> None:
        """End the transaction."""
        try:
            self._raw.commit()
        except self._error as error:
            raise DBAPIError("COMMIT", None, error) from error

    def rollback(self) -> None:
        """Undo the transaction. Not possible any more: then there is none."""
        try:
            self._raw.rollback()
        except self._error:
            return

    def places(self, count: int) -> str:
        """So many parameters."""
        return ", ".join([self.place] * count)


def in_groups(values: Iterable[T], size: int = _PARAMETERS) -> Iterator[tuple[T, ...]]:
    """The values in groups that are not too large for one statement."""
    rest = iter(values)
    while group := tuple(islice(rest, size)):
        yield group
