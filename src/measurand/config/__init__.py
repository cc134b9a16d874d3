"""metrics.toml → frozen settings. The only room that imports pydantic for the config; see `load` and `Settings`."""

from __future__ import annotations

from measurand.config.bounds import Bounds, check_bounds, confined
from measurand.config.gate import GateMetric, GateSettings
from measurand.config.load import from_mapping, load
from measurand.config.overrides import Override, parse_override
from measurand.config.problems import in_order
from measurand.config.questions import AnswerOption, QuestionSettings
from measurand.config.runtimes import EmbeddingSettings, ModelSettings
from measurand.config.schema import json_schema
from measurand.config.secrets import read_variable, redact, redact_all
from measurand.config.settings import Settings
from measurand.config.work import AnchorSettings, Column, DataSettings, MetricSettings, RagasSettings, RunSettings
from measurand.core.errors import ConfigError

__all__ = [
    "AnchorSettings",
    "AnswerOption",
    "Bounds",
    "Column",
    "ConfigError",
    "DataSettings",
    "EmbeddingSettings",
    "GateMetric",
    "GateSettings",
    "MetricSettings",
    "ModelSettings",
    "Override",
    "QuestionSettings",
    "RagasSettings",
    "RunSettings",
    "Settings",
    "check_bounds",
    "confined",
    "from_mapping",
    "in_order",
    "json_schema",
    "load",
    "parse_override",
    "read_variable",
    "redact",
    "redact_all",
]
