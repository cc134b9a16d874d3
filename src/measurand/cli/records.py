"""Recorded calls beside the store, as `run` and `check` are told of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from measurand.cli.reading import confine
from measurand.core.errors import Problem, UsageError

if TYPE_CHECKING:
    from measurand.run.cassette import Cassette

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: Final = (
    click.option("--cassette", metavar="FILE", help="Recorded replies laid under the store, read-only."),
    click.option("--trust-imported", is_flag=True, help="Also reuse imported replies outside replay."),
)


def record_options(function: F) -> F:
    """The options that say which recorded replies there are beside the store's own."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@contextmanager
def opened_cassette(path: str | None) -> Iterator[Cassette | None]:
    """The cassette that was named, None where none was. Raises `UsageError` for a file that is not there, `DataError` for one that is damaged."""
    if path is None:
        yield None
        return
    confine(path, "--cassette")
    if not Path(path).is_file():
        raise UsageError(Problem("no_such_file", "--cassette", f"there is no file '{path}'", "metrics cache export FILE writes one"))
    from measurand.run.cassette import Cassette

    cassette = Cassette(Path(path))
    try:
        yield cassette
    finally:
        cassette.close()
