"""A run's results in other forms. The form `run` is the store's own (`run/store/runfile_write.py`)."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Final, cast

from attrs import evolve

from measurand.core.errors import Problem, UsageError
from measurand.core.result import MetricResult
from measurand.run.results import FLAT_COLUMNS, flat_row, stored_results
from measurand.run.store import StoredRun, write_run
from measurand.run.whole_file import whole_file

FORMATS: Final = ("run", "jsonl", "csv", "parquet")
BINARY: Final = ("run", "parquet")
LATER: Final = ("ragas", "deepeval", "otel", "inspect")
_SUFFIXES: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet", ".run": "run"}
_PACKED: Final = ".gz"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_QUOTED_BREAKS: Final = "\r\n"  # with it, the csv module quotes cells that hold either; lines themselves end in \n
_GROUP: Final = 2_000


def format_for(path: Path | None, given: str | None) -> str:
    """The format: as given, else by the suffix (also before .gz), else jsonl. Raises `UsageError` for one that is not written."""
    if given in LATER:
        raise UsageError(Problem("not_available", "--format", f"'{given}' is not written by this version", f"there are {', '.join(FORMATS)}"))
    if given is not None:
        return given
    if path is None:
        return "jsonl"
    name = path.name.lower().removesuffix(_PACKED)
    for suffix, form in _SUFFIXES.items():
        if name.endswith(suffix) and not (form == "parquet" and path.name.lower().endswith(_PACKED)):
            return form
    raise UsageError(
        Problem("unknown_suffix", "-o", f"'{path.name}' has no suffix that tells the format", "end it in .jsonl, .csv, .parquet or .run, or give --format")
    )


def export(run: StoredRun, path: Path | None, form: str, stream: IO[bytes], *, content: bool = True) -> None:
    """Writes the run to the file, which appears whole or not at all, or to the stream. Raises `UsageError` for a file that cannot be written."""
    if path is None:
        _write(run, stream, form, content=content)
        return
    with whole_file(path, "-o") as file:
        if path.name.lower().endswith(_PACKED) and form not in BINARY:
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                _write(run, cast("IO[bytes]", packed), form, content=content)
        else:
            _write(run, file, form, content=content)


def _write(run: StoredRun, stream: IO[bytes], form: str, *, content: bool) -> None:
    if form == "run":
        write_run(run, stream, content=content)
        return
    write = {"csv": _csv, "parquet": _parquet}.get(form, _jsonl)
    write(_results(run, content=content), stream)


def _results(run: StoredRun, *, content: bool) -> Iterator[MetricResult]:
    """Without content: neither details nor draws nor the wording of errors, all of which may quote the row."""
    for result in stored_results(run):
        if content:
            yield result
        else:
            error = result.error
            yield evolve(result, details={}, draws=None, error=None if error is None else evolve(error, message=f"{error.code} (exported without content)"))


def _jsonl(results: Iterator[MetricResult], stream: IO[bytes]) -> None:
    for result in results:
        stream.write(json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace") + b"\n")


def _csv(results: Iterator[MetricResult], stream: IO[bytes]) -> None:
    lines: list[str] = []
    writer = csv.DictWriter(SimpleNamespace(write=lines.append), FLAT_COLUMNS, lineterminator=_QUOTED_BREAKS)
    writer.writeheader()
    for group in chain(_groups(results), [[]]):
        writer.writerows({name: _harmless(value) for name, value in row.items()} for row in group)
        stream.write("".join(f"{line.removesuffix(_QUOTED_BREAKS)}\n" for line in lines).encode("utf-8", "backslashreplace"))
        lines.clear()


def _harmless(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _parquet(results: Iterator[MetricResult], stream: IO[bytes]) -> None:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(Problem("not_installed", "--format parquet", "pyarrow is not installed", "python -m pip install 'measurand[parquet]'")) from None
    integers = dict.fromkeys(("trial", "calls", "input_tokens", "output_tokens"), arrow.int64())
    numbers = dict.fromkeys(("score", "threshold", "cost_usd"), arrow.float64())
    types = {**integers, **numbers, "passed": arrow.bool_()}
    schema = arrow.schema([(name, types.get(name, arrow.string())) for name in FLAT_COLUMNS])
    with parquet.ParquetWriter(stream, schema) as writer:
        for group in _groups(results):
            writer.write_table(arrow.Table.from_pylist([_encodable(row) for row in group], schema=schema))


def _encodable(row: dict[str, Any]) -> dict[str, Any]:
    """Halves of characters, which Parquet has none of, as escapes."""
    return {name: value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value for name, value in row.items()}


def _groups(results: Iterator[MetricResult]) -> Iterator[list[dict[str, Any]]]:
    while group := [flat_row(result) for result in islice(results, _GROUP)]:
        yield group
