"""Scoring as a filter: rows are scored as they arrive, one pass, nothing stored."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from measurand.config import Settings
from measurand.core.cell import EvaluationContext, Outcome, Program, result_of
from measurand.core.errors import DataError, Problem, ProblemsError
from measurand.core.instance import Instance
from measurand.core.record import Record
from measurand.core.result import MetricResult
from measurand.data.dataset import RecordRow
from measurand.data.rows import Row
from measurand.data.source import ReadOptions, open_source
from measurand.data.stream import stream
from measurand.run.bind import bind
from measurand.run.plan import unready, wrong_questions
from measurand.run.select import choose, wanted_metrics

if TYPE_CHECKING:
    from measurand.run.asking.execute import Asking


class ScoreStream:
    """Results in the order of rows and metrics. Bare quantities resolve at once: to their code metric."""

    def __init__(self, settings: Settings, instances: Sequence[Instance], rows: Iterator[RecordRow], label: str, *, kept: bool = True) -> None:
        self._settings = settings
        self._kept = kept
        self._instances = instances
        self._rows = rows
        self._label = label
        self._cells = 0
        self._errors = 0

    def __iter__(self) -> Iterator[MetricResult]:
        for row, outcomes in self._scored():
            record = row.record
            for one, outcome in zip(self._instances, outcomes, strict=True):
                result = result_of(one, outcome, sample_id=record.id, task=record.task, trial=record.trial)
                self._cells += 1
                self._errors += result.status == "error"
                yield result

    def _scored(self) -> Iterator[tuple[RecordRow, Sequence[Outcome]]]:
        program = Program(self._instances)
        if any(one.judge or one.embedding for one in self._instances):
            yield from self._asked(program)
            return
        for row in self._rows:
            record = row.record
            if program.asks:
                from measurand.run.loop import run_all

                yield row, run_all([program.outcomes_async(EvaluationContext(record.fields, record.id, record.task, record.trial))])[0]
            else:
                yield row, program.outcomes(record.fields)

    def _asked(self, program: Program) -> Iterator[tuple[RecordRow, Sequence[Outcome]]]:
        """Rows that ask models, in input order. Calls are kept in the configured store, so that the same filter typed again pays for none of them."""
        from measurand.run.asking.desk import Desk
        from measurand.run.asking.execute import Asking
        from measurand.run.record import Ledger
        from measurand.run.store import TEMPORARY, open_store

        instances = {index: self._instances[index] for index in program.asking}

        def prepared(desk: Desk) -> None:
            signed = desk.signed()
            self._instances = [signed.get(index, one) for index, one in enumerate(self._instances)]

        run = self._settings.run
        url = self._settings.store_url(os.environ) if self._kept else TEMPORARY
        with open_store(url) as store, closing(Ledger(store, None, mode=run.mode, keep_texts=run.content == "full")) as ledger:
            asking = Asking(program, self._rows, lambda: Desk(self._settings, instances, store, ledger), prepared, usages=True)
            with closing(asking):
                yield from _in_order(asking)

    def refuse_nothing(self) -> None:
        """Raises `DataError` when there was no row: nothing scored is no success."""
        if not self._cells:
            raise DataError(Problem("no_rows", self._label, "0 rows: nothing was scored"))

    def complete(self, max_error_rate: float) -> bool:
        """Whether no more than this share of the results so far are errors."""
        return self._errors <= max_error_rate * self._cells


def _in_order(asking: Asking) -> Iterator[tuple[RecordRow, Sequence[Outcome]]]:
    """Rows in their order; one that ends before an earlier one waits for it. What ends the run is raised after the rows that are whole up to there."""
    early: dict[int, tuple[RecordRow, Sequence[Outcome]]] = {}
    expected = 0
    while True:
        try:
            found = asking.next(0.2)
        except StopIteration:
            return
        if found is not None:
            early[found[0].ordinal] = found
        while expected in early:
            yield early.pop(expected)
            expected += 1


def score_stream(settings: Settings, metrics: Sequence[str], data: Any, columns: Mapping[str, Any]) -> ScoreStream:
    """Opens the rows and resolves the metrics. Raises `ProblemsError` with everything that is wrong with either, before a row is read."""
    wrong = wrong_questions(settings)
    wanted, problems = wanted_metrics(metrics, settings, "metrics score")
    problems += wrong
    chosen = choose(wanted, settings, None)
    bound = bind(chosen.instances, settings, os.environ)
    problems += [*chosen.problems, *(problem for one in chosen.instances for problem in unready(one)), *bound.problems]
    if problems:
        raise ProblemsError(tuple(dict.fromkeys(problems)))
    if not chosen.instances:
        raise ProblemsError(Problem("nothing_selected", "metrics score", "the selection leaves no metric", "metrics list shows all there are"))
    read = ReadOptions(settings.data.format, settings.data.encoding, settings.data.delimiter, settings.data.max_row_bytes, settings.data.max_field_chars)
    source = open_source(data, read, Path.cwd())
    named = {**settings.data.columns, **columns}
    skip = (lambda bad: None) if settings.data.on_bad_row == "skip" else None
    return ScoreStream(settings, bound.instances, stream(source, columns=named, on_bad=skip), source.label)


def score_row(settings: Settings, one: Instance, fields: Mapping[str, Any], *, kept: bool) -> MetricResult:
    """One instance that asks on one row of typed fields. Raises `ProblemsError` for what keeps it from being asked. `kept`: calls go into the store."""
    bound = bind([one], settings, os.environ)
    if bound.problems:
        raise ProblemsError(bound.problems)
    row = RecordRow(0, Record("", "", 0, dict(fields)), {}, Row("score", 0, {}, b""))
    result = next(iter(ScoreStream(settings, bound.instances, iter([row]), "score", kept=kept)))
    return evolve(result, sample_id=None, task=None, trial=None)
