"""A first metrics.toml for some data: what the columns are, and the metrics that score these rows."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from measurand.core.cell import ERROR, OK, Program
from measurand.core.errors import DataError, Problem
from measurand.core.fields import FIELDS
from measurand.core.instance import instance
from measurand.core.metric import Metric
from measurand.data.dataset import Dataset, survey
from measurand.data.source import Source, open_source
from measurand.index import SUITES, registry
from measurand.run.availability import Availability

_MOST: Final = 12
_OTHERS: Final = 24
_TRIED: Final = 200
"""Rows that a metric is tried on before it is written into a config."""

_SECONDS: Final = 3.0
_MOST_ERRORS: Final = 0.02
_LONGEST_SAMPLE: Final = 40


@frozen
class Draft:
    """The text of a config and the metrics it names."""

    text: str
    metrics: tuple[str, ...]


def draft_config(data: str | None, folder: Path) -> Draft:
    """A config for the data, or one with a path to change. Raises `DataError` for data that cannot be read or that no metric can score."""
    if data is None:
        return _draft(['path = "rows.jsonl"       # change this to your rows: .jsonl .json .csv .tsv .parquet (.gz)'], ["code_token_f1"], [], "tags")
    dataset, availability, numbered = _surveyed(open_source(data, None, Path.cwd()))
    fed = [one for one in registry if "." not in one.name and one.method == ("code",) and not one.needs_options and availability.feeds_every_row(one)]
    chosen = _first_choice(fed, dataset)
    if not chosen:
        hint = "metrics list --for FILE says what is missing for each; rename columns, or write a config with [data.columns] by hand"
        raise DataError(Problem("nothing_selected", data, f"no metric scores these rows: they have {', '.join(dataset.available) or 'no field'}", hint))
    lines = [f"path = {_quoted(_path(data, folder))}"]
    if numbered:
        lines.append('id = "order"              # no column tells rows apart, so they are numbered; better: [data.columns] id = "Column"')
    lines += _columns(dataset)
    slices = "tags" if dataset.available.get("tags") else next((f"metadata.{name}" for name in _labels(dataset)), "tags")
    return _draft(lines, chosen, [one.name for one in fed if one.name not in chosen][:_OTHERS], slices)


def _surveyed(source: Source) -> tuple[Dataset, Availability, bool]:
    """With whether rows had to be numbered, as nothing else tells them apart."""
    source = source.again()
    try:
        return *_survey(source, id_order=False), False
    except DataError as error:
        if any(problem.code != "no_id" for problem in error.problems):
            raise
        return *_survey(source, id_order=True), True


def _survey(source: Source, *, id_order: bool) -> tuple[Dataset, Availability]:
    availability = Availability()

    def observe() -> Any:
        nonlocal availability
        availability = Availability()
        return availability.observe

    return survey(source, id_order=id_order, observe=observe), availability


def _first_choice(fed: list[Metric[Any]], dataset: Dataset) -> list[str]:
    """The suites' metrics where some score these rows, else others with a good and a bad side, else any."""
    suited = dict.fromkeys(name for members in SUITES.values() for name in members)
    by_name = {one.name: one for one in fed}
    ranked = [by_name[name] for name in suited if name in by_name], [one for one in fed if one.direction != "none"], fed
    return next((names for group in ranked if (names := _scoring(group[:_MOST], dataset))), [])


def _scoring(metrics: list[Metric[Any]], dataset: Dataset) -> list[str]:
    """Those that score some of the first rows and fail on next to none: a config that is written for these rows runs on them."""
    program = Program([instance(one) for one in metrics])
    scored, failed, rows = [0] * len(metrics), [0] * len(metrics), 0
    until = time.monotonic() + _SECONDS
    for row in islice(dataset.records(), _TRIED):
        rows += 1
        for index, (status, _, _) in enumerate(program.outcomes(row.record.fields)):
            scored[index] += status == OK
            failed[index] += status == ERROR
        if time.monotonic() > until:
            break
    return [one.name for one, good, bad in zip(metrics, scored, failed, strict=True) if good and bad <= _MOST_ERRORS * rows]


def _path(data: str, folder: Path) -> str:
    if any(letter in data for letter in "*?["):
        return str(Path(data).absolute()) if Path.cwd() != folder else data
    return os.path.relpath(Path(data).resolve(), folder)


def _columns(dataset: Dataset) -> Iterator[str]:
    for entry in dataset.mapping:
        samples = " | ".join(_short(text) for text in entry["samples"][:3])
        source = "derived" if entry["how"] == "derived" else _plain(_quoted(entry["column"]))
        yield f"# {entry['field']} ← {source}{': ' if samples else ''}{samples}"


def _labels(dataset: Dataset) -> Iterator[str]:
    """Columns with two different words among the rows that were looked at."""
    for entry in dataset.mapping:
        if entry["field"] == "metadata" and len(entry["samples"]) == 2 and not any(text.startswith(("[", "{")) for text in entry["samples"]):
            yield entry["column"]


def _short(text: str) -> str:
    shown = _plain(text)
    return shown if len(shown) <= _LONGEST_SAMPLE else shown[: _LONGEST_SAMPLE - 1] + "…"


def _plain(text: str) -> str:
    """What may stand in a comment: a line break or a control would end it or be refused."""
    return "".join(one if one.isprintable() else " " for one in text)


def _quoted(text: str) -> str:
    """A TOML text. JSON's escapes are TOML's; what is not printable is written as one."""
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else "".join(f"\\u{ord(one):04x}" if ord(one) < 0x10000 else f"\\U{ord(one):08x}") for one in shown)


def _draft(data: Iterable[str], chosen: list[str], others: list[str], slices: str) -> Draft:
    lines = [
        "# What is measured, on what. metrics check says what it would do; metrics run does it.",
        "",
        "[data]",
        *data,
        '# [data.columns]          # where a name does not tell: field = "Column"',
        '# expected = "Gold answer"',
        f"# fields: {', '.join(list(FIELDS)[:12])} …",
        "",
        "[run]",
        "metrics = [",
        *(f"    {_quoted(name)},{_comment(name)}" for name in chosen),
        "]",
    ]
    if others:
        lines += ["# These rows can also feed:", *(f"#   {', '.join(others[start : start + 4])}" for start in range(0, len(others), 4))]
    lines += [
        'on_missing = "stop"       # or "skip": cells of rows that lack a field are counted as not applicable',
        f"# slices = [{_plain(_quoted(slices))}]       # also break the numbers down",
        "",
        "# [metrics.NAME]           # options and thresholds of one metric: metrics show NAME lists them",
        "# threshold = 0.8",
        "",
    ]
    return Draft("\n".join(lines), tuple(chosen))


def _comment(name: str) -> str:
    found = registry.get(name)
    return f"  # {found.description}" if found is not None else ""
