"""Retrieval metrics against ir_measures 0.4.3 on real rankings (`data/retrieval_runs.LICENCE.md`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from measurand.catalogue.retrieval import (
    code_average_precision,
    code_context_f1,
    code_context_precision,
    code_context_recall,
    code_context_redundancy,
    code_hit_rate,
    code_mrr,
    code_ndcg,
    code_r_precision,
    code_unjudged,
)
from measurand.core.errors import InvalidFieldError, UndefinedError
from measurand.core.metric import Metric
from measurand.core.record import Context

RUNS = Path(__file__).parent / "data" / "retrieval_runs.jsonl"

MEASURES: dict[str, Callable[..., float]] = {
    "AP": code_average_precision,
    "Rprec": code_r_precision,
    "RR": code_mrr,
    "P": code_context_precision,
    "R": code_context_recall,
    "nDCG": code_ndcg,
    "Success": code_hit_rate,
}
AGAINST_GOLD: list[Metric[Any]] = [
    code_average_precision,
    code_context_f1,
    code_context_precision,
    code_context_recall,
    code_hit_rate,
    code_mrr,
    code_ndcg,
    code_r_precision,
    code_unjudged,
]
OF_SETS = [code_context_precision, code_context_recall, code_context_f1, code_unjudged]


def _runs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RUNS.read_text(encoding="utf-8").splitlines()]


def _ids(names: list[str]) -> list[Context]:
    return [Context(id=name) for name in names]


def test_real_rankings_score_as_in_ir_measures() -> None:
    compared = 0
    for run in _runs():
        contexts = _ids(run["retrieved"])
        gold = [Context(id=name, score=grade) for name, grade in run["relevant"].items()]
        for measure, theirs in run["reference_values"].items():
            name, _, k = measure.partition("@")
            ours = MEASURES[name](contexts, gold, **({"k": int(k)} if k else {}))
            assert float(ours) == pytest.approx(theirs, abs=1e-9), (run["id"], measure)
            compared += 1
    assert compared == 105 * 11


@pytest.mark.parametrize("metric", AGAINST_GOLD, ids=lambda one: one.name)
def test_nothing_relevant_exists_and_nothing_retrieved(metric: Metric[Any]) -> None:
    with pytest.raises(UndefinedError, match="nothing relevant exists"):
        metric(_ids(["a"]), [])
    with pytest.raises(UndefinedError):
        metric([], [])
    assert metric([], _ids(["a"])) == 0


@pytest.mark.parametrize("metric", AGAINST_GOLD, ids=lambda one: one.name)
def test_ids_against_texts_are_told_and_not_scored_0(metric: Metric[Any]) -> None:
    with pytest.raises(InvalidFieldError, match="cannot be compared"):
        metric([Context(text="Refunds take five days")], _ids(["d1"]))


def test_an_id_is_not_invented_by_renaming_a_duplicate() -> None:
    retrieved, relevant = _ids(["doc", "doc", "zz"]), _ids(["doc_2"])
    assert code_ndcg(retrieved, relevant, k=3) == 0.0
    assert code_context_recall(retrieved, relevant, k=3) == 0.0


@pytest.mark.parametrize("metric", AGAINST_GOLD, ids=lambda one: one.name)
def test_repeating_the_whole_list_raises_no_score(metric: Metric[Any]) -> None:
    for run in _runs()[:20]:
        retrieved = run["retrieved"][:50]
        gold = [Context(id=name, score=grade) for name, grade in run["relevant"].items()]
        assert metric(_ids(retrieved * 2), gold) == metric(_ids(retrieved), gold)


@pytest.mark.parametrize("metric", OF_SETS, ids=lambda one: one.name)
def test_order_does_not_matter_to_measures_of_sets(metric: Metric[Any]) -> None:
    for run in _runs()[:20]:
        gold = [Context(id=name, score=grade) for name, grade in run["relevant"].items()]
        assert metric(_ids(run["retrieved"][::-1]), gold) == metric(_ids(run["retrieved"]), gold)


@pytest.mark.parametrize("metric", AGAINST_GOLD, ids=lambda one: one.name)
def test_the_order_of_the_references_does_not_matter(metric: Metric[Any]) -> None:
    for run in _runs()[:20]:
        gold = [Context(id=name, score=grade) for name, grade in run["relevant"].items()]
        assert metric(_ids(run["retrieved"]), gold[::-1]) == metric(_ids(run["retrieved"]), gold)


def test_redundancy_without_text_or_id_is_undefined() -> None:
    assert code_context_redundancy([]) == code_context_redundancy([Context()]) == 0.0
    with pytest.raises(UndefinedError, match="neither text nor id"):
        code_context_redundancy([Context(), Context()])


def test_what_is_lower_is_better() -> None:
    assert [metric.direction for metric in (code_context_redundancy, code_unjudged)] == ["lower", "lower"]
    assert all(metric.direction == "higher" for metric in AGAINST_GOLD if metric is not code_unjudged)
