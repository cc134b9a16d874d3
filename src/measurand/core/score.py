"""A score, as a metric returns it when there is something to keep beside the number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from attrs import field, frozen

T = TypeVar("T")


@frozen
class Score(Generic[T]):
    """A score with what is worth keeping beside it. `details` is JSON; the rest is what a result of that name holds."""

    value: T | None
    details: Mapping[str, Any] = field(factory=dict)
    label: str | None = None
    probabilities: Mapping[str, float] | None = None
    confidence: float | None = None
