"""[gate] and [gate.metrics.NAME]: when a candidate may pass. What the keys mean in figures stands in the statistics guide."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from measurand.config.table import Above0, Count, Level, Share, Table, Text, Texts, refuse


class GateMetric(Table):
    """What one metric must keep (`margin`) or reach (`min`, `max`, `min_pass_rate`). A metric with neither is not gated."""

    margin: Above0 | None = None
    """How much worse than the base is still fine, in the metric's unit."""
    margin_ratio: Above0 | None = None
    """The same as a share of the base's mean, for latency, cost and tokens."""
    min: float | None = None
    """The mean must be at least this."""
    max: float | None = None
    """The mean must be at most this."""
    rule: Literal["interval", "point"] = "interval"
    """interval: the limit must be proven. point: the mean itself is compared; for suites that are the whole population."""
    min_pass_rate: Share | None = None
    """Share of rows (of tasks, with trials) that must have passed."""
    min_kappa: Share | None = None
    """Agreement with people this judged metric needs. Default: that of [gate]."""
    direction: Literal["higher", "lower"] | None = None
    """Which end is better; needed for descriptive metrics."""
    missing: Literal["worst", "ignore"] = "worst"
    """What rows count as that the candidate lacks: the worst difference, or nothing (conditional metrics)."""
    worst: Above0 | None = None
    """The most a single row can lose, in the metric's unit. Default: the metric's whole range."""
    scale: Literal["linear", "log"] = "linear"
    """log: ratios are compared as differences of logarithms; only with margin_ratio, all values above 0."""
    confirm: Count | None = None
    """Tripwires only: how often a failing row is asked again, all must fail."""
    aggregate: Literal["mean", "corpus"] = "mean"
    """mean of rows, or the corpus value of metrics that have one."""
    slices: Texts = ()
    """Fields whose every value is gated on its own."""

    @model_validator(mode="after")
    def _agrees(self) -> GateMetric:
        if self.margin is not None and self.margin_ratio is not None:
            refuse("stands beside margin", "keep one of margin and margin_ratio", key="margin_ratio", code="conflicting_keys")
        if self.scale == "log" and self.margin_ratio is None:
            refuse('is "log" without margin_ratio', "write margin_ratio, or leave scale out", key="scale", code="conflicting_keys")
        if self.min is not None and self.max is not None and self.min > self.max:
            refuse(f"is {self.min:g}, above max, which is {self.max:g}", "min is the smaller one", key="min", code="conflicting_keys")
        if self.rule == "point" and self.min is None and self.max is None and self.min_pass_rate is None:
            refuse('is "point" without a limit to compare with', "write min, max or min_pass_rate", key="rule", code="missing_key")
        return self


class GateSettings(Table):
    """The policy of `metrics gate`."""

    alpha: Level = 0.05
    """Level of the one-sided bounds a verdict needs."""
    fdr_q: Level = 0.05
    """Rate of false alarms over all gated metrics."""
    power: Level = 0.8
    """Chance that an unchanged system passes, under which a gate calls itself underpowered."""
    inconclusive: Literal["fail", "warn"] = "fail"
    """What a gate that proves nothing does: exit 4, or exit 0 with NOT PROVEN first."""
    unpaired: Literal["added", "refuse", "any"] = "added"
    """Rows in one run only: candidate's new ones are left out, none are allowed, or all are left out."""
    policy: Literal["config", "base"] = "config"
    """Whose [gate] holds: this file's, or the one stored with the base run."""
    correction: Literal["bh", "by", "holm"] = "bh"
    """Correction over the gated metrics: Benjamini-Hochberg, Benjamini-Yekutieli, Holm."""
    population: Literal["tasks", "suite"] = "tasks"
    """What is inferred to: the population the tasks were drawn from, or this suite itself."""
    min_kappa: Share | None = None
    """Agreement with people every judged metric needs before it may gate. Default: none asked."""
    tripwires: Texts = ()
    """Metrics that must not fail on a single row more than in the base."""
    metrics: dict[Text, GateMetric] = Field(default_factory=dict)
    """Metric → what it must keep or reach."""
