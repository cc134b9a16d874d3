"""What Python code calls: score one row, evaluate a dataset, read a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measurand.core.cell import Program, result_of
from measurand.core.coerce import typed_fields
from measurand.core.errors import Problem, RunIncompleteError, UsageError, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.instance import Instance, instance
from measurand.core.metric import Metric, OptionsError
from measurand.core.result import MetricResult
from measurand.index import registry

if TYPE_CHECKING:
    from measurand.config import Settings
    from measurand.run.store import StoredRun
    from measurand.run.summary import Summary


def score(metric: str | Metric[Any], *, options: Mapping[str, Any] | None = None, threshold: float | None = None, **fields: Any) -> MetricResult:
    """One metric on one row given as fields: `score("code_token_f1", output="Paris, France", expected="paris").score`.

    `metric` may be a name, a `same` alias, a bare quantity that a code metric measures from these fields, or a declared metric.
    What the row holds never raises: see the result's `status`. Raises `UsageError` for an unknown metric, field or option.
    """
    from measurand.core.cell import EvaluationContext

    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise UsageError([Problem("unknown_field", "score", f"'{name}' is no field of a record", did_you_mean(name, FIELDS)) for name in unknown])
    row = typed_fields(fields)
    one = _instance(metric, options or {}, threshold, row)
    program = Program([one])
    if not program.asks:
        return result_of(one, program.outcomes(row)[0])
    from measurand.run.loop import run_all

    return result_of(one, run_all([program.outcomes_async(EvaluationContext(row))])[0][0])


def _instance(metric: str | Metric[Any], options: Mapping[str, Any], threshold: float | None, row: Mapping[str, Any]) -> Instance:
    if isinstance(metric, str):
        found = registry.resolve(metric, lambda one: one.feedable(row), "score")
        if isinstance(found, Problem):
            raise UsageError(found)
    else:
        found = metric
    try:
        return instance(found, options, threshold=threshold)
    except OptionsError as error:
        raise UsageError([Problem("bad_option", "score", sentence) for sentence in error.problems]) from None


class RunResult:
    """A run that was evaluated: its summary, its results, its rows as a frame."""

    def __init__(self, run: StoredRun) -> None:
        self._run = run

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
        for sample in self._run.samples():
            if not isinstance(sample.row, dict):
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
    metrics: Sequence[str | Metric[Any]] | None = None,
    *,
    config: str | Path | Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
    on_missing: str | None = None,
    slices: Sequence[str] = (),
    store: str | None = None,
    name: str | None = None,
) -> RunResult:
    """Scores a dataset: a path, rows as mappings, a pandas or polars frame, or an earlier `RunResult`.

    Without `store` the results stay in memory. Works inside a running event loop. Raises `ProblemsError` with every problem found, before anything is
    scored, and `RunIncompleteError` when the run did not reach its end.
    """
    from measurand.run.plan import RunOptions, make_plan
    from measurand.run.start import start_run
    from measurand.run.store import TEMPORARY, open_store

    settings = _settings(config, () if on_missing is None else (f'run.on_missing="{on_missing}"',))
    options = RunOptions(
        data=list(data.rows()) if isinstance(data, RunResult) else data,
        label=f"run:{data.run_id}" if isinstance(data, RunResult) else None,
        columns=dict(columns or {}),
        where=tuple((where or {}).items()),
        limit=limit,
        metrics=tuple(_known_name(one) for one in metrics or ()),
        slices=tuple(slices),
        name=name,
    )
    plan = make_plan(settings, options)
    kept = open_store(store or TEMPORARY)
    ended = start_run(plan, kept, command=["evaluate"])
    if ended.interrupted:
        raise KeyboardInterrupt
    if ended.status != "complete":
        raise RunIncompleteError(ended.reason or "", ended.run_id)
    return RunResult(kept.resolve(ended.run_id, settings.project))


def _settings(config: str | Path | Mapping[str, Any] | None, overrides: Sequence[str]) -> Settings:
    import os

    from measurand.config import from_mapping, load

    if isinstance(config, (str, Path)):
        return load(Path(config), overrides, environ=os.environ)
    return from_mapping(dict(config or {}), Path.cwd(), overrides, environ=os.environ, source="config")


def _known_name(one: str | Metric[Any]) -> str:
    if isinstance(one, str):
        return one
    if registry.get(one.name) is not one:
        registry.add(one)
    return one.name


async def aevaluate(data: Any, metrics: Sequence[str | Metric[Any]] | None = None, **options: Any) -> RunResult:
    """`evaluate` as a coroutine: the event loop stays free while it works."""
    import asyncio

    return await asyncio.to_thread(lambda: evaluate(data, metrics, **options))
