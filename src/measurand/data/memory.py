"""Rows that are in memory already: mappings, a pandas or a polars frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from measurand.core.errors import DataError, Problem
from measurand.data.native import native
from measurand.data.rows import BadRow, ReadOptions, Row, row_of

Pass = Callable[[], Iterator[Row | BadRow]]

_CHUNK = 1_000


def rows_in_memory(data: Any, options: ReadOptions) -> tuple[str, Pass]:
    """A label and what gives a fresh pass over the rows. Raises `DataError` for what is neither rows nor a frame."""
    library = type(data).__module__.partition(".")[0]
    if library == "pandas" and hasattr(data, "iloc"):
        _refuse_twice([str(name) for name in data.columns])
        return "the frame", lambda: _pass(_pandas_rows(data), "the frame", options)
    if library == "polars" and (hasattr(data, "iter_rows") or hasattr(data, "collect")):
        frame = data if hasattr(data, "iter_rows") else data.collect()
        return "the frame", lambda: _pass(frame.iter_rows(named=True), "the frame", options)
    if isinstance(data, Mapping) or not hasattr(data, "__iter__"):
        allowed = "a path, a list of paths, rows as mappings, or a pandas or polars frame"
        raise DataError(Problem("no_rows", "data", f"{type(data).__name__} is no dataset", allowed))
    held = list(data)
    return "the rows", lambda: _pass(iter(held), "the rows", options)


def _pass(rows: Iterator[Any], label: str, options: ReadOptions) -> Iterator[Row | BadRow]:
    for number, values in enumerate(rows, 1):
        try:
            yield row_of(label, number, "row", native(values), options)
        except RecursionError:
            yield BadRow(label, number, "nested too deeply, or in itself", "", "row")


def _pandas_rows(frame: Any) -> Iterator[dict[str, Any]]:
    for start in range(0, len(frame), _CHUNK):
        for values in frame.iloc[start : start + _CHUNK].to_dict(orient="records"):
            yield {str(name): native(value, nan_is_missing=True) for name, value in values.items()}


def _refuse_twice(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(Problem("duplicate_column", "the frame", f"the columns {', '.join(twice[:5])} are there twice", "give each column its own name"))
