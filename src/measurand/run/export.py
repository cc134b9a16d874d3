"""A run's results in other forms. The form `run` is the store's own (`run/store/runfile.py`)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from measurand.core.errors import Problem, UsageError
from measurand.run.results import FLAT_COLUMNS, flat_row, stored_results
from measurand.run.store import StoredRun, export_run, write_run

FORMATS: Final = ("run", "jsonl", "csv", "parquet")
LATER: Final = ("ragas", "deepeval", "otel", "inspect")
_SUFFIXES: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".parquet": "parquet", ".run": "run", ".gz": "run"}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_GROUP: Final = 10_000


def format_for(path: Path | None, given: str | None) -> str:
    """The format: as given, else by the suffix, else jsonl. Raises `UsageError` for one that is not written."""
    if given in LATER:
        raise UsageError(Problem("not_available", "--format", f"'{given}' is not written by this version", f"there are {', '.join(FORMATS)}"))
    if given is not None:
        return given
    if path is None:
        return "jsonl"
    for suffix, name in _SUFFIXES.items():
        if path.name.endswith(suffix):
            return name
    raise UsageError(
        Problem("unknown_suffix", "-o", f"'{path.name}' has no suffix that tells the format", "end it in .jsonl, .csv, .parquet or .run, or give --format")
    )


def export(run: StoredRun, path: Path | None, form: str, stream: IO[bytes], *, content: bool = True) -> None:
    """Writes the run to the file, or to the stream. Raises `UsageError` when Parquet has no file or pyarrow is missing."""
    if form == "run":
        write_run(run, stream, content=content) if path is None else export_run(run, path, content=content)
        return
    if form == "parquet":
        _parquet(run, path, content=content)
        return
    write = _csv if form == "csv" else _jsonl
    if path is None:
        write(run, stream, content=content)
        return
    with open(path, "wb") as file:
        write(run, file, content=content)


def _jsonl(run: StoredRun, stream: IO[bytes], *, content: bool) -> None:
    for result in stored_results(run):
        line = result.to_dict()
        if not content:
            line["details"] = {}
        stream.write(json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace") + b"\n")


def _csv(run: StoredRun, stream: IO[bytes], *, content: bool) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)
    writer = csv.DictWriter(text, FLAT_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in _flat(run, content=content):
        writer.writerow({name: _harmless(value) for name, value in row.items()})
    text.flush()
    text.detach()


def _harmless(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _parquet(run: StoredRun, path: Path | None, *, content: bool) -> None:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(Problem("not_installed", "--format parquet", "pyarrow is not installed", "python -m pip install 'measurand[parquet]'")) from None
    if path is None:
        raise UsageError(Problem("needs_file", "--format parquet", "Parquet is not written to standard output", "give -o FILE.parquet"))
    numbers = {"trial": arrow.int64(), "score": arrow.float64(), "threshold": arrow.float64(), "passed": arrow.bool_()}
    schema = arrow.schema([(name, numbers.get(name, arrow.string())) for name in FLAT_COLUMNS])
    rows = _flat(run, content=content)
    with parquet.ParquetWriter(path, schema) as writer:
        while group := list(islice(rows, _GROUP)):
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))


def _flat(run: StoredRun, *, content: bool) -> Iterator[dict[str, Any]]:
    for result in stored_results(run):
        row = flat_row(result)
        yield row if content else {**row, "details": None, "error_message": None}
