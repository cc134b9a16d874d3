"""Executing a plan: blocks of rows become batches of outcomes, in row order. Nothing is stored here."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from attrs import frozen

from measurand.core.cell import ERROR, EvaluationContext, Outcome, Program
from measurand.core.errors import MeasurandError
from measurand.core.instance import Instance
from measurand.data.dataset import RecordRow

if TYPE_CHECKING:
    from measurand.run.asking.execute import Asking, Scored

BLOCK: Final = 2_000
GROUP_S: Final = 1.0
"""Rows that ask are stored at least this often, in seconds."""
_WAIT_S: Final = 0.2


@frozen
class Job:
    """What a worker needs of a plan: plain data, no rows, no secrets."""

    instances: tuple[Instance, ...]
    slices: tuple[str, ...]
    content: str


class ResultBatch(NamedTuple):
    """A block of rows as the store takes it, and how many cells ended in an error."""

    samples: list[Any]
    results: list[Any]
    errors: int


def execute(job: Job, rows: Iterable[RecordRow]) -> Iterator[ResultBatch]:
    """Scores rows in blocks of 2 000, in their order."""
    program = Program(job.instances)
    outcomes = _awaited(program) if program.asks else lambda block: [program.outcomes(row.record.fields) for row in block]
    keep = keeper(job.content)
    for block in _blocks(rows):
        yield _batch(block, outcomes(block), job, keep)


def execute_asking(job: Job, asking: Asking) -> Iterator[ResultBatch]:
    """The rows that ask models, in groups as they end. What ends the run, or interrupts it, is raised after the rows that were done by then."""
    keep = keeper(job.content)
    done: list[Scored] = []
    ending: BaseException | None = None
    since = time.monotonic()
    while ending is None:
        try:
            found = asking.next(_WAIT_S)
            if found is not None:
                done.append(found)
        except StopIteration:
            break
        except KeyboardInterrupt as interrupt:
            done += asking.interrupt()
            ending = interrupt
        except MeasurandError as error:
            ending = error
        if done and (len(done) >= BLOCK or time.monotonic() - since > GROUP_S):
            yield _batch([row for row, _ in done], [outcomes for _, outcomes in done], job, keep)
            done, since = [], time.monotonic()
    if done:
        yield _batch([row for row, _ in done], [outcomes for _, outcomes in done], job, keep)
    if ending is not None:
        raise ending


def _blocks(rows: Iterable[RecordRow]) -> Iterator[list[RecordRow]]:
    iterator = iter(rows)
    while block := list(islice(iterator, BLOCK)):
        yield block


def _awaited(program: Program) -> Callable[[Sequence[RecordRow]], list[list[Outcome]]]:
    from measurand.run.loop import run_all

    def outcomes(block: Sequence[RecordRow]) -> list[list[Outcome]]:
        contexts = [EvaluationContext(row.record.fields, row.record.id, row.record.task, row.record.trial) for row in block]
        return run_all([program.outcomes_async(context) for context in contexts])

    return outcomes


def _batch(block: Sequence[RecordRow], outcomes: Sequence[Sequence[Outcome]], job: Job, keep: Keeper) -> ResultBatch:
    samples = []
    results = []
    errors = 0
    for row, cells in zip(block, outcomes, strict=True):
        record = row.record
        fields = record.fields
        ordinal = row.ordinal
        samples.append(
            (
                ordinal,
                record.id,
                record.task,
                record.trial,
                fields.get("cluster"),
                _dumps(row.task_hashes),
                _dumps(fields["tags"]) if "tags" in fields and keep.tags else None,
                _dumps({name: slice_value(fields, name) for name in job.slices}) if job.slices else None,
                keep.row(row),
            )
        )
        for index, (status, score, rest) in enumerate(cells):
            if status == ERROR:
                errors += 1
            results.append((ordinal, index, status, score, None if rest is None else _dumps(keep.rest(rest))))
    return ResultBatch(samples, results, errors)


def slice_value(fields: Any, name: str) -> Any:
    """The value of a row that a slice groups by: a field's, or a column's (`metadata.lang`, or just `lang`)."""
    if name in fields:
        return fields[name]
    value: Any = fields.get("metadata", {})
    for part in name.removeprefix("metadata.").split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str).encode


def _dumps(value: Any) -> str:
    try:
        return _encode(value)
    except (ValueError, TypeError):  # a NaN, or a key that is no text, in what a metric keeps
        return _encode(_finite(value))


def _finite(value: Any) -> Any:
    """The same with null for NaN and infinities, which JSON does not have."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    return [_finite(entry) for entry in value] if isinstance(value, (list, tuple)) else value


class Keeper:
    """What the store keeps of a row and of a result, by `[run] content`."""

    tags = True
    """Whether tags are kept; the slices that were asked for always are."""

    def row(self, row: RecordRow) -> str | None:
        """The row as it was read, as JSON."""
        return _dumps(row.row.values)

    def rest(self, rest: dict[str, Any]) -> dict[str, Any]:
        """A result's other keys."""
        return rest


class _Masked(Keeper):
    tags = False

    def row(self, row: RecordRow) -> str | None:
        from measurand.data.mask import masked

        return _dumps(masked(row.row.values))

    def rest(self, rest: dict[str, Any]) -> dict[str, Any]:
        from measurand.data.mask import masked

        return {key: _masked_error(value) if key == "error" else masked(value) if key == "details" else value for key, value in rest.items()}


class _Nothing(_Masked):
    def row(self, row: RecordRow) -> str | None:  # noqa: ARG002  # the signature of all keepers
        return None

    def rest(self, rest: dict[str, Any]) -> dict[str, Any]:
        return {key: _masked_error(value) if key == "error" else value for key, value in rest.items() if key != "details"}


def _masked_error(error: dict[str, Any]) -> dict[str, Any]:
    """A message may quote the row; its code and field say enough."""
    return {**error, "message": f"{error['code']} (the message is not kept: [run] content)"}


def keeper(content: str) -> Keeper:
    """The keeper for `full`, `masked` or `none`."""
    return {"masked": _Masked, "none": _Nothing}.get(content, Keeper)()
