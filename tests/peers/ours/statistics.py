"""Figures over rows: inspect's metrics, agenteval_dotnet's statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from measurand.stats.intervals import mean_interval
from measurand.stats.pass_rate import pass_rate
from measurand.stats.quantiles import quantile_interval

from ..figures import NOT_DEFINED, Figure, NotOursError  # noqa: TID252  # tests are imported by path, there is no package to name

Input = Mapping[str, Any]
_OF_GRADES = {"C": 1.0, "I": 0.0, "N": 0.0}


def _figure(value: float | None, name: str) -> Figure:
    return Figure(NOT_DEFINED if value is None else float(value), name)


def inspect_metric(metric: str, params: Input, given: Input) -> Figure:
    kind = metric.removeprefix("metric.")
    if kind not in ("accuracy", "mean", "stderr"):
        raise NotOursError(kind)
    scores = np.array([_OF_GRADES.get(one["value"], one["value"]) for one in given["scores"]], dtype=np.float64)
    clusters = _codes([(one["metadata"] or {}).get(params["cluster"]) for one in given["scores"]]) if "cluster" in params else None
    found = mean_interval(scores, low=-math.inf, high=math.inf, clusters=clusters)
    return _figure(found.std_error, "std_error") if kind == "stderr" else _figure(found.mean, "mean")


def _codes(names: Sequence[Any]) -> Any:
    places = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return np.array([places[name] for name in names], dtype=np.int64)


def dotnet_statistic(metric: str, params: Input, given: Input) -> Figure:
    values = given["values"]
    if metric == "pass_rate":
        found = pass_rate(np.array(values, dtype=np.bool_))
        return _figure(None if found is None else found.value, "pass_rate")
    quantile = {"median": 50}.get(metric, int(metric.rpartition("_")[2]) if metric.startswith("percentile_") else None)
    if quantile is not None:
        return _figure(quantile_interval(np.array(values, dtype=np.float64), quantile / 100, name=f"p{quantile}").value, f"p{quantile}")
    if metric == "mean":
        return _figure(mean_interval(np.array(values, dtype=np.float64), low=-math.inf, high=math.inf).mean, "mean")
    raise NotOursError(metric)
