"""Retrieval: ranx, ir_measures, agenteval_dotnet, azure's document retrieval."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..figures import Figure, NotOursError, of  # noqa: TID252  # tests are imported by path, there is no package to name

Input = Mapping[str, Any]


def ids(names: Sequence[Any]) -> list[dict[str, str]]:
    return [{"id": str(name)} for name in names]


def graded(pairs: Sequence[tuple[Any, float]]) -> list[dict[str, Any]]:
    return [{"id": str(name), "score": grade} for name, grade in pairs]


# ---------------------------------------------------------------- ranx

RANX = {
    "hit_rate": "code_hit_rate",
    "precision": "code_context_precision",
    "recall": "code_context_recall",
    "f1": "code_context_f1",
    "average_precision": "code_average_precision",
    "reciprocal_rank": "code_mrr",
    "r_precision": "code_r_precision",
    "ndcg": "code_ndcg",
    "ndcg_burges": "code_ndcg",
}


def ranx(metric: str, params: Input, given: Input) -> Any:
    """One figure for each question. A list is ranked as it stands: its scores are all equal."""
    if metric not in RANX:
        raise NotOursError(metric)
    options: dict[str, Any] = {"k": params["extra"][0]} if "extra" in params else {}
    if metric == "ndcg_burges":
        options["gains"] = "exp"
    rows = zip(given["run"], given["qrels"], strict=True)
    return [of(RANX[metric], options, contexts=ids([name for name, _ in run]), reference_contexts=graded(qrels)) for run, qrels in rows]


# ---------------------------------------------------------------- ir_measures

IR_MEASURES = {
    "P": "code_context_precision",
    "R": "code_context_recall",
    "SetP": "code_context_precision",
    "SetR": "code_context_recall",
    "SetF": "code_context_f1",
    "Success": "code_hit_rate",
    "RR": "code_mrr",
    "Rprec": "code_r_precision",
    "AP": "code_average_precision",
    "nDCG": "code_ndcg",
    "Judged": "code_unjudged",
}
_MEASURE = re.compile(r"(?P<name>\w+)(?:\((?P<settings>[^)]*)\))?(?:@(?P<cut>[\d.]+))?")


def ir_measure(metric: str, params: Input, given: Input) -> Any:
    """One figure for each question and measure."""
    asked = [one for measure in params["measures"] for one in _by_question(measure, given)]
    return dict(asked)


def _by_question(measure: str, given: Input) -> list[tuple[str, Figure]]:
    found = _MEASURE.fullmatch(measure)
    assert found is not None, measure
    settings = dict(one.strip().split("=") for one in (found["settings"] or "").split(",") if one)
    score_one = _measured(found["name"], settings, found["cut"])
    grades: dict[str, dict[str, int]] = {}
    for question, document, grade in given["qrels"]:
        grades.setdefault(question, {})[document] = grade
    runs: dict[str, list[tuple[float, str]]] = {question: [] for question in grades}
    for question, document, rank_score in given["run"]:
        runs.setdefault(question, []).append((rank_score, document))
    return [(f"{question} {measure}", score_one([name for _, name in sorted(runs[question], reverse=True)], grades[question])) for question in grades]


def _measured(name: str, settings: Mapping[str, str], cut: str | None) -> Callable[[list[str], Mapping[str, int]], Figure]:
    """The measure over one ranked list and its grades. `rel` says which grades count, `judged_only` which documents: both say what the row holds."""
    if name not in IR_MEASURES:
        raise NotOursError(name)
    others = set(settings) - {"rel", "judged_only"} - ({"dcg"} if name == "nDCG" else set())
    if others:
        raise NotOursError(f"{name}({min(others)})")
    least, judged_only = int(settings.get("rel", 1)), settings.get("judged_only") == "True"
    options: dict[str, Any] = {"k": int(cut)} if cut else {}
    if "exp" in settings.get("dcg", ""):
        options["gains"] = "exp"

    def over(ranked: list[str], grades: Mapping[str, int]) -> Figure:
        kept = [one for one in ranked if grades.get(one, -1) >= 0] if judged_only else ranked
        counted = {one: grade if grade >= least else 0 for one, grade in grades.items()}
        figure = of(IR_MEASURES[name], options, contexts=ids(kept), reference_contexts=graded(list(counted.items())))
        return figure.to(lambda value: 1 - value) if name == "Judged" else figure

    return over


# ---------------------------------------------------------------- agenteval_dotnet and azure


def dotnet_retrieval(metric: str, params: Input, given: Input) -> Figure:
    """On their scale, 0–100."""
    k = params.get("k", "default")
    options = {} if k == "default" else {"k": k}
    name = {"mrr": "code_mrr", "recall_at_k": "code_context_recall"}[metric]
    return of(name, options, contexts=ids(given["retrieved"]), reference_contexts=ids(given["relevant"])).to(lambda value: 100 * value)


def azure_document_retrieval(metric: str, params: Input, given: Input) -> dict[str, Figure]:
    """Ranked by their `relevance_score`; a document without a label is in no reference."""
    ranked = sorted(given["retrieved_documents"], key=lambda one: -one["relevance_score"])
    row = {
        "contexts": ids([one["document_id"] for one in ranked]),
        "reference_contexts": graded([(one["document_id"], one["query_relevance_label"]) for one in given["retrieval_ground_truth"]]),
    }
    return {"ndcg@3": of("code_ndcg", {"k": 3, "gains": "exp"}, **row), "holes_ratio": of("code_unjudged", **row)}
