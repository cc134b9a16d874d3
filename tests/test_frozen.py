"""Golden values do not move under an unchanged version."""

from __future__ import annotations

import json
from typing import Any

from tests.frozen import FROZEN, cases_now, moved


def frozen() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FROZEN.read_text(encoding="utf-8"))
    return found


def test_no_golden_value_moved_under_an_unchanged_version() -> None:
    assert moved(frozen(), cases_now()) == []


def test_every_golden_case_is_frozen() -> None:
    assert frozen() == cases_now(), "freeze the new cases: python -m tests.frozen"


def test_a_moved_value_needs_a_new_version() -> None:
    before = {"m": {"version": "1", "cases": {"a": 0.5, "b": 1}}}
    assert moved(before, {"m": {"version": "1", "cases": {"a": 0.6, "b": 1}}}) == [
        "m: a case gave 0.5 and now gives 0.6 under version 1; give the metric a new version"
    ]
    assert moved(before, {"m": {"version": "2", "cases": {"a": 0.6}}}) == []
    assert moved(before, {"m": {"version": "1", "cases": {"a": 0.5, "c": 0}}}) == []
