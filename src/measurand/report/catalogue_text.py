"""The catalogue as text: a table, names, CSV, Markdown; and what a dataset can feed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from measurand.core.metric import Metric
from measurand.report import terminal
from measurand.report.visible import columns, safe, wrapped

_READABLE: Final = 40  # columns that a description needs beside the other columns
_INDENT: Final = "    "
_HEADER: Final = ("NAME", "TYPE", "NEEDS", "COST", "WHAT")
_CSV_KEYS: Final = ("name", "version", "status", "type", "direction", "method", "requires", "optional", "categories", "calls", "description", "source", "plugin")


def needs(one: Metric[Any]) -> str:
    """Required fields in words, `a|b` for one of them."""
    return ", ".join(one.requires)


def cost(one: Metric[Any]) -> str:
    """US dollars a row: 0 for code, – where no price is known."""
    return terminal.usd(None if one.judge or one.embedder else 0)


def catalogue_lines(metrics: Sequence[Metric[Any]], width: int) -> list[str]:
    """A line for each metric; where descriptions would be cut to fragments, they stand below their metric instead."""
    cells = [(one.name, one.type, needs(one), cost(one)) for one in metrics]
    taken = sum(max(columns(safe(cell)) for cell in (title, *column)) + 2 for title, *column in zip(_HEADER, *cells, strict=False))
    if width - taken >= _READABLE:
        rows = [(*cell, _what(one)) for cell, one in zip(cells, metrics, strict=True)]
        return terminal.table(_HEADER, rows, right=(3,), fit=width)
    head, *lines = terminal.table(_HEADER[:-1], cells, right=(3,), fit=width, shrink=(2,))
    described = [[line, *wrapped(safe(_what(one)), width, _INDENT)] for line, one in zip(lines, metrics, strict=True)]
    return [head, *(line for pair in described for line in pair)]


def _what(one: Metric[Any]) -> str:
    return one.description if one.status == "stable" else f"({one.status}) {one.description}"


def name_lines(metrics: Sequence[Metric[Any]], width: int) -> list[str]:
    """The names, one a line: for other programs."""
    return [one.name for one in metrics]


def csv_lines(metrics: Sequence[Metric[Any]], width: int) -> list[str]:
    """RFC 4180 with a header; lists are separated by spaces."""
    import csv
    import io

    from measurand.report.catalogue_json import metric_json

    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_CSV_KEYS)
    for one in metrics:
        values: Mapping[str, Any] = {**metric_json(one)}
        table.writerow([safe(" ".join(value) if isinstance(value, list) else "" if value is None else str(value)) for value in (values[key] for key in _CSV_KEYS)])
    return text.getvalue().splitlines()


def markdown_lines(metrics: Sequence[Metric[Any]], width: int) -> list[str]:
    """A Markdown table."""
    rows = [(f"`{one.name}`", one.type, needs(one), cost(one), _what(one)) for one in metrics]
    return [
        "| Metric | Type | Needs | USD a row | What |",
        "| --- | --- | --- | --: | --- |",
        *(f"| {' | '.join(safe(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]


FORMATS: Final[Mapping[str, Callable[[Sequence[Metric[Any]], int], list[str]]]] = {
    "table": catalogue_lines,
    "names": name_lines,
    "csv": csv_lines,
    "markdown": markdown_lines,
}
"""What `list --format` knows."""


# ---------------------------------------------------------------- for a dataset


@frozen
class Lacking:
    """A metric that a dataset cannot feed, and what it lacks."""

    metric: Metric[Any]
    missing: tuple[str, ...]


@frozen
class Feed:
    """What a dataset can feed: metrics with the rows that can, those that lack something, and how its columns are read."""

    rows: int
    feedable: tuple[tuple[Metric[Any], int], ...]
    lacking: tuple[Lacking, ...]
    mapping: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()


_MARGIN: Final = 22


def feed_lines(feed: Feed, width: int) -> list[str]:
    """The three blocks of `list --for`: what can be measured, what almost can, and the mapping of columns to fields."""
    almost = [one for one in feed.lacking if len(one.missing) == 1]
    further = len(feed.lacking) - len(almost)
    lines = _block(f"can be measured ({len(feed.feedable)})", ", ".join(_fed(one, rows, feed.rows) for one, rows in feed.feedable) or "none", width)
    margin = max((columns(safe(one.metric.name)) for one in almost), default=0)
    for index, one in enumerate(almost):
        head = f"almost ({len(almost)})" if index == 0 else ""
        lines += _block(head, f"{one.metric.name:<{margin}}  needs {_missing(one.missing[0], feed)}", width)
    if further:
        lines += _block(f"not ({further})", "lack more than one thing; metrics show NAME says what each needs", width)
    return [*lines, *_block("mapping", mapping_line(feed.mapping) or "none", width), *(line for note in feed.notes for line in _block("note", note, width))]


def _block(head: str, text: str, width: int) -> list[str]:
    indent = " " * (_MARGIN + 1)
    first, *rest = wrapped(safe(text), width, indent)
    return [f"{head:<{_MARGIN}} {first[len(indent) :]}".rstrip(), *rest]


def _fed(one: Metric[Any], rows: int, of: int) -> str:
    return one.name if rows == of else f"{one.name} ({terminal.thousands(rows)} of {terminal.thousands(of)} rows)"


def _missing(need: str, feed: Feed) -> str:
    from measurand.core.errors import nearest
    from measurand.core.record import FIELDS

    words = [word for name in need.split("|") if name in FIELDS for word in (name, *FIELDS[name].aliases)]
    unused = [str(one["column"]) for one in feed.mapping if one["how"] == "metadata" and one["column"]]
    near = next((found for word in words for found in nearest(word, unused, 1)), None) or next((one for one in unused if _akin(one, words)), None)
    wanted = need.replace("|", " or ")
    return f"{wanted} (no column; nearest: \"{near}\")" if near else f"{wanted} (no column)"


def _akin(column: str, words: Sequence[str]) -> bool:
    """`Docs` beside `documents`: one begins as the other."""
    short = column.casefold().rstrip("s")
    return len(short) >= 3 and any(part.startswith(short) or short.startswith(part) for word in words for part in word.split("_") if len(part) >= 3)


def mapping_line(mapping: Sequence[Mapping[str, Any]]) -> str:
    """`input ← Question · output ← Answer · metadata ← Docs, Lang`."""
    read = [f"{one['field']} ← {one['column']}" for one in mapping if one["how"] not in ("metadata", "derived")]
    read += [f"{one['field']} ← derived from {one['column']}" if one["column"] else f"{one['field']} ← derived" for one in mapping if one["how"] == "derived"]
    unread = [str(one["column"]) for one in mapping if one["how"] == "metadata"]
    return " · ".join([*read, *([f"metadata ← {', '.join(unread)}"] if unread else [])])
