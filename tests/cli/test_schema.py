from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Metrics = Callable[..., Any]


def test_without_a_name_it_says_which_there_are(metrics: Metrics) -> None:
    ran = metrics("schema")
    assert ran.code == 0
    names = [line.split()[0] for line in ran.out.splitlines()[1:]]
    assert {"config", "record", "result", "run", "check", "list"} <= set(names)


def test_a_schema_is_a_json_document(metrics: Metrics) -> None:
    assert json.loads(metrics("schema", "result").out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert metrics("schema", "result") == metrics("schema", "result", "--json")


def test_an_unknown_name_is_answered_with_the_nearest(metrics: Metrics) -> None:
    assert metrics("schema", "confg") == (2, "", "metrics schema: there is no schema called 'confg'; did you mean config?\n")
