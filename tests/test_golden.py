"""One runner for every golden case: `tests/golden/<metric>.toml`.

Where a metric asks, `replies` are what it is sent, in order: p(yes) for a closed question, a list of them for a question over items, a table of
probabilities for a scale or choice, a list of texts for a split, a list of vectors for an embedding. Every one of them has to be asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli

from measurand import registry, score
from measurand.core.cell import EvaluationContext, Program, result_of
from measurand.core.coerce import typed_fields
from measurand.core.drive import scripted
from measurand.core.fields import FIELDS
from measurand.core.instance import instance
from measurand.core.metric import Metric
from measurand.core.request import Ask, Request, Verdict
from measurand.core.result import MetricResult

GOLDEN = Path(__file__).parent / "golden"
CASE_KEYS = {"why", "fields", "options", "replies", "score", "status", "code", "details", "label", "confidence", "tolerance"}


def _cases() -> Iterator[Any]:
    for path in sorted(GOLDEN.glob("*.toml")):
        for number, case in enumerate(tomli.loads(path.read_text(encoding="utf-8"))["case"]):
            yield pytest.param(path.stem, case, id=f"{path.stem}-{number}")


@pytest.mark.parametrize(("name", "case"), list(_cases()))
def test_golden_case(name: str, case: dict[str, Any]) -> None:
    assert set(case) <= CASE_KEYS, f"unknown keys {set(case) - CASE_KEYS}"
    assert case["why"].strip()
    result = _asked(name, case) if "replies" in case else score(name, options=case.get("options"), **case["fields"])
    if "score" in case:
        assert result.status == "ok", result
        assert result.score == pytest.approx(case["score"], abs=case.get("tolerance", 1e-12)), case["why"]
    else:
        _is_unscored(result, case)
    for key, value in case.get("details", {}).items():
        assert _alike(result.details[key], value), f"{key}: {result.details[key]} is not {value}"
    assert result.label == case.get("label", result.label)
    assert _alike(result.confidence, case.get("confidence", result.confidence))


def _alike(found: Any, wanted: Any) -> bool:
    """Equal, numbers within rounding, however deep they stand."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(_alike(found[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(_alike, found, wanted))
    return bool(found == (pytest.approx(wanted) if isinstance(wanted, float) else wanted))


def _asked(name: str, case: dict[str, Any]) -> MetricResult:
    """The result of a metric that asks, its requests answered by hand."""
    one = instance(registry[name], case.get("options"))
    pending = scripted(case["replies"])
    answered = 0

    async def answer(request: Request[Any]) -> Any:
        nonlocal answered
        answered += 1
        return _reply(pending(request), request)

    outcome = asyncio.run(Program([one]).outcomes_async(EvaluationContext(typed_fields(case["fields"]), answer=answer)))[0]
    assert answered == len(case["replies"]), "what is sent is asked for, and no more"
    return result_of(one, outcome)


def _reply(written: Any, request: Request[Any]) -> Any:
    if not isinstance(request, Ask):
        return written
    if request.over is None:
        return _verdict(written, request)
    assert len(written) == len(request.over), f"{len(request.over)} items are asked about: {request.over}"
    return [_verdict(one, request) for one in written]


def _verdict(written: Any, request: Ask) -> Verdict:
    return Verdict(request.form, {"yes": written, "no": 1 - written} if isinstance(written, (int, float)) else written)


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
    assert len({str(case["fields"]) + str(case.get("options")) + str(case.get("replies")) for case in cases}) == len(cases), "two cases are the same"


def test_every_golden_file_is_of_a_metric() -> None:
    assert {path.stem for path in GOLDEN.glob("*.toml")} == {one.name for one in BUILT_INS}
