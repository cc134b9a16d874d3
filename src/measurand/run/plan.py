"""The plan: everything a run will do, decided and checked before anything is paid for. `check` prints it, `run` executes the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from measurand.config import Settings
from measurand.core.errors import DataError, Problem, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.instance import Instance
from measurand.core.options import wrong_options
from measurand.data.dataset import Dataset, Selection, survey
from measurand.data.source import ReadOptions, Source, open_source
from measurand.index import registry
from measurand.run.availability import Availability
from measurand.run.grouping import split_tasks
from measurand.run.select import LeftOut, choose, is_installed, wanted_metrics


@frozen
class RunOptions:
    """What is asked of one run beside its settings."""

    data: Any = None
    """A path, "-" already spooled to a path, rows, or a frame; None: `[data] path`."""
    label: str | None = None
    """How rows in memory are called in messages ("run:3f8a21c0")."""
    columns: Mapping[str, Any] = field(factory=dict)
    where: tuple[tuple[str, str], ...] = ()
    limit: int | None = None
    metrics: tuple[str, ...] = ()
    """Instead of `[run] metrics`."""
    slices: tuple[str, ...] = ()
    name: str | None = None
    min_trials: int | None = None


@frozen
class PlannedMetric:
    """An instance with the rows it will score."""

    instance: Instance
    applicable_rows: int


@frozen(eq=False)
class Plan:
    """What a run will do. With problems it cannot be run."""

    settings: Settings
    dataset: Dataset | None
    metrics: tuple[PlannedMetric, ...]
    left_out: tuple[LeftOut, ...]
    slices: tuple[str, ...]
    name: str | None
    min_trials: int | None
    problems: tuple[Problem, ...]
    plan_id: str

    @property
    def rows(self) -> int:
        """How many rows there are; 0 when the data could not be read."""
        return self.dataset.rows if self.dataset else 0

    @property
    def ok(self) -> bool:
        """Whether it can be run."""
        return not self.problems

    def dataset_json(self) -> dict[str, Any]:
        """The dataset as a run states it."""
        if self.dataset is None:
            return {}
        one = self.dataset
        return {"path": one.label, "rows": one.rows, "fingerprint": one.fingerprint, "filtered": one.filtered, "skipped": one.skipped}

    @property
    def instances(self) -> tuple[Instance, ...]:
        """What each row is scored with, in order."""
        return tuple(one.instance for one in self.metrics)

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with exactly the keys of `check`."""
        rows = self.rows
        return {
            "ok": self.ok,
            "plan_id": self.plan_id,
            "problems": [{"code": one.code, "where": one.where, "message": one.message, "hint": one.hint} for one in self.problems],
            "mapping": list(self.dataset.mapping) if self.dataset else [],
            "plan": {
                "metrics": [_planned(one, rows) for one in self.metrics],
                "left_out": [{"metric": one.metric, "missing": list(one.missing)} for one in self.left_out],
                "destinations": [],
                "totals": {"rows": rows, "calls": 0, "calls_min": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "minutes": 0.0},
            },
        }


def _planned(one: PlannedMetric, rows: int) -> dict[str, Any]:
    return {
        "name": one.instance.name,
        "judges": list(one.instance.judge),
        "embedding": one.instance.embedding,
        "rows": rows,
        "applicable_rows": one.applicable_rows,
        "calls": 0,
        "calls_min": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost_usd": 0.0,
    }


def make_plan(settings: Settings, options: RunOptions) -> Plan:
    """Reads every row once, resolves what was asked for, and collects every problem there is."""
    where = "--metric" if options.metrics else settings.where(("run", "metrics"))
    words = options.metrics or settings.run.metrics
    wanted, problems = wanted_metrics(words, settings, where)
    if not words:
        problems.append(Problem("no_metrics", where, "no metrics are named", 'write metrics = ["code_token_f1"] under [run], or give --metric NAME'))
    problems += _wrong_tables(settings)
    availability, dataset, data_problems = _surveyed(settings, options)
    problems += data_problems
    chosen = choose(wanted, settings, availability if dataset else None)
    problems += chosen.problems
    slices = tuple(dict.fromkeys((*settings.run.slices, *options.slices)))
    planned: tuple[PlannedMetric, ...] = ()
    if dataset is not None:
        planned = tuple(PlannedMetric(one, availability.fed(one.metric)) for one in chosen.instances)
        problems += [problem for one in planned for problem in _unfed(one, availability, dataset)]
        problems += _unknown_slices(slices, dataset, settings)
        problems += split_tasks(dataset)
    if words and not chosen.instances and not problems:
        lacking = ", ".join(f"{one.metric} ({', '.join(one.missing)})" for one in chosen.left_out[:5])
        problems.append(
            Problem(
                "nothing_selected", where, f"the selection leaves nothing that these rows can feed: {lacking}", "metrics list --for FILE shows what they can"
            )
        )
    problems += [problem for one in chosen.instances for problem in unready(one)]
    unique = tuple(dict.fromkeys(problems))
    return Plan(
        settings,
        dataset,
        planned,
        chosen.left_out,
        slices,
        options.name,
        options.min_trials,
        unique,
        _plan_id(settings, options, dataset, chosen.instances, slices),
    )


def source_of(settings: Settings, options: RunOptions) -> Source:
    """The rows that settings and options point at. Raises `DataError`."""
    data = settings.data
    read = ReadOptions(
        format=data.format, encoding=data.encoding, delimiter=data.delimiter, max_row_bytes=data.max_row_bytes, max_field_chars=data.max_field_chars
    )
    if options.data is not None:
        source = open_source(options.data, read, Path.cwd())
        return source if options.label is None else Source(options.label, source.files, (source.rows,))
    if not data.path:
        raise DataError(Problem("no_data", settings.where(("data", "path")), "no data is named", 'write path = "rows.jsonl" under [data], or give --data FILE'))
    return open_source([_relative(path) for path in settings.data_paths()], read, Path.cwd())


def _relative(path: str) -> str:
    """A path below the working directory as one would type it; it names the data in messages and runs."""
    here = f"{Path.cwd()}{os.sep}"
    return path.removeprefix(here)


def _surveyed(settings: Settings, options: RunOptions) -> tuple[Availability, Dataset | None, list[Problem]]:
    house_columns = {one.field for metric in registry for one in metric.parameters if one.field.startswith("metadata.")}
    availability = Availability(house_columns)
    columns = {**settings.data.columns, **options.columns}

    def fresh() -> Availability:
        nonlocal availability
        availability = Availability(house_columns)
        return availability

    try:
        dataset = survey(
            source_of(settings, options),
            columns=columns,
            selection=Selection(options.where, options.limit),
            id_order=settings.data.id == "order",
            on_bad_row=settings.data.on_bad_row,
            observe=lambda: fresh().observe,
        )
    except DataError as error:
        return availability, None, list(error.problems)
    return availability, dataset, []


def _wrong_tables(settings: Settings) -> list[Problem]:
    problems = []
    for name, table in settings.metrics.items():
        base = table.use or name
        found = registry.get(base)
        if found is not None:
            problems += [Problem("bad_option", settings.where(("metrics", name)), sentence) for sentence in wrong_options(found, table.options)]
        elif not registry.quantity(base):
            problems.append(registry.unknown(base, settings.where(("metrics", name))))
    return problems


def _unfed(one: PlannedMetric, availability: Availability, dataset: Dataset) -> list[Problem]:
    metric = one.instance.metric
    lack = availability.lacking(metric)
    if not lack.rows:
        return []
    needs = " and ".join(name.replace("|", " or ") for name in lack.missing)
    if one.applicable_rows == 0 and one.instance.named:
        near = _nearest_column(lack.missing, dataset)
        hint = f'the nearest column is "{near}": --column {lack.missing[0].partition("|")[0]}={near}' if near else "drop the metric, or add the field"
        return [Problem("missing_field", dataset.label, f"{one.instance.name} needs {needs}; none of the {dataset.rows} rows has it", hint)]
    if one.instance.on_missing == "stop":
        names = ", ".join(lack.names) + (" …" if lack.rows > len(lack.names) else "")
        message = f"{one.instance.name} needs {needs}; {lack.rows} of {dataset.rows} rows lack it ({names})"
        return [Problem("missing_field", dataset.label, message, "add it, or run with --on-missing skip to leave those cells out, counted")]
    return []


def _nearest_column(missing: Sequence[str], dataset: Dataset) -> str:
    unused = [entry["column"] for entry in dataset.mapping if entry["field"] == "metadata"]
    for name in missing:
        for word in (name.partition("|")[0], *FIELDS[name.partition("|")[0]].aliases) if name.partition("|")[0] in FIELDS else ():
            near = did_you_mean(word, unused)
            if near:
                return near.removeprefix("did you mean ").partition(" or ")[0].rstrip("?")
    return ""


def _unknown_slices(slices: Sequence[str], dataset: Dataset, settings: Settings) -> list[Problem]:
    columns = {entry["column"] for entry in dataset.mapping if entry["field"] == "metadata"}
    known = {"tags", "cluster", "status", "task", *(f"metadata.{column}" for column in columns)}
    problems = []
    for name in slices:
        column = name.removeprefix("metadata.").split(".")[0]
        inside = name.startswith("metadata.") and "metadata" in columns  # a column called metadata: what it holds is not known before the rows are read
        if name in known or name in columns or (name.startswith("metadata.") and column in columns) or inside:
            continue
        where = "--by" if name not in settings.run.slices else settings.where(("run", "slices"))
        hint = did_you_mean(name, known) or f"rows can be sliced by {', '.join(sorted(known))}"
        problems.append(Problem("unknown_slice", where, f"the rows have nothing called '{name}' to slice by", hint))
    return problems


def unready(one: Instance) -> list[Problem]:
    """What keeps a metric from running here: a library that is not installed, a model that this version cannot ask."""
    extra = one.metric.extra
    if extra is not None and not is_installed(extra[1]):
        return [Problem("not_installed", one.name, f"it needs {extra[1]}, which is not installed", f"python -m pip install 'measurand[{extra[0]}]'")]
    if not (one.metric.judge or one.metric.embedder) or one.metric.opaque is not None:
        return []
    what = "a judge" if one.metric.judge else "an embedding model"
    return [
        Problem(
            "no_runtime",
            one.name,
            f"it asks {what}, and this version runs only metrics that need no model",
            "leave it out; metrics list --method code shows those",
        )
    ]


def _plan_id(settings: Settings, options: RunOptions, dataset: Dataset | None, instances: Sequence[Instance], slices: Sequence[str]) -> str:
    """Three short hashes, of the data, the config and the metrics, so that another id says which of them differs."""
    asked = {"columns": dict(options.columns), "where": list(options.where), "limit": options.limit, "min_trials": options.min_trials}
    config = {**settings.plan_relevant(), **asked, "slices": list(slices)}
    signatures = [(one.name, one.signature.rpartition("|lib:")[0], one.threshold) for one in instances]
    return "-".join((_short(dataset.fingerprint if dataset else ""), _short(config), _short(signatures)))


def _short(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True, default=str).encode(), digest_size=3).hexdigest()


def check_expected(plan: Plan, expected: str | None) -> Plan:
    """The plan, with one problem more when it is not the expected one."""
    if expected is None or expected == plan.plan_id or plan.dataset is None:
        return plan
    problem = Problem("other_plan", "--expect-plan", plan_difference(expected, plan.plan_id), f"this is plan {plan.plan_id}; look at it with metrics check")
    return evolve(plan, problems=(*plan.problems, problem))


def plan_difference(expected: str, actual: str) -> str:
    """What differs between two plan ids, in words."""
    parts = expected.split("-"), actual.split("-")
    if len(parts[0]) != 3:
        return f"'{expected}' is no plan id"
    names = [name for name, a, b in zip(("the data", "the config", "the metrics"), *parts, strict=True) if a != b]
    return f"{' and '.join(names)} changed since plan {expected} was made"
