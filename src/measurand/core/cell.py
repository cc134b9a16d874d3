"""A cell: one metric on one row. Whatever a row holds, a cell ends as ok, not_applicable or error, never as an exception."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import evolve, field, frozen

from measurand.core.coerce import COERCERS, Invalid, references
from measurand.core.drive import AsyncAnswer, drive_async
from measurand.core.effort import begin, end, still_time
from measurand.core.errors import (
    ERROR_CODES,
    MESSAGE_LIMIT,
    NOT_APPLICABLE_CODES,
    CellError,
    InvalidFieldError,
    InvalidScoreError,
    MissingFieldError,
    ModelStoppedError,
    RunIncompleteError,
    StoreError,
    UndefinedError,
)
from measurand.core.instance import Instance, instance
from measurand.core.metric import CorpusFold, Metric, Parameter
from measurand.core.record import Record
from measurand.core.request import Request
from measurand.core.result import STATUSES, MetricResult, ResultError, as_json, passed
from measurand.core.score import Score

OK: Final = 0
NOT_APPLICABLE: Final = 1
ERROR: Final = 2

ENDS_A_RUN: Final = (ModelStoppedError, RunIncompleteError, StoreError)
"""What whoever answers may raise that is no fault of one cell."""

Outcome: TypeAlias = "tuple[int, float | None, dict[str, Any] | None]"
"""(status code, score, the rest of a result that is not null): what a run stores, without the cost of an object a cell."""

_ABSENT: Final = object()
_SLACK: Final = 1e-9  # rounding may carry a proportion this far out of its range; it is clipped back


@frozen
class _Unreadable:
    """A field that is there and cannot be read as what some metric takes."""

    error: CellError


@frozen
class EvaluationContext:
    """What a class-based metric is given: the row's fields, its options, and whoever answers requests."""

    fields: Mapping[str, Any]
    sample_id: str | None = None
    task: str | None = None
    trial: int | None = None
    options: Mapping[str, Any] = field(factory=dict)
    answer: AsyncAnswer | None = None


class Program:
    """Several instances compiled for rows: a field that many of them read in the same way is coerced once a row."""

    def __init__(self, instances: Sequence[Instance]) -> None:
        feeds: dict[tuple[str, str], int] = {}
        self._pure: list[Callable[[list[Any]], Outcome] | None] = []
        self._asking: dict[int, tuple[Instance, list[tuple[int, bool, str]]]] = {}
        for index, one in enumerate(instances):
            slots = [(feeds.setdefault((p.field, _reading(one.metric, p)), len(feeds)), p.required, p.field) for p in one.metric.parameters]
            asks = one.metric.steps or one.metric.opaque is not None
            self._pure.append(None if asks else _compiled(one, slots))
            if asks:
                self._asking[index] = one, slots
        self._feeds = tuple((name, _reader(name), references if reading == "references" else COERCERS[reading]) for name, reading in feeds)
        self.asks = bool(self._asking)
        self.asking: Final = tuple(self._asking)
        """Which instances ask instruments, by their place."""

    def outcomes(self, fields: Mapping[str, Any]) -> list[Outcome]:
        """One outcome for each instance, in their order. Instances that ask instruments need `outcomes_async`."""
        values = self.read(fields)
        return [cell(values) for cell in self._pure if cell is not None]

    async def outcomes_async(self, context: EvaluationContext) -> list[Outcome]:
        """As `outcomes`, with the instances that ask driven by `context.answer`, one after the other."""
        values = self.read(context.fields)
        done: list[Any] = self.computed(values)
        for index in self.asking:
            done[index] = await self.ask(index, values, context)
        return done

    def computed(self, values: list[Any]) -> list[Outcome | None]:
        """The outcomes of the instances that ask nobody, at their places; None at the others'."""
        return [None if cell is None else cell(values) for cell in self._pure]

    async def ask(self, index: int, values: Sequence[Any], context: EvaluationContext) -> Outcome:
        """The outcome of one instance of `asking`, its requests answered by `context.answer`."""
        one, slots = self._asking[index]
        return await _asked(one, slots, values, context)

    def read(self, fields: Mapping[str, Any]) -> list[Any]:
        """What the instances take of a row, each thing read once; for `computed` and `ask`."""
        values: list[Any] = []
        for name, reader, coerce in self._feeds:
            raw = fields.get(name, _ABSENT) if reader is None else reader(fields)
            if raw is _ABSENT:
                values.append(_ABSENT)
            elif type(raw) is Invalid:
                values.append(_Unreadable(raw.as_error(name)))
            else:
                try:
                    values.append(coerce(raw, name))
                except CellError as error:
                    values.append(_Unreadable(error))
                except RecursionError:
                    values.append(_Unreadable(InvalidFieldError(f"{name} is nested too deeply", name)))
        return values


def _reading(metric: Metric[Any], parameter: Parameter) -> str:
    return "references" if _fans_out(metric, parameter) else parameter.annotation


def _fans_out(metric: Metric[Any], parameter: Parameter) -> bool:
    return parameter.field == "expected" and parameter.annotation == "str" and metric.opaque is None


def _reader(name: str) -> Callable[[Mapping[str, Any]], Any] | None:
    if not name.startswith("metadata."):
        return None
    column = name.removeprefix("metadata.")

    def read(fields: Mapping[str, Any]) -> Any:
        metadata = fields.get("metadata", {})
        if type(metadata) is Invalid:
            return metadata
        value = metadata.get(column)
        return _ABSENT if value is None or value == "" else value

    return read


def _arguments(one: Instance, slots: Sequence[tuple[int, bool, str]], values: Sequence[Any]) -> list[Any]:
    arguments: list[Any] = []
    unreadable: CellError | None = None
    for index, required, name in slots:
        value = values[index]
        if value is _ABSENT:
            if required:
                raise MissingFieldError(f"the row has no {name}", name)
            arguments.append(None)
        else:
            if type(value) is _Unreadable:
                unreadable = unreadable or value.error
            arguments.append(value)
    for group in one.metric.one_of:
        if all(argument is None for argument, (_, _, name) in zip(arguments, slots, strict=True) if name in group):
            raise MissingFieldError(f"the row has neither {' nor '.join(group)}", group[0])
    if unreadable is not None:
        raise unreadable
    return arguments


def _compiled(one: Instance, slots: list[tuple[int, bool, str]]) -> Callable[[list[Any]], Outcome]:
    work = _single(one, slots)
    for position, parameter in enumerate(one.metric.parameters):
        if _fans_out(one.metric, parameter):
            work = _fanned(one, slots, position)

    def cell(values: list[Any]) -> Outcome:
        begin()
        try:
            return work(values)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a metric's fault is one cell's error, never the end of a run
            return failed(error)
        finally:
            end()

    return cell


def _single(one: Instance, slots: list[tuple[int, bool, str]]) -> Callable[[list[Any]], Outcome]:
    function, options, corpus = one.metric.function, dict(one.options), one.metric.corpus
    value_of = _checker(one.metric)

    def work(values: list[Any]) -> Outcome:
        arguments = _arguments(one, slots, values)
        outcome = value_of(function(*arguments, **options))
        return outcome if corpus is None else _with_counts(outcome, corpus, arguments)

    return work


def _fanned(one: Instance, slots: list[tuple[int, bool, str]], position: int) -> Callable[[list[Any]], Outcome]:
    """Scores against each accepted answer, which the parameter at `position` takes, and keeps the best; `details.reference` says which it was."""
    function, options = one.metric.function, dict(one.options)
    value_of = _checker(one.metric)
    better = min if one.metric.direction == "lower" else max

    def work(values: list[Any]) -> Outcome:
        arguments = _arguments(one, slots, values)
        accepted = arguments[position]
        if accepted is None or len(accepted) == 1:
            arguments[position] = None if accepted is None else accepted[0]
            return value_of(function(*arguments, **options))
        return _best([_against(reference, arguments) for reference in accepted])

    def _against(reference: str, arguments: list[Any]) -> Outcome:
        still_time()
        arguments[position] = reference
        try:
            return value_of(function(*arguments, **options))
        except UndefinedError as error:
            return failed(error)

    def _best(outcomes: list[Outcome]) -> Outcome:
        scored = [(score, index, rest or {}) for index, (status, score, rest) in enumerate(outcomes) if status == OK and score is not None]
        unscored = [outcome for outcome in outcomes if outcome[0] != OK]
        if unscored and (not scored or any(status == ERROR for status, _, _ in unscored)):
            return next((outcome for outcome in reversed(unscored) if outcome[0] == ERROR), unscored[0])
        best = better(score for score, _, _ in scored)
        index, rest = next((index, rest) for score, index, rest in scored if score == best)
        return OK, best, {**rest, "details": {**rest.get("details", {}), "reference": index}}

    return work


def _with_counts(outcome: Outcome, corpus: CorpusFold, arguments: Sequence[Any]) -> Outcome:
    """The outcome, with the row's counts for the corpus statistic kept beside the score (`details.counts`)."""
    status, score, rest = outcome
    if status != OK:
        return outcome
    counts = list(corpus.add(corpus.zero(), *arguments))
    return OK, score, {**(rest or {}), "details": {**(rest or {}).get("details", {}), "counts": counts}}


async def _asked(one: Instance, slots: list[tuple[int, bool, str]], values: Sequence[Any], context: EvaluationContext) -> Outcome:
    metric = one.metric
    try:
        arguments = _arguments(one, slots, values)
        if metric.opaque is not None:
            return _of_opaque(metric, await metric.function(evolve(context, options=one.options)))
        instruments = frozenset(name for name, used in (("judge", metric.judge), ("embedder", metric.embedder)) if used)
        value = await drive_async(metric.function(*arguments, **one.options), context.answer or _nobody, instruments)
        return _checker(metric)(value)
    except ENDS_A_RUN:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a metric's fault is one cell's error, never the end of a run
        return failed(error)


async def _nobody(request: Request[Any]) -> Any:
    raise CellError(f"no model is bound that answers {type(request).__name__}")


def _of_opaque(metric: Metric[Any], value: Any) -> Outcome:
    if not isinstance(value, MetricResult):
        return _checker(metric)(value)
    if value.status == "ok":
        kept = {"label": value.label, "probabilities": value.probabilities, "confidence": value.confidence, "details": as_json(value.details)}
        status, score, rest = _checker(metric)(value.score)
        if status != OK:
            return status, score, rest
        return OK, score, {key: entry for key, entry in kept.items() if entry} or None
    error = value.error or ResultError("internal", "the metric gave no reason")
    return STATUSES.index(value.status), None, {"error": ResultError(error.code, error.message[:MESSAGE_LIMIT], error.field).to_dict()}


def failed(error: BaseException) -> Outcome:
    """The outcome of a cell that raised."""
    if isinstance(error, CellError) and error.code in ERROR_CODES:
        status = NOT_APPLICABLE if error.code in NOT_APPLICABLE_CODES else ERROR
        rest: dict[str, Any] = {"error": ResultError(error.code, error.message, error.field).to_dict()}
        return status, None, rest if error.details is None else {**rest, "details": as_json(error.details)}
    return ERROR, None, {"error": {"code": "internal", "message": _told(error)[:MESSAGE_LIMIT]}}


def _told(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        return f"{kind}: {error}"
    except Exception:  # noqa: BLE001  # an error that cannot say what it is
        return kind


def _checker(metric: Metric[Any]) -> Callable[[Any], Outcome]:
    low, high = metric.range
    whole = metric.type in ("count", "binary")
    what = "a count is a whole number" if metric.type == "count" else "a binary metric is 0 or 1"

    def checked(value: Any) -> Outcome:
        rest: dict[str, Any] | None = None
        if type(value) is Score:
            rest = _rest(value)
            value = value.value
        if value is None:
            reason = (rest or {}).get("details", {}).get("reason")
            return NOT_APPLICABLE, None, {**(rest or {}), "error": {"code": "undefined", "message": str(reason or "not defined for this row")[:MESSAGE_LIMIT]}}
        try:
            score = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidScoreError(f"the metric returned {type(value).__name__} {value!r:.60}, which is no number") from None
        if isinstance(value, (str, bytes)) or not math.isfinite(score):
            raise InvalidScoreError(f"the metric returned {value!r:.60}, which is no score")
        if score < low or score > high:
            if score < low - _SLACK or score > high + _SLACK:
                raise InvalidScoreError(f"the metric returned {score:g}, outside its range {low:g} to {high:g}")
            score = min(max(score, low), high)
        if whole and score != int(score):
            raise InvalidScoreError(f"the metric returned {score:g}, and {what}")
        return OK, score, rest

    return checked


def _rest(score: Score[Any]) -> dict[str, Any] | None:
    rest: dict[str, Any] = {}
    if score.details:
        rest["details"] = as_json(score.details)
    if score.label is not None:
        rest["label"] = str(score.label)
    if score.probabilities is not None:
        rest["probabilities"] = as_json(score.probabilities)
    if score.confidence is not None:
        rest["confidence"] = score.confidence
    return rest or None


def result_of(one: Instance, outcome: Outcome, *, sample_id: str | None = None, task: str | None = None, trial: int | None = None) -> MetricResult:
    """The full result that an outcome stands for."""
    status, score, rest = outcome
    kept = dict(rest or {})
    error = kept.pop("error", None)
    return MetricResult(
        metric=one.name,
        version=one.metric.version,
        sample_id=sample_id,
        task=task,
        trial=trial,
        score=score,
        status=STATUSES[status],
        passed=passed(score, one.threshold, one.metric.direction),
        threshold=one.threshold,
        error=None if error is None else ResultError(**error),
        signature=one.signature,
        **kept,
    )


async def evaluate(metric: Metric[Any], context: Any) -> MetricResult:
    """One metric on one row, whatever form the row comes in."""
    asked = as_context(context)
    one = instance(metric, asked.options)
    outcome = (await Program([one]).outcomes_async(asked))[0]
    return result_of(one, outcome, sample_id=asked.sample_id, task=asked.task, trial=asked.trial)


def as_context(row: Any) -> EvaluationContext:
    """A context from a context, a `Record`, or a mapping of field names to raw values."""
    if isinstance(row, EvaluationContext):
        return row
    if isinstance(row, Record):
        return EvaluationContext(row.fields, row.id, row.task, row.trial)
    from measurand.core.coerce import typed_fields

    return EvaluationContext(typed_fields(row))
