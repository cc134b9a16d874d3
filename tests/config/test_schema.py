from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomli

from measurand.config import json_schema


def _tables(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "metrics.toml", schema
    yield from schema["$defs"].items()


def test_it_is_a_schema_of_draft_2020_12() -> None:
    schema = json_schema()

    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


def test_every_key_is_described() -> None:
    bare = [f"{name}.{key}" for name, table in _tables(json_schema()) for key, one in table["properties"].items() if not one.get("description")]

    assert bare == []


def test_every_table_but_a_metrics_is_closed() -> None:
    schema = json_schema()

    assert [name for name, table in _tables(schema) if table["additionalProperties"]] == ["MetricSettings"]


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('[data]\npath = "a.jsonl"\n[data.columns]\ninput = "Q"\ncontexts = { from = "D" }\n', True),
        ('[run]\njudge = ["a"]\nmetrics = ["x"]\n[metrics.x]\nown = 1\n[eval.ragas]\n', True),
        ('[[questions]]\nname = "a.b"\nask = "?"\noptions = { a = { means = "x", score = "na" } }\n', True),
        ('extends = "base.toml"\n[gate.metrics.x]\nmargin = 0.1\n', True),
        ('[run]\nmod = "live"\n', False),
        ('[run]\nmode = "lve"\n', False),
        ("[run]\ndraws = 0\n", False),
        ('[data.columns]\ncontexts = { fro = "D" }\n', False),
        ('[models.a]\nprovider = "openai"\n', False),
        ("[gate]\nalpha = 1.0\n", False),
    ],
)
def test_editors_see_what_the_reader_sees(text: str, valid: bool) -> None:
    assert jsonschema.Draft202012Validator(json_schema()).is_valid(tomli.loads(text)) is valid


def test_the_shipped_config_is_valid() -> None:
    shipped = Path(__file__).parents[2] / "metrics.toml"

    jsonschema.Draft202012Validator(json_schema()).validate(tomli.loads(shipped.read_text("utf-8")))
