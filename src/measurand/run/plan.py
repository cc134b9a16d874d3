"""The plan: everything a run will do, decided and checked before anything is paid for. `check` prints it, `run` executes the same."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from measurand.config import Settings
from measurand.core.errors import ConfigError, DataError, Problem, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.instance import Instance
from measurand.core.metric import Metric
from measurand.core.options import wrong_options
from measurand.data.dataset import Dataset, Observer, Selection, survey
from measurand.data.source import ReadOptions, Source, open_source
from measurand.index import registry
from measurand.run.availability import Availability
from measurand.run.bind import Bound, asks, bind, wants_texts
from measurand.run.forecast import NOTHING, UNKNOWN, Cost, Forecast, total
from measurand.run.grouping import split_tasks
from measurand.run.sample import EvenSample
from measurand.run.select import LeftOut, Wanted, choose, is_installed, wanted_metrics


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
    store: str | None = None
    """The URL of the store whose recorded calls are looked at; None: the settings' own."""
    cassette: Any = None
    """An open cassette, laid under the store."""
    trust_imported: bool = False
    """Whether imported replies may answer outside a replay."""


@frozen(eq=False)
class PlannedMetric:
    """An instance with the rows it will score, and what its scores and its reasons will ask and cost."""

    instance: Instance
    applicable_rows: int
    forecast: Forecast = NOTHING
    reasons: Forecast = NOTHING


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
    bound: Bound = field(factory=lambda: Bound(()))
    """The models that its metrics ask."""
    cost: Cost = field(factory=lambda: Cost(()))

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
    def asks(self) -> bool:
        """Whether any of its metrics asks a model."""
        return bool(self.bound.models)

    def estimated(self) -> dict[str, Any]:
        """What it is expected to ask and cost, with exactly the keys of a run's `estimated`."""
        told = self.cost.total.to_dict()
        return {key: told[key] for key in ("calls", "input_tokens", "output_tokens", "cost_usd")}

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
                "destinations": [one.to_dict() for one in self.cost.destinations],
                "totals": {"rows": rows, **self.cost.total.to_dict(), "minutes": self.cost.minutes},
            },
        }


def _planned(one: PlannedMetric, rows: int) -> dict[str, Any]:
    return {
        "name": one.instance.name,
        "judges": list(one.instance.judge),
        "embedding": one.instance.embedding,
        "rows": rows,
        "applicable_rows": one.applicable_rows,
        **total((one.forecast, one.reasons)).to_dict(),
    }


def make_plan(settings: Settings, options: RunOptions, *, environ: Mapping[str, str] | None = None) -> Plan:
    """Reads every row once, resolves what was asked for, and collects every problem there is. Nothing is sent."""
    here = os.environ if environ is None else environ
    where = "--metric" if options.metrics else settings.where(("run", "metrics"))
    words = options.metrics or settings.run.metrics
    wrong = wrong_questions(settings)
    wanted, problems = wanted_metrics(words, settings, where)
    problems += wrong
    if not words:
        problems.append(Problem("no_metrics", where, "no metrics are named", 'write metrics = ["code_token_f1"] under [run], or give --metric NAME'))
    problems += _wrong_tables(settings)
    seen, dataset, data_problems = _surveyed(settings, options, _asking(wanted, settings))
    problems += data_problems
    chosen = choose(wanted, settings, seen.availability if dataset else None)
    problems += [one for one in chosen.problems if not (wrong and _is_a_question(one, settings))]
    slices = tuple(dict.fromkeys((*settings.run.slices, *options.slices)))
    bound = bind(chosen.instances, settings, here)
    planned: tuple[PlannedMetric, ...] = ()
    cost = Cost(())
    if dataset is not None:
        cost, unanswerable = _cost(bound, seen, settings, options, here)
        problems += unanswerable
        reasons = cost.reasons or (NOTHING,) * len(cost.metrics)
        figures = zip(bound.instances, cost.metrics, reasons, strict=True)
        planned = tuple(PlannedMetric(one, seen.availability.fed(one.metric), scores, why) for one, scores, why in figures)
        problems += [problem for one in planned for problem in _unfed(one, seen.availability, dataset)]
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
    problems += bound.problems
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
        _plan_id(settings, options, dataset, bound.instances, slices),
        bound,
        cost,
    )


def _is_a_question(problem: Problem, settings: Settings) -> bool:
    """Whether a name is unknown only because the question behind it is wrong, which is told where the question stands."""
    return problem.code == "unknown_metric" and any(f"'{one.name}'" in problem.message for one in settings.questions)


def wrong_questions(settings: Settings) -> list[Problem]:
    """Makes the config's `[[questions]]` known as metrics; what is wrong with them."""
    if not settings.questions:
        return []
    from measurand.run.questions import question_metrics

    try:
        question_metrics(settings)
    except ConfigError as error:
        return list(error.problems)
    return []


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


@frozen(eq=False)
class _Seen:
    """What the validating pass saw: which fields the rows have, and a sample of the rows where some metric asks."""

    availability: Availability
    sample: EvenSample | None


def _surveyed(settings: Settings, options: RunOptions, asking: Sequence[Metric[Any]]) -> tuple[_Seen, Dataset | None, list[Problem]]:
    house_columns = {one.field for metric in registry for one in metric.parameters if one.field.startswith("metadata.")}
    columns = {**settings.data.columns, **options.columns}
    seen = _Seen(Availability(house_columns), None)

    def fresh() -> Observer:
        nonlocal seen
        seen = _Seen(Availability(house_columns), EvenSample(asking, house_columns) if asking else None)
        count, sample = seen.availability.observe, seen.sample
        if sample is None:
            return count

        def observe(fields: Mapping[str, Any], name: str) -> None:
            count(fields, name)
            sample.observe(fields, name)

        return observe

    try:
        dataset = survey(
            source_of(settings, options),
            columns=columns,
            selection=Selection(options.where, options.limit),
            id_order=settings.data.id == "order",
            on_bad_row=settings.data.on_bad_row,
            observe=fresh,
        )
    except DataError as error:
        return seen, None, list(error.problems)
    return seen, dataset, []


def _asking(wanted: Sequence[Wanted], settings: Settings) -> list[Metric[Any]]:
    """The metrics among those wanted that ask a model, each once."""
    found: dict[str, Metric[Any]] = {}
    for one in wanted:
        table = settings.metrics.get(one.name)
        metric = registry.get(table.use if table is not None and table.use else one.name)
        if metric is not None and (metric.judge or metric.embedder):
            found[metric.name] = metric
    return list(found.values())


def _cost(bound: Bound, seen: _Seen, settings: Settings, options: RunOptions, environ: Mapping[str, str]) -> tuple[Cost, list[Problem]]:
    """What the plan will ask and cost, and what of it no judge can answer."""
    if seen.sample is None or not bound.models:
        return Cost(tuple(UNKNOWN if asks(one) else NOTHING for one in bound.instances)), []
    from measurand.run.cost import Cells, estimate_cost
    from measurand.run.forecast import forecast
    from measurand.run.known import known

    run = settings.run
    place = {metric.name: index for index, metric in enumerate(seen.sample.metrics)}
    column = {index: place[one.metric.name] for index, one in enumerate(bound.instances) if one.metric.name in place}
    fed = {index: seen.availability.fed(bound.instances[index].metric) for index in column}
    have = seen.availability.somewhere
    fields = {index: [one.field for one in bound.instances[index].metric.parameters if one.field in have] for index in column}
    rows = seen.sample.rows()
    with known(_store_to_look_at(settings, options, environ), options.cassette, imported=run.mode == "replay" or options.trust_imported) as record:
        found = estimate_cost(bound, rows, seen.sample.sizes, column, record.probes(bound.judges))
        latency, corrected = record.latency(bound.models), record.corrections(bound.judges)
        cost = forecast(bound, found, fed, latency, fields, sends=run.mode != "replay", corrected=corrected)
        if not record.nothing and run.mode == "cache" and bound.judges:
            from measurand.run.reuse import reuse

            cost = evolve(cost, reuse=reuse(Cells(bound), found, rows, record.reply, of=seen.availability.rows))
        cost = evolve(cost, regrouped=record.regrouped(settings.project, bound.instances))
    return cost, wants_texts(bound, found.kinds, settings)


def _store_to_look_at(settings: Settings, options: RunOptions, environ: Mapping[str, str]) -> str | None:
    """The store's URL; None where it cannot be known, which is told when it is opened."""
    if options.store is not None:
        return options.store
    try:
        return settings.store_url(environ)
    except ConfigError:
        return None


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
    """What keeps a metric from running here: a library that is not installed. Who may be asked is the business of `bind`."""
    extra = one.metric.extra
    if extra is None or is_installed(extra[1]):
        return []
    return [Problem("not_installed", one.name, f"it needs {extra[1]}, which is not installed", f"python -m pip install 'measurand[{extra[0]}]'")]


def _plan_id(settings: Settings, options: RunOptions, dataset: Dataset | None, instances: Sequence[Instance], slices: Sequence[str]) -> str:
    """Three short hashes, of the data, the config and the metrics, so that another id says which of them differs."""
    asked = {"columns": dict(options.columns), "where": list(options.where), "limit": options.limit, "min_trials": options.min_trials}
    config = {**_decides(settings), **asked, "slices": list(slices)}
    signatures = [(one.name, one.signature.rpartition("|lib:")[0], one.threshold) for one in instances]
    return "-".join((_short(dataset.fingerprint if dataset else ""), _short(config), _short(signatures)))


_RUNTIME_DECIDES: Final = frozenset(
    {"provider", "model", "base_url", "identity", "query", "extra_body", "max_input_tokens", "temperature", "p", "max_output_tokens"}
)


def _decides(settings: Settings) -> dict[str, Any]:
    """The settings that decide what is measured: of a model those in the key of its recorded calls, nothing of how it is reached, or of prices."""
    plain = settings.plan_relevant()
    for section in ("models", "embeddings"):
        for name, runtime in plain[section].items():
            kept = {key: value for key, value in runtime.items() if key in _RUNTIME_DECIDES}
            if "identity" in kept:
                kept.pop("base_url", None)
            plain[section][name] = kept
    return plain


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
