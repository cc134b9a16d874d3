"""Which fields the rows have, counted by pattern: what decides which metric can be fed, for any metric, after one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from attrs import define, frozen

from measurand.core.metric import Metric

_NAMES_KEPT: Final = 3


@define
class _Pattern:
    rows: int
    names: list[str]


@frozen
class Lacking:
    """The rows that cannot feed a metric: how many, the first few by name, and what they lack."""

    rows: int
    names: tuple[str, ...]
    missing: tuple[str, ...]


class Availability:
    """Counts rows by the set of fields they have. `house_columns` are the `metadata.…` fields that some metric asks for."""

    def __init__(self, house_columns: Iterable[str] = ()) -> None:
        self._columns = tuple(name.removeprefix("metadata.") for name in house_columns)
        self._patterns: dict[frozenset[str], _Pattern] = {}

    @property
    def rows(self) -> int:
        """How many rows were seen."""
        return sum(pattern.rows for pattern in self._patterns.values())

    @property
    def observe(self) -> Callable[[Mapping[str, Any], str], None]:
        """What the validating pass calls for each row."""
        patterns = self._patterns
        columns = self._columns

        def seen(fields: Mapping[str, Any], name: str) -> None:
            key = frozenset(fields)
            if columns and "metadata" in fields:
                metadata = fields["metadata"]
                key |= {f"metadata.{column}" for column in columns if metadata.get(column) not in (None, "")}
            pattern = patterns.get(key)
            if pattern is None:
                pattern = patterns[key] = _Pattern(0, [])
            pattern.rows += 1
            if pattern.rows <= _NAMES_KEPT:
                pattern.names.append(name)

        return seen

    @property
    def everywhere(self) -> frozenset[str]:
        """The fields that every row has."""
        return frozenset.intersection(*self._patterns) if self._patterns else frozenset()

    @property
    def somewhere(self) -> frozenset[str]:
        """The fields that some row has."""
        return frozenset().union(*self._patterns)

    def fed(self, metric: Metric[Any]) -> int:
        """How many rows can feed the metric."""
        return sum(pattern.rows for have, pattern in self._patterns.items() if metric.feedable(have))

    def feeds_every_row(self, metric: Metric[Any]) -> bool:
        """Whether there are rows and each can feed the metric."""
        return bool(self._patterns) and all(metric.feedable(have) for have in self._patterns)

    def lacking(self, metric: Metric[Any]) -> Lacking:
        """The rows that cannot feed the metric."""
        short = [(metric.missing(have), pattern) for have, pattern in self._patterns.items() if not metric.feedable(have)]
        names = [name for _, pattern in short for name in pattern.names][:_NAMES_KEPT]
        missing = dict.fromkeys(name for lack, _ in short for name in lack)
        return Lacking(sum(pattern.rows for _, pattern in short), tuple(names), tuple(missing))
