"""A file that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from measurand.core.errors import Problem, UsageError


@contextmanager
def whole_file(path: Path, where: str) -> Iterator[IO[bytes]]:
    """Written beside its place and moved there when it is whole; a device or a pipe takes what comes.

    Raises `UsageError` for one that cannot be written; `where` is the option that named it.
    """
    try:
        yield from _written(path)
    except OSError as error:
        raise UsageError(Problem("cannot_write", where, f"{path} cannot be written: {(error.strerror or str(error)).lower()}")) from error


def _written(path: Path) -> Iterator[IO[bytes]]:
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
