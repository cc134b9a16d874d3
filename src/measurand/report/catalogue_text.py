"""The catalogue as text: a table, names, CSV, Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from measurand.core.metric import Metric
from measurand.report import terminal
from measurand.report.catalogue_json import cost_usd, metric_json
from measurand.report.visible import columns, safe, wrapped

if TYPE_CHECKING:
    from measurand.report.example_cost import ExampleCost

Costs: TypeAlias = "Mapping[str, ExampleCost]"
"""Name → what a metric that asks costs, where prices were looked up."""

_READABLE: Final = 40  # columns that a description needs beside the other columns
_INDENT: Final = "    "
_HEADER: Final = ("NAME", "TYPE", "NEEDS", "COST", "WHAT")
_CSV_KEYS: Final = (
    "name",
    "version",
    "status",
    "type",
    "direction",
    "method",
    "requires",
    "optional",
    "categories",
    "calls",
    "estimated_cost_usd",
    "cost_model",
    "description",
    "source",
    "plugin",
)


def needs(one: Metric[Any]) -> str:
    """Required fields in words, `a|b` for one of them."""
    return ", ".join(one.requires)


def cost(one: Metric[Any], costs: Costs) -> str:
    """US dollars a row in one digit: 0 for code, – where no price is known."""
    usd = cost_usd(one, costs.get(one.name))
    text = terminal.usd(usd)
    return f"{float(text):.12f}".rstrip("0") if "e" in text else text


def catalogue_lines(metrics: Sequence[Metric[Any]], costs: Costs, width: int) -> list[str]:
    """A line for each metric; where descriptions would be cut to fragments, they stand below their metric instead."""
    cells = [(one.name, one.type, needs(one), cost(one, costs)) for one in metrics]
    taken = sum(max(columns(safe(cell)) for cell in (title, *column)) + 2 for title, *column in zip(_HEADER, *cells, strict=False))
    if width - taken >= _READABLE:
        rows = [(*cell, _what(one)) for cell, one in zip(cells, metrics, strict=True)]
        return terminal.table(_HEADER, rows, right=(3,), fit=width)
    head, *lines = terminal.table(_HEADER[:-1], cells, right=(3,), fit=width, shrink=(2,))
    described = [[line, *wrapped(safe(_what(one)), width, _INDENT)] for line, one in zip(lines, metrics, strict=True)]
    return [head, *(line for pair in described for line in pair)]


def _what(one: Metric[Any]) -> str:
    return one.description if one.status == "stable" else f"({one.status}) {one.description}"


def name_lines(metrics: Sequence[Metric[Any]], _costs: Costs) -> list[str]:
    """The names, one a line: for other programs."""
    return [one.name for one in metrics]


def csv_lines(metrics: Sequence[Metric[Any]], costs: Costs) -> list[str]:
    """RFC 4180 with a header; lists are separated by spaces."""
    import csv
    import io

    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_CSV_KEYS)
    for one in metrics:
        values: Mapping[str, Any] = {**metric_json(one, costs.get(one.name))}
        table.writerow(
            [safe(" ".join(value) if isinstance(value, list) else "" if value is None else str(value)) for value in (values[key] for key in _CSV_KEYS)]
        )
    return text.getvalue().splitlines()


def markdown_lines(metrics: Sequence[Metric[Any]], costs: Costs) -> list[str]:
    """A Markdown table."""
    rows = [(f"`{one.name}`", one.type, needs(one), cost(one, costs), _what(one)) for one in metrics]
    return [
        "| Metric | Type | Needs | USD a row | What |",
        "| --- | --- | --- | --: | --- |",
        *(f"| {' | '.join(safe(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]


FORMATS: Final[Mapping[str, Callable[[Sequence[Metric[Any]], Costs], list[str]]]] = {
    "table": lambda metrics, costs: catalogue_lines(metrics, costs, terminal.width()),
    "names": name_lines,
    "csv": csv_lines,
    "markdown": markdown_lines,
}
"""What `list --format` knows."""
