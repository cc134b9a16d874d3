"""Parquet, by the extra `parquet`: batches of rows as native JSON values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from measurand.core.errors import DataError, Problem
from measurand.data.native import native
from measurand.data.rows import BadRow, ReadOptions, Row, row_of

if TYPE_CHECKING:
    from types import ModuleType

MAX_UNZIPPED_BYTES: Final = 1_000_000_000
_BATCH: Final = 256
_PIECE: Final = 1 << 20


def read_parquet(stream: BinaryIO, path: Path, label: str, options: ReadOptions) -> Iterator[Row | BadRow]:
    """Rows of a file, numbered from 1. Raises `DataError` when it is no Parquet file or the extra is not installed."""
    parquet = _pyarrow_parquet(label)
    with _seekable(stream, path, label) as file:
        try:
            table = parquet.ParquetFile(file)
            _refuse_twice(table.schema_arrow.names, label)
            number = 0
            for batch in table.iter_batches(batch_size=_BATCH):
                for values in batch.to_pylist(maps_as_pydicts="strict"):
                    number += 1
                    yield row_of(label, number, "row", native(values), options)
        except (OSError, ValueError, KeyError, NotImplementedError) as error:
            raise DataError(Problem("bad_parquet", label, f"it cannot be read as Parquet: {str(error).splitlines()[0][:200]}")) from None


def _pyarrow_parquet(label: str) -> ModuleType:
    try:
        import pyarrow.parquet
    except ImportError:
        raise DataError(Problem("not_installed", label, "reading Parquet needs pyarrow", "python -m pip install 'measurand[parquet]'")) from None
    module: ModuleType = pyarrow.parquet
    return module


def _refuse_twice(names: list[str], label: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(Problem("duplicate_column", label, f"the columns {', '.join(twice[:5])} are there twice", "give each column its own name"))


@contextmanager
def _seekable(stream: BinaryIO, path: Path, label: str) -> Iterator[Any]:
    """Parquet is read from its end: a gzipped file is unpacked into a temporary one, up to a limit."""
    with path.open("rb") as plain:
        if plain.read(2) != b"\x1f\x8b":
            plain.seek(0)
            yield plain
            return
    with tempfile.TemporaryFile() as unpacked:
        size = 0
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > MAX_UNZIPPED_BYTES:
                raise DataError(
                    Problem("too_large", label, f"it unpacks to more than {MAX_UNZIPPED_BYTES} bytes", "Parquet compresses itself: leave out the gzip")
                )
            unpacked.write(piece)
        unpacked.seek(0)
        yield unpacked
