"""What a metric costs on the row of its example, with the judge and embedding model of a config. Loaded only where a price is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from measurand.core.coerce import typed_fields
from measurand.core.instance import Instance, instance
from measurand.core.metric import Metric
from measurand.core.options import OptionsError
from measurand.report.catalogue_json import asks, split_example

if TYPE_CHECKING:
    from measurand.config import Settings


@frozen
class ExampleCost:
    """US dollars of the example's row, None where no price is known, and the models whose price that is."""

    usd: float | None
    model: str | None


def example_costs(metrics: Iterable[Metric[Any]], settings: Settings) -> Mapping[str, ExampleCost]:
    """Name → cost, of the metrics that ask a model."""
    return {one.name: _of(one, settings) for one in metrics if asks(one)}


def _of(one: Metric[Any], settings: Settings) -> ExampleCost:
    from measurand.run.bind import bind
    from measurand.run.cost import cost_of_row

    fields, given = split_example(one)
    bound_one = _bound(one, settings, given)
    if bound_one is None or not fields:
        return ExampleCost(None, None)
    bound = bind([bound_one], settings, os.environ)
    models = ", ".join(dict.fromkeys(model.settings.model for model in bound.models)) or None
    unbound = (one.judge and not bound.judges) or (one.embedder and not bound.embeddings)
    if unbound or any(model.price is None for model in bound.models):
        return ExampleCost(None, models)
    return ExampleCost(cost_of_row(bound, typed_fields(fields)), models)


def _bound(one: Metric[Any], settings: Settings, given: Mapping[str, Any]) -> Instance | None:
    """The metric as the config would run it; None where its options do not fit, or what it asks is not known before it runs."""
    table = settings.metric(one.name)
    try:
        made = instance(one, {**given, **table.options})
    except OptionsError:
        return None
    if one.opaque is not None:
        return None
    run = settings.run
    return evolve(
        made,
        judge=tuple(table.judge or run.judge or ()) if one.judge else (),
        embedding=(table.embedding or run.embedding) if one.embedder else None,
        draws=(table.draws or run.draws) if one.judge else 1,
    )
