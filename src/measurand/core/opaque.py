"""Metrics that are objects: adapters of other libraries and class-based plugins, behind the same face as all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from measurand.core.errors import DeclarationError
from measurand.core.metric import Metric, declared_metric, named_parameters
from measurand.core.taxonomy import MetricCategory


@runtime_checkable
class OpaqueMetric(Protocol):
    """What a class-based metric states, and does.

    Optional attributes with their defaults: `version` ("1"), `categories` (none), `optional` (no fields), `instruments` (none; "judge", "embedder"),
    `direction` ("higher"), `type` ("proportion"), `range`, `threshold`, `example`, `source`.
    """

    @property
    def name(self) -> str:
        """A dotted name."""

    @property
    def requires(self) -> Iterable[str]:
        """The fields a row must have."""

    async def evaluate(self, context: Any) -> Any:
        """A number, a `Score`, None (undefined) or a `MetricResult` for the row in `context.fields`."""


def opaque(thing: OpaqueMetric) -> Metric[Any]:
    """The declaration of an object. Raises `DeclarationError` when it lacks a part or contradicts itself."""
    for attribute in ("name", "requires", "evaluate"):
        if not hasattr(thing, attribute):
            raise DeclarationError(f"{type(thing).__qualname__} has no '{attribute}'; a class-based metric has name, requires and async evaluate(context)")
    stated: Mapping[str, Any] = {key: getattr(thing, key) for key in ("direction", "type", "range", "threshold", "example", "source") if hasattr(thing, key)}
    instruments = frozenset(getattr(thing, "instruments", ()))
    where = f"{thing.name} ({type(thing).__module__}.{type(thing).__qualname__})"
    return declared_metric(
        thing.evaluate,
        thing.name,
        getattr(thing, "categories", MetricCategory(0)),
        where=where,
        number=stated.get("type", "proportion"),
        judge="judge" in instruments,
        embedder="embedder" in instruments,
        parameters=named_parameters(thing.requires, getattr(thing, "optional", ()), where),
        doc=(type(thing).__doc__ or "").strip(),
        version=str(getattr(thing, "version", "1")),
        opaque=thing,
        origin=(type(thing).__module__, type(thing).__qualname__),
        **{key: value for key, value in stated.items() if key != "type"},
    )
