"""Scoring as a filter: rows are scored as they arrive, one pass, nothing stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from measurand.config import Settings
from measurand.core.cell import EvaluationContext, Program, result_of
from measurand.core.errors import DataError, Problem, ProblemsError
from measurand.core.instance import Instance
from measurand.core.result import MetricResult
from measurand.data.dataset import RecordRow
from measurand.data.source import ReadOptions, open_source
from measurand.data.stream import stream
from measurand.run.plan import unready
from measurand.run.select import choose, wanted_metrics


class ScoreStream:
    """Results in the order of rows and metrics. Bare quantities resolve at once: to their code metric."""

    def __init__(self, instances: Sequence[Instance], rows: Iterator[RecordRow], label: str) -> None:
        self._instances = instances
        self._rows = rows
        self._label = label
        self._cells = 0
        self._errors = 0

    def __iter__(self) -> Iterator[MetricResult]:
        program = Program(self._instances)
        for row in self._rows:
            record = row.record
            if program.asks:
                from measurand.run.loop import run_all

                outcomes = run_all([program.outcomes_async(EvaluationContext(record.fields, record.id, record.task, record.trial))])[0]
            else:
                outcomes = program.outcomes(record.fields)
            for one, outcome in zip(self._instances, outcomes, strict=True):
                result = result_of(one, outcome, sample_id=record.id, task=record.task, trial=record.trial)
                self._cells += 1
                self._errors += result.status == "error"
                yield result

    def refuse_nothing(self) -> None:
        """Raises `DataError` when there was no row: nothing scored is no success."""
        if not self._cells:
            raise DataError(Problem("no_rows", self._label, "0 rows: nothing was scored"))

    def complete(self, max_error_rate: float) -> bool:
        """Whether no more than this share of the results so far are errors."""
        return self._errors <= max_error_rate * self._cells


def score_stream(settings: Settings, metrics: Sequence[str], data: Any, columns: Mapping[str, Any]) -> ScoreStream:
    """Opens the rows and resolves the metrics. Raises `ProblemsError` with everything that is wrong with either, before a row is read."""
    wanted, problems = wanted_metrics(metrics, settings, "metrics score")
    chosen = choose(wanted, settings, None)
    problems += [*chosen.problems, *(problem for one in chosen.instances for problem in unready(one))]
    if problems:
        raise ProblemsError(tuple(dict.fromkeys(problems)))
    if not chosen.instances:
        raise ProblemsError(Problem("nothing_selected", "metrics score", "the selection leaves no metric", "metrics list shows all there are"))
    read = ReadOptions(settings.data.format, settings.data.encoding, settings.data.delimiter, settings.data.max_row_bytes, settings.data.max_field_chars)
    source = open_source(data, read, Path.cwd())
    named = {**settings.data.columns, **columns}
    skip = (lambda bad: None) if settings.data.on_bad_row == "skip" else None
    return ScoreStream(chosen.instances, stream(source, columns=named, on_bad=skip), source.label)
