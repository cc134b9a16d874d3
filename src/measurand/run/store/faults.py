"""What a database driver reports, as one sentence: what happened, what is safe, what to do."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Final

from sqlalchemy.exc import DBAPIError

from measurand.core.errors import StoreError
from measurand.run.store.place import Place, cannot_open

LOCK_WAIT_S: Final = 30

_ELSEWHERE = "or name another place with [run] store or --set run.store"

_SQLITE: Final[dict[str, str]] = {
    "SQLITE_FULL": "the disk is full: {store} could not take the last rows; all before them is stored. Free some space, then type the same command again",
    "SQLITE_IOERR": "{store} could not be read or written ({detail}; is the disk full?); all rows of earlier groups are stored. Then type the same command again",
    "SQLITE_READONLY": "{store} is read-only; make it and its folder writable " + _ELSEWHERE,
    "SQLITE_CANTOPEN": "{store} cannot be opened or its folder not written; make both writable " + _ELSEWHERE,
    "SQLITE_PERM": "{store} may not be written; make it writable " + _ELSEWHERE,
    "SQLITE_BUSY": f"{{store}} was locked by another process for {LOCK_WAIT_S} s; wait for that process to end, then type the same command again",
    "SQLITE_LOCKED": "{store} is in use by another reader of this process; end it first",
    "SQLITE_NOTADB": "{store} is no SQLite database; move it away " + _ELSEWHERE,
    "SQLITE_CORRUPT": "{store} is damaged ({detail}); move it away and keep it: `sqlite3 FILE .recover` may save its rows",
    "SQLITE_CONSTRAINT": "{store} refused a row ({detail}): a row stored twice, or a score that is no finite number",
}


def _sqlite_sentence(error: sqlite3.Error, place: Place) -> str | None:
    name: str = getattr(error, "sqlite_errorname", "") or ""
    for primary, sentence in _SQLITE.items():
        if name == primary or name.startswith(primary + "_"):  # extended codes: SQLITE_IOERR_WRITE
            return sentence.format(store=f"the store {place.shown}" if not place.temporary else place.shown, detail=str(error))
    return None


def _sentence(error: BaseException, place: Place) -> str:
    if isinstance(error, sqlite3.Error):
        known = _sqlite_sentence(error, place)
        if known is not None:
            return known
    detail = (str(error).strip() or type(error).__name__).splitlines()[0]
    password = place.url.password
    return f"the store {place.shown} failed: {detail.replace(str(password), '***') if password else detail}"


@contextlib.contextmanager
def told(place: Place, *, spent: bool = True) -> Iterator[None]:
    """Turn a driver's error into a StoreError; with `spent=False` into one that exits 2, as nothing was paid yet."""
    try:
        yield
    except (DBAPIError, sqlite3.Error, OverflowError) as error:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        sentence = _sentence(cause, place)
        raise (StoreError(sentence) if spent else cannot_open(sentence)) from error
