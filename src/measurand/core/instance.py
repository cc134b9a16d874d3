"""A metric as it is used: under a name, with its options, threshold and instruments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from measurand.core.annotations import is_number
from measurand.core.metric import Metric
from measurand.core.options import OptionsError, checked_options


@frozen(eq=False)
class Instance:
    """A metric with everything that was chosen for it. `name` is what results are filed under."""

    name: str
    metric: Metric[Any]
    options: Mapping[str, Any]
    threshold: float | None
    judge: tuple[str, ...] = ()
    embedding: str | None = None
    draws: int = 1
    ask: str = "separately"
    on_missing: str = "stop"
    explain: str = "off"
    signed: tuple[str, ...] = field(default=(), kw_only=True)
    """What of the instruments decides the number, as parts of the signature: "judge:gpt-5.4-mini", "t:0", "p:logprobs" …; known once they are bound."""
    named: bool = field(default=True, kw_only=True)
    """Chosen by its name, not by a category or suite."""

    @property
    def changed_options(self) -> dict[str, Any]:
        """The options that are not at their default, in the order they are declared."""
        return {option.name: self.options[option.name] for option in self.metric.options if self.options[option.name] != option.default}

    @property
    def signature(self) -> str:
        """Everything that decides the number, in one line; two results compare when all before `lib` agrees."""
        from measurand import __version__

        parts = [self.metric.name, f"v:{self.metric.version}"]
        if self.changed_options:
            parts.append("opt:" + ",".join(f"{name}={_written(value)}" for name, value in self.changed_options.items()))
        return "|".join((*parts, *self.signed, f"lib:{__version__}"))


def instance(
    metric: Metric[Any], options: Mapping[str, Any] | None = None, *, name: str | None = None, threshold: float | None = None, **chosen: Any
) -> Instance:
    """A metric with options. Raises `OptionsError` with every option, or the threshold, that does not fit. The name defaults to `metric(k=5)`."""
    if threshold is not None and not is_number(threshold):
        raise OptionsError([f"{metric.name}: the threshold {threshold!r} is no number"])
    low, high = metric.range
    if threshold is not None and not low <= threshold <= high:
        raise OptionsError([f"{metric.name}: the threshold {threshold:g} is outside its range, {low:g} to {high:g}: every row would be on one side of it"])
    every = checked_options(metric, dict(options or {}))
    plain = Instance("", metric, every, metric.threshold if threshold is None else threshold, **chosen)
    changed = plain.changed_options
    own = metric.name if not changed else f"{metric.name}({', '.join(f'{key}={_written(value)}' for key, value in changed.items())})"
    return Instance(name or own, metric, every, plain.threshold, **chosen)


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
