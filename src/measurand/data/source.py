"""Where rows come from. A source is cheap to open and gives a fresh pass whenever it is asked, so nothing has to be held."""

from __future__ import annotations

import os
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from measurand.core.errors import DataError, Problem, did_you_mean
from measurand.data.document import read_document
from measurand.data.jsonl import read_jsonl
from measurand.data.lines import decompressed, known_encoding, open_binary, reading
from measurand.data.memory import rows_in_memory
from measurand.data.paths import File, files_of
from measurand.data.rows import FORMATS, BadRow, ReadOptions, Row
from measurand.data.tables import read_table

__all__ = ["BadRow", "ReadOptions", "Row", "Source", "open_source", "spool"]

Pass = Callable[[], Iterator[Row | BadRow]]

_PIECE = 1 << 20


class Source:
    """Rows that can be read again and again. `label` is what was asked for, `files` are the files it means (none for rows in memory)."""

    def __init__(self, label: str, files: Sequence[str], passes: Sequence[Pass]) -> None:
        self.label = label
        self.files = tuple(files)
        self._passes = tuple(passes)

    def rows(self) -> Iterator[Row | BadRow]:
        """A fresh pass. Raises `DataError` for what concerns a file as a whole."""
        for one in self._passes:
            yield from one()

    def again(self) -> Source:
        """A source that can be read more than once: itself."""
        return self


class StreamSource(Source):
    """Standard input: one pass, as it arrives."""

    def __init__(self, stream: BinaryIO, options: ReadOptions) -> None:
        self._stream = stream
        self._options = options
        self._read = False
        super().__init__("-", (), ())

    def rows(self) -> Iterator[Row | BadRow]:
        """The one pass that there is."""
        if self._read:
            raise DataError(Problem("read_twice", "-", "standard input can be read only once", "write the rows to a file"))
        self._read = True
        with reading("-"):
            yield from _read(decompressed(self._stream), None, "-", self._options.format or "jsonl", self._options)

    def again(self) -> Source:
        """The same rows from a private temporary file, which is removed with the source that is returned."""
        self._read = True
        path = spool(self._stream)
        file = File(path, "-", self._options.format or "jsonl")
        kept = Source("-", ("-",), (_pass_over(file, self._options),))
        weakref.finalize(kept, path.unlink, missing_ok=True)
        return kept


def open_source(
    data: str | Path | Sequence[str | Path] | Iterable[Mapping[str, Any]] | Any,
    options: ReadOptions | None = None,
    base: Path | None = None,
    *,
    stdin: BinaryIO | None = None,
) -> Source:
    """The rows of a path, a glob, a list of them, `-` (standard input), mappings, or a pandas or polars frame.

    Relative paths are looked up from `base`. Raises `DataError` with every file that cannot be read, before any is.
    """
    options = options or ReadOptions()
    problems = list(_wrong_options(options))
    names = _path_names(data)
    if names == ["-"]:
        if problems:
            raise DataError(problems)
        return StreamSource(stdin or sys.stdin.buffer, options)
    if names is None:
        if problems:
            raise DataError(problems)
        label, one = rows_in_memory(data, options)
        return Source(label, (), (one,))
    base = base or Path.cwd()
    files, wrong = files_of(names, base, options.format)
    problems += wrong
    if problems:
        raise DataError(problems)
    return Source(", ".join(str(name) for name in names), [file.label for file in files], [_pass_over(file, options) for file in files])


def spool(stream: BinaryIO) -> Path:
    """A stream's bytes in a temporary file that only this user can read; the caller removes it."""
    handle, name = tempfile.mkstemp(prefix="measurand-")
    with os.fdopen(handle, "wb") as file:
        while piece := stream.read(_PIECE):
            file.write(piece)
    return Path(name)


def _path_names(data: Any) -> list[str | Path] | None:
    if isinstance(data, (str, Path)):
        return [data]
    if isinstance(data, (list, tuple)) and data and all(isinstance(one, (str, Path)) for one in data):
        return list(data)
    return None


def _wrong_options(options: ReadOptions) -> Iterator[Problem]:
    encoding = known_encoding(options.encoding)
    if encoding is not None:
        yield encoding
    if options.delimiter is not None and (len(options.delimiter) != 1 or options.delimiter in '"\r\n'):
        yield Problem("bad_delimiter", "[data] delimiter", f"{options.delimiter!r} cannot part cells", 'it is one character, e.g. ";" or "\\t"')
    if options.format is not None and options.format not in FORMATS:
        yield Problem(
            "unknown_format", "[data] format", f"'{options.format}' is no format", did_you_mean(options.format, FORMATS) or f"it is one of {', '.join(FORMATS)}"
        )


def _pass_over(file: File, options: ReadOptions) -> Pass:
    def rows() -> Iterator[Row | BadRow]:
        with reading(file.label), open_binary(file.path) as stream:
            yield from _read(stream, file.path, file.label, file.format, options)

    return rows


def _read(stream: BinaryIO, path: Path | None, label: str, format: str, options: ReadOptions) -> Iterator[Row | BadRow]:
    if format == "jsonl":
        return read_jsonl(stream, label, options)
    if format == "json":
        return read_document(stream, label, options)
    if format == "parquet":
        if path is None:
            raise DataError(Problem("unknown_format", label, "Parquet cannot be read from a pipe", "name the file"))
        from measurand.data.parquet import read_parquet

        return read_parquet(stream, path, label, options)
    return read_table(stream, label, options, "\t" if format == "tsv" else ",")
