"""Where a store is: its URL, its folder and files, and how a message names it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from attrs import frozen
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from measurand.core.errors import Problem, StoreError, UsageError

OURS_BY_NAME: Final = ".metrics"
TEMPORARY: Final = "sqlite://"
"""The URL of a store of this process alone (`evaluate()` without one)."""

ALLOWED: Final = 'allowed: "sqlite:///path/to/store.db" or "postgresql+psycopg://user@host/database"'


def cannot_open(sentence: str) -> StoreError:
    """A StoreError from before anything was spent: exit 2 (interface.md, exit codes)."""
    error = StoreError(sentence)
    error.exit_code = 2
    return error


@frozen
class Place:
    """A parsed store URL. `path` is None for PostgreSQL and for the temporary store."""

    url: URL
    path: Path | None

    @property
    def temporary(self) -> bool:
        """A SQLite database of this process alone; it spills to an unnamed file when large and is gone with the process."""
        return self.url.get_backend_name() == "sqlite" and self.path is None

    @property
    def shown(self) -> str:
        """How messages name it: a path relative to the working directory where it lies in it; a URL without its password."""
        if self.path is not None:
            return shown_path(self.path)
        return "the temporary store" if self.temporary else self.url.render_as_string(hide_password=True)

    @property
    def log(self) -> Path | None:
        """SQLite's write-ahead log beside the file."""
        return None if self.path is None else self.path.with_name(self.path.name + "-wal")


def shown_path(path: Path | str) -> str:
    """The path relative to the working directory where it lies in it."""
    try:
        return str(Path(path).absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def parse_place(url: str) -> Place:
    """The place a store URL means. UsageError for anything but SQLite and PostgreSQL."""
    scheme, colon, rest = url.partition("://")
    if colon and scheme in ("sqlite", "sqlite+pysqlite"):
        return _sqlite_place(url, rest)
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise _bad("the store's URL cannot be read") from None
    if parsed.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise _bad(f"no store can be kept in {parsed.drivername!r}")
    return Place(parsed.set(drivername="postgresql+psycopg"), None)


def _sqlite_place(url: str, rest: str) -> Place:
    # What follows the third slash is a path as it stands: a folder may be named "100%41", which a URL parser would decode.
    slash, path = rest[:1], rest[1:]
    if path in ("", ":memory:") and slash in ("", "/"):
        return Place(URL.create("sqlite"), None)
    if slash != "/":
        raise _bad(f"{url!r} names a host", "an absolute path has four slashes: sqlite:////var/lib/metrics/store.db")
    if "?" in path or "\0" in path or path.startswith("file:"):
        raise _bad(f"{url!r} is more than a path")
    return Place(URL.create("sqlite", database=path), Path(path))


def _bad(message: str, hint: str = ALLOWED) -> UsageError:
    return UsageError(Problem("bad_store", "[run] store", message, hint))


def private_folder(folder: Path) -> None:
    """Make a folder for the owner alone that git ignores. One that exists stays as it is, but `.metrics` gets its `.gitignore`. OSError."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another process may be doing the same; a file in its place is told below
            folder.mkdir(mode=0o700)
        if not folder.is_dir():
            raise NotADirectoryError(20, "Not a directory", str(folder))
    elif folder.name != OURS_BY_NAME:
        return
    with contextlib.suppress(OSError), (folder / ".gitignore").open("x") as ignore:
        ignore.write("*\n")


def make_file(path: Path) -> None:
    """Make the folder and an empty database file that only its owner can read. StoreError says what is in the way."""
    try:
        private_folder(path.parent)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        what = shown_path(error.filename) if error.filename else shown_path(path)
        raise cannot_open(
            f"the store {shown_path(path)} cannot be made: {what}: {(error.strerror or str(error)).lower()}; "
            f"make it writable or name another place with [run] store or --set run.store"
        ) from error
    if path.is_dir():
        raise cannot_open(f"the store {shown_path(path)} is a folder; [run] store takes a file, e.g. sqlite:///{shown_path(path / 'store.db')}")
