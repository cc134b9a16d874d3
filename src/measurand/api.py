"""What Python code calls: score one row, evaluate a dataset, read a run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, ParamSpec, TypeVar

from attrs import evolve

from measurand.core.cell import Program, result_of
from measurand.core.coerce import typed_fields
from measurand.core.errors import Problem, ProblemsError, RunIncompleteError, UsageError, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.instance import Instance, instance
from measurand.core.metric import Metric
from measurand.core.options import OptionsError
from measurand.core.result import MetricResult
from measurand.index import registry

if TYPE_CHECKING:
    from measurand.config import Settings
    from measurand.run.store import StoredRun
    from measurand.run.summary import Summary

P = ParamSpec("P")
T = TypeVar("T")


def score(
    metric: str | Metric[Any],
    *,
    options: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
    models: Mapping[str, Mapping[str, Any]] | None = None,
    embeddings: Mapping[str, Mapping[str, Any]] | None = None,
    **fields: Any,
) -> MetricResult:
    """One metric on one row given as fields: `score("code_token_f1", output="Paris, France", expected="paris").score`.

    `metric` may be a name, a `same` alias, a bare quantity that a code metric measures from these fields, or a declared metric. One that asks a model
    needs `config`, a path or a mapping with the tables of metrics.toml; `models` and `embeddings` are laid over its tables of these names, and where
    they name one model and `[run]` none, that one is asked. What is answered is recorded in the config's store, so that asking the same again costs
    nothing. What the row holds never raises: see the result's `status`. Raises `UsageError` for an unknown metric, field or option, `ProblemsError`
    for what keeps a model from being asked.
    """
    from measurand.core.cell import EvaluationContext

    problems = [_unknown_field(name) for name in fields if name not in FIELDS]
    if problems:
        raise UsageError(problems)
    row = typed_fields(fields)
    one = _instance(metric, options or {}, threshold, row)
    program = Program([one])
    if not program.asks:
        return result_of(one, program.outcomes(row)[0])
    if one.metric.opaque is None:
        return _asked_score(one, row, config, models or {}, embeddings or {})
    from measurand.run.loop import run_all

    return result_of(one, run_all([program.outcomes_async(EvaluationContext(row))])[0][0])


def _asked_score(
    one: Instance,
    row: Mapping[str, Any],
    config: str | Path | Mapping[str, Any] | None,
    models: Mapping[str, Mapping[str, Any]],
    embeddings: Mapping[str, Mapping[str, Any]],
) -> MetricResult:
    from measurand.run.stream import score_row

    settings = _settings(config, [key for section, table in {"models": models, "embeddings": embeddings}.items() for key in _keys(section, table)])
    judge = settings.run.judge or (tuple(models) if len(models) == 1 else ())
    embedding = settings.run.embedding or (next(iter(embeddings)) if len(embeddings) == 1 else None)
    bound = evolve(one, judge=judge if one.metric.judge else (), embedding=embedding if one.metric.embedder else None, draws=settings.run.draws)
    try:
        return score_row(settings, bound, row, kept=config is not None)
    except ProblemsError as error:
        raise type(error)(Problem(each.code, each.where, each.message, _in_python(each.hint)) for each in error.problems) from None


def _unknown_field(name: str) -> Problem:
    read_as = next((field.name for field in FIELDS.values() if name in field.aliases), None)
    hint = f"a column of this name is read as {read_as}; write {read_as}=…" if read_as else did_you_mean(name, FIELDS) or f"a record has {', '.join(FIELDS)}"
    return Problem("unknown_field", "score", f"'{name}' is no field of a record", hint)


def _instance(metric: str | Metric[Any], options: Mapping[str, Any], threshold: float | None, row: Mapping[str, Any]) -> Instance:
    found = registry.resolve(metric, lambda one: one.feedable(row), "score") if isinstance(metric, str) else _declared(metric, "score")
    if isinstance(found, Problem):
        raise UsageError(found)
    try:
        return instance(found, options, threshold=threshold)
    except OptionsError as error:
        raise UsageError([Problem("bad_option", "score", sentence) for sentence in error.problems]) from None


def _declared(metric: object, where: str) -> Metric[Any] | Problem:
    if isinstance(metric, Metric):
        return metric
    hint = 'decorate it: @metric("house.name")' if callable(metric) else 'a name ("code_token_f1") or what @metric gave'
    return Problem("no_metric", where, f"{metric!r:.80} is no metric", hint)


class RunResult:
    """A run that was evaluated: its summary, its results, its rows as a frame."""

    def __init__(self, run: StoredRun, columns: Mapping[str, Any] | None = None) -> None:
        self._run = run
        self.columns: Mapping[str, Any] = dict(columns or {})
        """Field → column, as they were named; another evaluation of these rows reads them so too."""

    @property
    def run_id(self) -> str:
        """The id under which the store keeps it."""
        return self._run.info.run_id

    def summary(self) -> Summary:
        """Means with their intervals; `.to_dict()` is what `metrics run --json` prints."""
        from measurand.run.summary import summarise

        return summarise(self._run)

    def results(self, metric: str | None = None) -> Iterator[MetricResult]:
        """Every result, in row order."""
        from measurand.run.results import stored_results

        return stored_results(self._run, metric=metric)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as they were read. Raises `UsageError` when the run was kept without its texts."""
        whole = self._run.info.config.get("run", {}).get("content", "full") == "full"
        for sample in self._run.samples():
            if not whole or not isinstance(sample.row, dict):
                raise UsageError(
                    Problem("no_content", f"run {self.run_id}", "the run was kept without its texts", 'only runs with content = "full" keep their rows')
                )
            yield sample.row

    def frame(self, library: str = "pandas") -> Any:
        """One row a result, as a `pandas` or `polars` frame. Raises `UsageError` when the library is unknown or not installed."""
        from measurand.run.results import flat_row

        if library not in ("pandas", "polars"):
            raise UsageError(Problem("unknown_frame", "frame", f"'{library}' is no frame library that is known here", "pandas or polars"))
        try:
            module = __import__(library)
        except ImportError:
            raise UsageError(Problem("not_installed", "frame", f"{library} is not installed", f"python -m pip install {library}")) from None
        return module.DataFrame([flat_row(result) for result in self.results()])

    def __repr__(self) -> str:
        from measurand.report.summary_text import summary_lines

        return "\n".join(summary_lines(self.summary(), fit=100))


def evaluate(
    data: Any,
    metrics: str | Metric[Any] | Sequence[str | Metric[Any]] | None = None,
    *,
    config: str | Path | Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    where: Mapping[str, Any] | None = None,
    limit: int | None = None,
    models: Mapping[str, Mapping[str, Any]] | None = None,
    embeddings: Mapping[str, Mapping[str, Any]] | None = None,
    mode: Literal["live", "cache", "replay"] | None = None,
    on_missing: Literal["stop", "skip"] | None = None,
    slices: str | Sequence[str] = (),
    store: str | None = None,
    name: str | None = None,
) -> RunResult:
    """Scores a dataset: a path, rows as mappings, a pandas or polars frame, or an earlier `RunResult`; None: the config's `[data] path`.

    `config` is a path or a mapping with the tables of metrics.toml; `metrics` stands instead of its `[run] metrics`, `columns` is laid over its
    `[data.columns]`, `models` and `embeddings` over its tables of these names, `mode` and `on_missing` over its `[run]`; `slices` are added.
    Without `store` (a URL) the results stay in memory. Works inside a running event loop. Raises `ProblemsError` with every problem found, before anything is
    scored, and `RunIncompleteError` when the run did not reach its end; its `run` holds what there is.
    """
    from measurand.run.plan import RunOptions, make_plan
    from measurand.run.start import start_run
    from measurand.run.store import TEMPORARY, open_store

    tables = {"models": models, "embeddings": embeddings, "run": {"mode": mode, "on_missing": on_missing}}
    try:
        settings = _settings(config, [key for section, table in tables.items() for key in _keys(section, table)])
        earlier = data if isinstance(data, RunResult) else None
        options = RunOptions(
            data=data if earlier is None else list(earlier.rows()),
            label=None if earlier is None else f"run:{earlier.run_id}",
            columns={**(earlier.columns if earlier is not None else {}), **(columns or {})},
            where=tuple((where or {}).items()),
            limit=limit,
            metrics=tuple(_known_names(metrics)),
            slices=(slices,) if isinstance(slices, str) else tuple(slices),
            name=name,
            store=store or TEMPORARY,
        )
        plan = make_plan(settings, options)
        kept = open_store(store or TEMPORARY)
        ended = start_run(plan, kept, command=["evaluate"])
    except ProblemsError as error:
        raise type(error)(Problem(one.code, _in_python(one.where), _in_python(one.message), _in_python(one.hint)) for one in error.problems) from None
    if ended.interrupted:
        raise KeyboardInterrupt
    run = RunResult(kept.resolve(ended.run_id, settings.project), {**settings.data.columns, **options.columns})
    if ended.status != "complete":
        incomplete = RunIncompleteError(_in_python(ended.reason or ""), ended.run_id)
        incomplete.run = run
        raise incomplete
    return run


def _settings(config: str | Path | Mapping[str, Any] | None, overrides: Sequence[str]) -> Settings:
    from measurand.config import from_mapping, load

    if isinstance(config, (str, Path)):
        return load(Path(config), overrides, environ=os.environ)
    return from_mapping(dict(config or {}), Path.cwd(), overrides, environ=os.environ, source="config")


def _keys(section: str, table: Mapping[str, Any] | None) -> Iterator[str]:
    """The keys of a table as `--set` options, which go over a file and over a mapping alike."""
    for key, value in (table or {}).items():
        if value is not None:
            yield f"{section}.{_as_toml(str(key))}={_as_toml(value)}"


def _as_toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_as_toml(str(key))} = {_as_toml(entry)}" for key, entry in value.items() if entry is not None) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _known_names(metrics: str | Metric[Any] | Sequence[str | Metric[Any]] | None) -> Iterator[str]:
    for one in (metrics,) if isinstance(metrics, (str, Metric)) else metrics or ():
        if isinstance(one, str):
            yield one
            continue
        found = _declared(one, "metrics")
        if isinstance(found, Problem):
            raise UsageError(found)
        if registry.get(found.name) is not found:
            registry.add(found)
        yield found.name


_WRITTEN: Final = (
    (r"--set run\.(?:\"(\w+)\"|(\w+))", r"\1\2"),
    (r"--set (models|embeddings)", r"\1"),
    (r"--on-missing (\w+)", r'on_missing="\1"'),
    (r"--column (\w+)=(.+?)(?= takes it|$)", r'columns={"\1": "\2"}'),
    (r"--where (\S+?)=(.*)$", r'where={"\1": "\2"}'),
    (r"--limit (-?\d+)", r"limit=\1"),
    (r"--metric NAME", 'metrics=["NAME"]'),
    (r"--metric\b", "metrics"),
    (r"--data FILE", "data"),
    (r"--by\b", "slices"),
    (r"metrics results RUN --errors shows them", "`run` of this error holds them"),
)
"""What is typed on the command line, and what one writes in Python for it."""


def _in_python(said: str) -> str:
    for typed, written in _WRITTEN:
        said = re.sub(typed, written, said)
    return said


def _in_a_thread(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    async def awaited(*args: P.args, **kwargs: P.kwargs) -> T:
        import asyncio

        return await asyncio.to_thread(function, *args, **kwargs)

    awaited.__wrapped__ = function  # type: ignore[attr-defined]  # where `inspect` looks for the signature
    return awaited


aevaluate = _in_a_thread(evaluate)
aevaluate.__name__ = aevaluate.__qualname__ = "aevaluate"
aevaluate.__doc__ = "`evaluate` as a coroutine: the same parameters, and the event loop stays free while it works."
