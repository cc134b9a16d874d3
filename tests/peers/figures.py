"""Our side of a comparison: a figure, which metric it comes from, and what to raise where we have none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from measurand import registry, score
from measurand.core.errors import UndefinedError
from measurand.core.metric import Metric, Score

NOT_DEFINED: Final = "not defined"


class NotOursError(Exception):
    """The quantity of a case is none of ours; its name is looked up under `not_covered` in deviations.toml."""

    def __init__(self, quantity: str) -> None:
        super().__init__(quantity)
        self.quantity = quantity


class Figure(NamedTuple):
    """A number (or `NOT_DEFINED`) and the metric or statistic that says it."""

    value: float | str
    name: str

    def to(self, change: Callable[[float], float]) -> Figure:
        """The figure on the other project's scale."""
        return self if isinstance(self.value, str) else Figure(change(self.value), self.name)


def of(name: str, options: Mapping[str, Any] | None = None, /, **fields: Any) -> Figure:
    """What `measurand.score` says of a row. A row that cannot be read is a fault of the adapter.

    Raises `NotOursError` for a metric that does not exist: nothing has to be changed here when it comes, but its entry under `not_covered` must go.
    """
    if registry.get(name) is None:
        raise NotOursError(name)
    result = score(name, options=options, **fields)
    if result.status == "error":
        raise AssertionError(f"{name}: {result.error}")
    return Figure(NOT_DEFINED if result.score is None else result.score, name)


def bare(metric: Metric[Any], *fields: Any, **options: Any) -> Figure:
    """What the bare formula says, for rows that a record would read otherwise (a list as `expected` is several references)."""
    try:
        value: Any = metric(*fields, **options)
    except UndefinedError:
        return Figure(NOT_DEFINED, metric.name)
    plain = value.value if isinstance(value, Score) else value
    return Figure(NOT_DEFINED if plain is None else float(plain), metric.name)


def only(params: Mapping[str, Any], *known: str) -> None:
    """Raises `NotOursError`, named after it, for a setting that we do not have."""
    unknown = next((name for name in params if name not in known), None)
    if unknown is not None:
        raise NotOursError(unknown)
