"""What goes into a store and what comes out of it: frozen values and rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from attrs import Attribute, asdict, field, frozen

from measurand.core.result import NO_USAGE, CallUsage

Json: TypeAlias = Any
Int8Array: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int8]]
Int32Array: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int32]]
Int64Array: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
FloatArray: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

OK: Final = 0
NOT_APPLICABLE: Final = 1
ERROR: Final = 2
NOT_STORED: Final = -1
"""Only in `ScoreColumns.status`: the row is stored, this metric's result is not (the run ended in between)."""

STATUS_NAMES: Final = ("ok", "not_applicable", "error")
"""The status words of a result, by their stored number."""

RunStatus = Literal["complete", "incomplete"]

SampleRow: TypeAlias = tuple[int, str, str, int, str | None, str, str | None, str | None, str | None]
"""(ordinal, id, task, trial, cluster, task hashes JSON, tags JSON, slices JSON, row JSON), as the writer takes it."""

ResultRow: TypeAlias = tuple[int, int, int, float | None, str | None]
"""(ordinal, metric index, status, score, rest JSON), as the writer takes it."""


def utc(moment: str) -> str:
    """An ISO 8601 moment with its offset, in UTC and of one length, so that texts sort as times do. ValueError without an offset."""
    time = datetime.fromisoformat(moment)
    if time.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; write e.g. 2026-11-30T22:10:05+00:00")
    return time.astimezone(UTC).isoformat(timespec="microseconds")


@frozen
class RunMetric:
    """One metric of one run, as it was set. `low`, `high`: its range, None = unbounded."""

    index: int
    name: str
    """The instance's name; unique in the run."""
    base: str
    """The registry's metric it is an instance of; the same as `name` for most."""
    version: str
    signature: str
    options: dict[str, Json]
    threshold: float | None
    direction: str
    type: str
    low: float | None
    high: float | None
    categories: list[str]


@frozen(kw_only=True)
class RunStart:
    """What is known of a run before its first row. Secrets must not be in `config` or `command`."""

    run_id: str
    name: str | None = None
    project: str
    started_at: str = field(converter=utc)
    """ISO 8601 with an offset; kept in UTC."""
    dataset: dict[str, Json]
    config: dict[str, Json]
    plan_id: str
    metrics: tuple[RunMetric, ...] = field()
    git_commit: str | None = None
    versions: dict[str, Json] = field(factory=dict)
    command: list[str] = field(factory=list)
    mapping: list[Json] = field(factory=list)
    has_trials: bool = False

    @metrics.validator
    def _indexed_in_order(self, _attribute: Attribute[tuple[RunMetric, ...]], metrics: tuple[RunMetric, ...]) -> None:
        if [metric.index for metric in metrics] != list(range(len(metrics))):
            raise ValueError("the metrics of a run are numbered 0, 1, 2, … in their order")


@frozen(kw_only=True)
class RunInfo(RunStart):
    """A stored run without its rows. A run whose process died is `incomplete` without a reason."""

    status: RunStatus
    reason: str | None = None
    elapsed_s: float | None = None
    counts: dict[str, Json] = field(factory=dict)
    usage: dict[str, Json] = field(factory=dict)
    removed_rows: int = 0
    """Rows deleted from the run since (`metrics delete --row`); `counts` is what the run itself saw."""

    @property
    def label(self) -> str:
        """`id "name"`, or the id alone."""
        return f'{self.run_id} "{self.name}"' if self.name else self.run_id


class StoredSample(NamedTuple):
    """One row of a run. `row` is the record as it was kept; None when the store keeps no content."""

    ordinal: int
    id: str
    task: str
    trial: int
    cluster: str | None
    task_hashes: dict[str, str]
    tags: list[str] | None
    slices: Json
    row: Json


class StoredResult(NamedTuple):
    """One metric's result on one row. `rest` has the other keys of a result that are not null; `usage` is computed from the calls it used."""

    ordinal: int
    sample_id: str
    task: str
    trial: int
    metric: int
    """Index into the run's metrics."""
    status: int
    """OK, NOT_APPLICABLE or ERROR."""
    score: float | None
    rest: dict[str, Json]
    usage: CallUsage = NO_USAGE


CallKind: TypeAlias = Literal["chat", "embedding", "probe", "learned"]
CALL_KINDS: Final[tuple[CallKind, ...]] = ("chat", "embedding", "probe", "learned")

CallStatus: TypeAlias = Literal["ok", "unreadable", "refused", "truncated", "fault"]
CALL_STATUSES: Final[tuple[CallStatus, ...]] = ("ok", "unreadable", "refused", "truncated", "fault")

Use: TypeAlias = tuple[int, int]
"""Who used a call: (ordinal of the row, index of the metric)."""

OF_THE_RUN: Final[Use] = (-1, -1)
"""The user of a call that serves the whole run: a probe, a learned refusal. Its cost goes to the first result that asked the same model."""

GIVEN_UP: Final = -1
"""The metric index of a row's calls whose results were dropped to be scored again: they go when the row goes, and count nowhere else."""


@frozen(kw_only=True)
class NewCall:
    """A call that was made, to be recorded.

    `reply`: a chat's is `completion_json(…)`, an embedding's `vector_json(…)`; a fault's is `{"error": {code, message}}`. `usage`: {input_tokens,
    output_tokens, cached_tokens, reported, cost_usd or None, latency_s, calls}. `served`: {model, fingerprint} as the server gives them.
    A call without a reply cannot be reused. Nothing here may hold a key or a header.
    """

    kind: CallKind
    model: str
    status: CallStatus = "ok"
    request: dict[str, Json] | None = None
    reply: dict[str, Json] | None = None
    usage: dict[str, Json] = field(factory=dict)
    served: dict[str, Json] | None = None


@frozen
class Recorded:
    """A recorded call, as it is reused. `call`: its number in the store; 0 for one that is only in a cassette."""

    call: int
    status: CallStatus
    reply: dict[str, Json]
    usage: dict[str, Json]
    kind: CallKind
    imported: bool
    served: dict[str, Json] | None


@frozen(kw_only=True)
class StoredCall(NewCall):
    """A recorded call with who used it in one run."""

    key: str
    imported: bool
    recorded_at: str
    paid: bool
    """Whether this run made the call; else it found it recorded."""
    uses: tuple[Use, ...]
    """Its users in this run, in order."""


@frozen(kw_only=True)
class CallTotals:
    """What the calls of a run come to, as recorded: Σ of the usage of its results."""

    calls: int = 0
    cached_calls: int = 0
    """Of those, found recorded."""
    unreported_calls: int = 0
    """Of those, with tokens that are an estimate."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None when a price is not known."""

    def to_dict(self) -> dict[str, Json]:
        """With exactly the keys of a run's `usage`."""
        return asdict(self)


@frozen
class ServedModel:
    """What answered under one model's name in a run."""

    model: str
    """As the config names it."""
    name: str | None
    """As the server names it."""
    fingerprint: str | None
    calls: int


@frozen(eq=False)
class ScoreColumns:
    """One metric's results as arrays over the run's rows, in order: 9 bytes a row."""

    status: Int8Array
    score: FloatArray
    """NaN where `status` is not OK."""


@frozen
class Deleted:
    """What a deletion removed, or would remove."""

    runs: int = 0
    """Runs removed; for one row everywhere: runs it was removed from."""
    rows: int = 0
    results: int = 0
    calls: int = 0
    """Recorded calls that nothing else used."""
