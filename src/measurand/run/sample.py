"""At most 500 rows, evenly spread over data whose length is not known before its end, and the sizes of all rows: what a plan is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import define, frozen

from measurand.core.metric import Metric

MOST: Final = 500
_PATTERNS: Final = 64
_DEEP: Final = 20

Fields = Mapping[str, Any]


@define
class Sizes:
    """How many rows can feed a metric, and how many characters they would show."""

    rows: int = 0
    characters: int = 0


@frozen(eq=False)
class Sampled:
    """One kept row, with the characters of what each metric would show of it; None where it cannot be fed."""

    fields: Fields
    characters: Sequence[int | None]


class EvenSample:
    """Sees every row once. Every k-th is kept, k doubled whenever there are more than 500; of each set of fields the first row, whatever its place."""

    def __init__(self, metrics: Sequence[Metric[Any]], house_columns: Iterable[str] = ()) -> None:
        self.metrics = tuple(metrics)
        self._shown = tuple(tuple(one.field for one in metric.parameters) for metric in metrics)
        self._names = frozenset(name for names in self._shown for name in names)
        self._columns = tuple(name.removeprefix("metadata.") for name in house_columns)
        self._fed: dict[frozenset[str], tuple[int, ...]] = {}
        self._kept: list[Sampled] = []
        self._first: dict[frozenset[str], Sampled] = {}
        self._stride = 1
        self._seen = 0
        self.sizes = tuple(Sizes() for _ in metrics)
        """For each metric, over all rows."""

    def observe(self, fields: Fields, _name: str) -> None:
        """Takes note of the next row."""
        have = self._have(fields)
        fed = self._fed.get(have)
        if fed is None:
            fed = self._fed[have] = tuple(index for index, metric in enumerate(self.metrics) if metric.feedable(have))
        if fed:
            sizes = {name: characters(_of(fields, name)) for name in self._names if name in have}
            row: list[int | None] = [None] * len(self.metrics)
            for index in fed:
                row[index] = size = sum(sizes.get(name, 0) for name in self._shown[index])
                self.sizes[index].rows += 1
                self.sizes[index].characters += size
            self._keep(have, Sampled(fields, row))
        self._seen += 1

    def _have(self, fields: Fields) -> frozenset[str]:
        have = frozenset(fields)
        metadata = fields.get("metadata") if self._columns else None
        if not isinstance(metadata, Mapping):
            return have
        return have | {f"metadata.{column}" for column in self._columns if metadata.get(column) not in (None, "")}

    def _keep(self, have: frozenset[str], row: Sampled) -> None:
        if have not in self._first and len(self._first) < _PATTERNS:
            self._first[have] = row
        if self._seen % self._stride:
            return
        self._kept.append(row)
        if len(self._kept) > MOST:
            self._kept = self._kept[::2]
            self._stride *= 2

    def rows(self) -> list[Sampled]:
        """The kept rows, in order; where a metric would be without a row, the first that can feed it is added."""
        kept = list(self._kept)
        for row in self._first.values():
            if any(size is not None and all(one.characters[index] is None for one in kept) for index, size in enumerate(row.characters)):
                kept.append(row)
        return kept


def _of(fields: Fields, name: str) -> Any:
    head, dot, key = name.partition(".")
    value = fields.get(head)
    return value.get(key) if dot and isinstance(value, Mapping) else value


def characters(value: Any, depth: int = 0) -> int:
    """The characters of the texts in a value, keys counted."""
    if isinstance(value, str):
        return len(value)
    if value is None or depth > _DEEP:
        return 0
    if isinstance(value, (list, tuple)):
        return sum(characters(one, depth + 1) for one in value)
    if isinstance(value, Mapping):
        return sum(len(str(key)) + characters(one, depth + 1) for key, one in value.items())
    slots = getattr(value, "__attrs_attrs__", None)
    if slots is not None:
        return sum(characters(getattr(value, slot.name), depth + 1) for slot in slots)
    return len(str(value))
