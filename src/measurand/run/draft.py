"""A first metrics.toml for some data: what the columns are, and the metrics they can feed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from measurand.core.fields import FIELDS
from measurand.core.metric import Metric
from measurand.data.dataset import Dataset, survey
from measurand.data.source import open_source
from measurand.index import SUITES, registry
from measurand.run.availability import Availability

_MOST: Final = 12
_OTHERS: Final = 24


def draft_config(data: str | None, folder: Path) -> tuple[str, list[str]]:
    """(the text, the metrics it names). Without data the path and the metrics are examples to change. Raises `DataError` for data that cannot be read."""
    if data is None:
        return _text("rows.jsonl", ["# change this to your rows: .jsonl .json .csv .tsv .parquet (.gz)"], [], ["code_token_f1"], []), ["code_token_f1"]
    availability = Availability()

    def observe() -> Any:
        nonlocal availability
        availability = Availability()
        return availability.observe

    dataset = survey(open_source(data, None, Path.cwd()), observe=observe)
    fed = [one for one in registry if "." not in one.name and one.method == ("code",) and not one.needs_options and availability.feeds_every_row(one)]
    chosen = _first_choice(fed)
    others = [one.name for one in fed if one.name not in chosen][:_OTHERS]
    path = os.path.relpath(Path(data).resolve(), folder) if "*" not in data else data
    return _text(path, _columns(dataset), _slices(dataset), chosen, others), chosen


def _first_choice(fed: list[Metric[Any]]) -> list[str]:
    names = {one.name for one in fed}
    suited = [name for members in SUITES.values() for name in members if name in names]
    rest = [one.name for one in fed if one.direction != "none"]
    return list(dict.fromkeys(suited or rest or sorted(names)))[:_MOST]


def _columns(dataset: Dataset) -> Iterator[str]:
    for entry in dataset.mapping:
        samples = " | ".join(_short(text) for text in entry["samples"][:3])
        source = "derived" if entry["how"] == "derived" else json.dumps(entry["column"], ensure_ascii=False)
        yield f"# {entry['field']} ← {source}{': ' if samples else ''}{samples}"


def _short(text: str) -> str:
    shown = "".join(one if one.isprintable() else " " for one in text)
    return shown if len(shown) <= 40 else shown[:39] + "…"


def _slices(dataset: Dataset) -> list[str]:
    return ["tags"] if dataset.available.get("tags") else []


def _text(path: str, columns: Any, slices: list[str], chosen: list[str], others: list[str]) -> str:
    lines = [
        "# What is measured, on what. metrics check says what it would do; metrics run does it.",
        "",
        "[data]",
        f"path = {json.dumps(path, ensure_ascii=False)}",
    ]
    lines += list(columns)
    lines += [
        '# [data.columns]          # where a name does not tell: field = "Column"',
        f'# {"expected"} = "Gold answer"   # fields: {", ".join(list(FIELDS)[:12])} …',
        "",
        "[run]",
        "metrics = [",
        *(f"    {json.dumps(name)},{_comment(name)}" for name in chosen),
        "]",
    ]
    if others:
        lines += ["# These rows can also feed:", *(f"#   {', '.join(others[start : start + 4])}" for start in range(0, len(others), 4))]
    lines += [
        'on_missing = "stop"       # or "skip": cells of rows that lack a field are counted as not applicable',
        f"# slices = {json.dumps(slices or ['tags'])}         # also break the numbers down",
        "",
        "# [metrics.NAME]           # options and thresholds of one metric: metrics show NAME lists them",
        "# threshold = 0.8",
        "",
    ]
    return "\n".join(lines)


def _comment(name: str) -> str:
    found = registry.get(name)
    return f"  # {found.description}" if found is not None else ""
