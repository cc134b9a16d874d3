"""One runner for every golden case: `tests/golden/<metric>.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli

from measurand import registry, score
from measurand.core.fields import FIELDS
from measurand.core.metric import Metric
from measurand.core.result import MetricResult

GOLDEN = Path(__file__).parent / "golden"
CASE_KEYS = {"why", "fields", "options", "score", "status", "code", "details", "tolerance"}


def _cases() -> Iterator[Any]:
    for path in sorted(GOLDEN.glob("*.toml")):
        for number, case in enumerate(tomli.loads(path.read_text(encoding="utf-8"))["case"]):
            yield pytest.param(path.stem, case, id=f"{path.stem}-{number}")


@pytest.mark.parametrize(("name", "case"), list(_cases()))
def test_golden_case(name: str, case: dict[str, Any]) -> None:
    assert set(case) <= CASE_KEYS, f"unknown keys {set(case) - CASE_KEYS}"
    assert case["why"].strip()
    result = score(name, options=case.get("options"), **case["fields"])
    if "score" in case:
        assert result.status == "ok", result
        assert result.score == pytest.approx(case["score"], abs=case.get("tolerance", 1e-12)), case["why"]
    else:
        _is_unscored(result, case)
    for key, value in case.get("details", {}).items():
        assert result.details[key] == (pytest.approx(value) if isinstance(value, float) else value)


def _is_unscored(result: MetricResult, case: dict[str, Any]) -> None:
    assert result.status == case["status"], result
    assert result.score is None
    assert result.error is not None
    assert result.error.code == case["code"]
    assert result.error.message


BUILT_INS = [one for one in registry if "." not in one.name]


@pytest.mark.parametrize("metric", BUILT_INS, ids=lambda one: one.name)
def test_every_metric_has_golden_cases_and_one_for_each_empty_field(metric: Metric[Any]) -> None:
    path = GOLDEN / f"{metric.name}.toml"
    assert path.exists(), f"{metric.name} has no golden cases"
    cases = tomli.loads(path.read_text(encoding="utf-8"))["case"]
    for parameter in metric.parameters:
        if parameter.field in FIELDS and FIELDS[parameter.field].shape not in ("int", "float", "usage"):
            assert any(case["fields"].get(parameter.field, "…") in ("", [], {}) for case in cases), f"no case with an empty {parameter.field}"
    assert any(case.get("score") == (1.0 if metric.direction == "higher" else 0.0) for case in cases) or metric.type in ("count", "continuous")
    assert len({str(case["fields"]) + str(case.get("options")) for case in cases}) == len(cases), "two cases are the same"


def test_every_golden_file_is_of_a_metric() -> None:
    assert {path.stem for path in GOLDEN.glob("*.toml")} == {one.name for one in BUILT_INS}
