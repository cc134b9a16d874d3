"""A plan in figures: calls, tokens, USD and minutes for each metric and in total, and what goes to which host."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from attrs import evolve, field, frozen

from measurand.core.fields import FIELDS
from measurand.core.instance import Instance
from measurand.run.bind import Bound, BoundModel, asks

if TYPE_CHECKING:
    from measurand.run.cost import Estimate, Expected
    from measurand.run.reuse import Reuse

LATENCY_S: Final = 2.0
"""What a call is taken to take where none of the model is recorded."""
LOCAL_LATENCY_S: Final = 0.1
"""The same for an encoder on this machine."""


@frozen
class Forecast:
    """Figures of a metric, or of several. `cost_usd` is None where a price is not known."""

    calls: int = 0
    calls_min: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def to_dict(self) -> dict[str, Any]:
        """With the keys of `check`."""
        return {
            "calls": self.calls,
            "calls_min": self.calls_min,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
        }


NOTHING: Final = Forecast()
UNKNOWN: Final = Forecast(cost_usd=None)


@frozen
class Destination:
    """A host that something is sent to."""

    host: str
    models: tuple[str, ...]
    metrics: tuple[str, ...]
    fields: tuple[str, ...]
    rows: int
    roles: tuple[str, ...] = field(default=(), eq=False)
    """What the models are there: "judge", "embedding"."""

    def to_dict(self) -> dict[str, Any]:
        """With the keys of `check`."""
        return {"host": self.host, "models": list(self.models), "metrics": list(self.metrics), "fields": list(self.fields), "rows": self.rows}


@frozen(eq=False)
class Cost:
    """What a plan comes to. `metrics` and `reasons` have one entry for each instance, in their order."""

    metrics: tuple[Forecast, ...]
    """What their scores take."""
    reasons: tuple[Forecast, ...] = ()
    """What their reasons take beside that; () where none are asked for."""
    destinations: tuple[Destination, ...] = ()
    minutes: float | None = 0.0
    in_flight: int = 0
    """Requests at once, of the model that takes longest."""
    assumed_s: float | None = None
    """The seconds a call is taken to take, where none of that model is recorded."""
    probed: Mapping[str, str] = field(factory=dict)
    """Judge → where its probabilities come from ("logprobs", "sampled", "typed"), "" while that is not known."""
    unasked: Mapping[str, tuple[int, str]] = field(factory=dict)
    """Metric → on how many rows of the sample it cannot be asked, and why."""
    reuse: Reuse | None = None
    """How much of what judges are asked one by one is recorded; None where nothing is looked up."""
    corrected: Mapping[str, float] = field(factory=dict)
    """Judge → what estimates of its tokens are multiplied by, where its server has counted enough of them before."""
    regrouped: tuple[str, tuple[str, ...]] | None = None
    """The newest run, and the metrics that it asked together with other questions than this plan does."""

    @property
    def total(self) -> Forecast:
        """The sum over all metrics and reasons."""
        return total((*self.metrics, *self.reasons))


def total(parts: Sequence[Forecast]) -> Forecast:
    """The sum; its price is unknown where one part's is."""
    costs = [one.cost_usd for one in parts]
    return Forecast(
        sum(one.calls for one in parts),
        sum(one.calls_min for one in parts),
        sum(one.input_tokens for one in parts),
        sum(one.output_tokens for one in parts),
        None if any(one is None for one in costs) else math.fsum(one for one in costs if one is not None),
    )


def forecast(
    bound: Bound,
    found: Estimate,
    rows: Mapping[int, int],
    latency: Mapping[str, float],
    fields: Mapping[int, Sequence[str]],
    *,
    sends: bool,
    corrected: Mapping[str, float] | None = None,
) -> Cost:
    """`rows`, `fields`: instance → how many rows feed it, and the fields that they have. `latency`: model as the server knows it → mean recorded seconds.

    `corrected`: judge → what estimates of its tokens are multiplied by.
    """
    by_metric: dict[tuple[int, bool], list[Expected]] = {}
    by_model: dict[tuple[str, str], list[Expected]] = {}
    for expected in found.expected:
        one = _corrected(expected, corrected or {})
        by_metric.setdefault((one.index, one.reasons), []).append(one)
        by_model.setdefault(one.model.key, []).append(one)
    metrics = tuple(_of_metric(one, by_metric.get((index, False), [])) for index, one in enumerate(bound.instances))
    explained = any(one.reasons for one in found.expected)
    reasons = tuple(total([_of_model(part) for part in by_metric.get((index, True), [])]) for index in range(len(bound.instances))) if explained else ()
    times = [_time(model, by_model.get(model.key, []), latency) for model in bound.models]
    longest = max(times, key=lambda one: one[0], default=(0.0, 0, None))
    return Cost(
        metrics,
        reasons,
        tuple(_destinations(bound, rows, fields)) if sends else (),
        longest[0] / 60 if sends else 0.0,
        longest[1],
        longest[2] if sends else None,
        {name: _where_from(name, bound, found) for name in bound.judges},
        {bound.instances[index].name: told for index, told in found.unasked.items()},
        corrected=corrected or {},
    )


def _corrected(one: Expected, by: Mapping[str, float]) -> Expected:
    if not one.model.is_judge or one.model.name not in by:
        return one
    return evolve(one, spent=evolve(one.spent, input_tokens=one.spent.input_tokens * by[one.model.name]))


def _where_from(name: str, bound: Bound, found: Estimate) -> str:
    """Where a judge's probabilities come from; "" while that is not known. Questions that go together are always sampled."""
    if all(one.ask == "together" for one in bound.instances if name in one.judge):
        return "sampled"
    return found.ways[name].single if found.probed.get(name, True) else ""


def _of_metric(one: Instance, parts: Sequence[Expected]) -> Forecast:
    if not parts:
        return UNKNOWN if asks(one) and one.metric.opaque is not None else NOTHING
    return total([_of_model(part) for part in parts])


def _of_model(part: Expected) -> Forecast:
    spent, price = part.spent, part.model.price
    sent, received = round(spent.input_tokens), round(spent.output_tokens)
    calls = _up(spent.calls)
    usd = None if price is None else (sent * price.input + received * price.output) / 1e6
    return Forecast(calls, min(calls, _up(spent.calls_min)), sent, received, usd)


def _up(calls: float) -> int:
    return math.ceil(calls - 1e-6)


def _time(model: BoundModel, parts: Sequence[Expected], latency: Mapping[str, float]) -> tuple[float, int, float | None]:
    """(seconds, requests in flight, seconds a call is taken to take or None where that is recorded)."""
    settings = model.settings
    assumed = LOCAL_LATENCY_S if settings.provider == "local" else LATENCY_S
    known = latency.get(settings.model)
    calls = sum(part.spent.calls for part in parts)
    tokens = sum(part.spent.input_tokens + part.spent.output_tokens for part in parts)
    at_once = 1 if settings.provider == "local" else max(1, min(settings.max_concurrency, _up(calls)))
    times = [calls * (assumed if known is None else known) / at_once]
    if settings.requests_per_minute is not None:
        times.append(60 * max(0.0, calls / settings.requests_per_minute - 1))  # its bucket starts full
    if settings.tokens_per_minute is not None:
        times.append(60 * max(0.0, tokens / settings.tokens_per_minute - 1))
    return max(times), settings.max_concurrency, assumed if known is None else None


def _destinations(bound: Bound, rows: Mapping[int, int], fields: Mapping[int, Sequence[str]]) -> Iterator[Destination]:
    hosts: dict[str, list[BoundModel]] = {}
    for model in bound.models:
        host = _host(model)
        if host is not None:
            hosts.setdefault(host, []).append(model)
    for host, models in hosts.items():
        served = [index for index, one in enumerate(bound.instances) if any(_serves(model, one) for model in models) and rows.get(index)]
        shown = {name for index in served for name in fields.get(index, ())}
        yield Destination(
            host,
            tuple(dict.fromkeys(model.settings.model for model in models)),
            tuple(bound.instances[index].name for index in served),
            tuple(sorted(shown, key=_rank)),
            max((rows[index] for index in served), default=0),
            tuple(dict.fromkeys("judge" if model.is_judge else "embedding" for model in models)),
        )


def _serves(model: BoundModel, one: Instance) -> bool:
    return model.name in one.judge if model.is_judge else model.name == one.embedding


def _host(model: BoundModel) -> str | None:
    """Where requests go; None for an encoder on this machine. What a plugin contacts is its own affair: its provider is named."""
    if model.settings.provider == "local" and not model.is_judge:
        return None
    address = model.settings.address()
    return f"plugin {model.settings.provider}" if address is None else urlsplit(address).netloc.rpartition("@")[2]


_RANK: Final = {name: rank for rank, name in enumerate(FIELDS)}


def _rank(name: str) -> tuple[int, str]:
    return _RANK.get(name.partition(".")[0], len(_RANK)), name
