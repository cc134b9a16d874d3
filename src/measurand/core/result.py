"""The result: one metric on one row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from attrs import asdict, field, frozen

Status = Literal["ok", "not_applicable", "error"]
STATUSES: tuple[Status, ...] = ("ok", "not_applicable", "error")
"""In the order of their codes in the store: 0, 1, 2."""


@frozen
class ResultError:
    """Why there is no score. `code` is one of `core.errors.ERROR_CODES`; `message` has at most 500 characters."""

    code: str
    message: str
    field: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `field` only when one is named."""
        data: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.field is not None:
            data["field"] = self.field
        return data


@frozen
class CallUsage:
    """What a result cost. Code metrics make no calls."""

    calls: int = 0
    shared_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    latency_s: float = 0.0


NO_USAGE = CallUsage()


@frozen(repr=False)
class MetricResult:
    """One metric on one row. `score` is a finite number exactly when `status` is "ok", else None."""

    metric: str
    version: str
    sample_id: str | None
    task: str | None
    trial: int | None
    score: float | None
    status: Status
    label: str | None = None
    passed: bool | None = None
    threshold: float | None = None
    confidence: float | None = None
    probabilities: Mapping[str, float] | None = None
    details: Mapping[str, Any] = field(factory=dict)
    error: ResultError | None = None
    usage: CallUsage = NO_USAGE
    draws: tuple[Any, ...] | None = None
    signature: str = ""

    def __repr__(self) -> str:
        told = ("metric", "score", "status", "label", "passed", "error", "sample_id", "details")
        said = ((name, getattr(self, name)) for name in told)
        return f"MetricResult({', '.join(f'{name}={value!r}' for name, value in said if value not in (None, {}))})"

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with exactly the keys of the contract."""
        data = {name: getattr(self, name) for name in RESULT_KEYS}
        data["probabilities"] = None if self.probabilities is None else dict(self.probabilities)
        data["details"] = dict(self.details)
        data["error"] = None if self.error is None else self.error.to_dict()
        data["usage"] = asdict(self.usage)
        data["draws"] = None if self.draws is None else list(self.draws)
        return data


def as_json(value: Any) -> Any:
    """A value as JSON has it: sets and tuples are lists, NaN and infinities null, keys texts; an array is its list; what has no JSON form is its text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): as_json(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(entry) for entry in value]
    return as_json(value.tolist()) if hasattr(value, "tolist") else str(value)


RESULT_KEYS: tuple[str, ...] = tuple(attribute.name for attribute in MetricResult.__attrs_attrs__)


def passed(score: float | None, threshold: float | None, direction: str) -> bool | None:
    """Whether a score is on the good side: ≥ threshold where higher is better, < where lower is; None without score, threshold or direction."""
    if score is None or threshold is None or direction == "none" or math.isnan(score):
        return None
    return score >= threshold if direction == "higher" else score < threshold
