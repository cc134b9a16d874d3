"""The JSON Schema of metrics.toml, from the same models that read it."""

from __future__ import annotations

from typing import Any

from measurand.config.settings import Settings


def json_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, with a description of every key, so that editors complete and check metrics.toml."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Settings.model_json_schema(by_alias=True, mode="validation")}
