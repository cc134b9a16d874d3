"""Connections: SQLite's settings, the temporary store, PostgreSQL's driver, transactions that write."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool, StaticPool

from measurand.run.store.dialect import DIALECTS, Dialect
from measurand.run.store.faults import LOCK_WAIT_S
from measurand.run.store.place import Place, cannot_open

_PRAGMAS: Final = (
    "PRAGMA secure_delete = ON",  # deleted texts are overwritten, not only unlinked
    # With a write-ahead log NORMAL survives the death of the process; only the death of the machine can lose the last second, never more.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cache_size = -512",  # kilobytes for each connection: rows are written and read in order, so that a larger cache holds what nobody asks for again
)


def connect(place: Place, *, immutable: bool = False) -> Engine:
    """An engine for the place; nothing is opened yet. `immutable`: a file on a medium that cannot be written."""
    if place.url.get_backend_name() == "postgresql":
        return _postgresql(place)
    return _temporary() if place.path is None else _sqlite(place, immutable=immutable)


def dialect_of(engine: Engine) -> Dialect:
    """The differences of this engine's database."""
    return DIALECTS[engine.dialect.name]


_TURNS: Final[weakref.WeakKeyDictionary[Engine, threading.RLock]] = weakref.WeakKeyDictionary()


def turn(engine: Engine) -> contextlib.AbstractContextManager[Any]:
    """Held by whoever writes. A temporary store has one connection for all threads, whose transactions must not run into each other."""
    return _TURNS.get(engine) or contextlib.nullcontext()


@contextlib.contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes: committed at the end of the block, undone when it raises."""
    with turn(engine), engine.connect() as connection:
        dialect_of(engine).begin_write(connection)
        yield connection
        connection.commit()


def _sqlite(place: Place, *, immutable: bool) -> Engine:
    path = place.path
    assert path is not None

    def opened() -> sqlite3.Connection:
        if immutable:
            return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False)
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=LOCK_WAIT_S, isolation_level=None, check_same_thread=False)
        _use_write_ahead_log(connection)
        return connection

    engine = create_engine("sqlite://", creator=opened, poolclass=QueuePool)
    event.listen(engine, "connect", _set_pragmas)
    return engine


class _OneForAllThreads(sqlite3.Connection):
    """A connection on which a thread that only read undoes nothing that another one is writing."""

    turn: threading.RLock

    def rollback(self) -> None:
        if self.turn.acquire(blocking=False):
            try:
                super().rollback()
            finally:
                self.turn.release()


def _temporary() -> Engine:
    mine = threading.RLock()

    def opened() -> sqlite3.Connection:
        # The empty name is a database of this connection alone, in memory until it grows, then in an unnamed file.
        connection = sqlite3.connect("", isolation_level=None, check_same_thread=False, factory=_OneForAllThreads)
        connection.turn = mine
        return connection

    engine = create_engine("sqlite://", creator=opened, poolclass=StaticPool)
    _TURNS[engine] = mine
    event.listen(engine, "connect", _set_pragmas)
    return engine


def _set_pragmas(connection: Any, _record: Any) -> None:
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Readers and a writer at once. SQLite does not wait for the lock this needs once in a file's life, so we do."""
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname == "SQLITE_READONLY":
                return  # readable all the same; a write will say so
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                connection.close()
                raise
        except sqlite3.Error:
            connection.close()
            raise
        time.sleep(0.02)


def _postgresql(place: Place) -> Engine:
    try:
        return create_engine(place.url, connect_args={"connect_timeout": 10, "application_name": "measurand"}, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise cannot_open(f"a PostgreSQL store needs the driver {error.name}: python -m pip install 'measurand[postgres]'") from error
