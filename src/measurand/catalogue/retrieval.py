"""Retrieval: what was retrieved, in which order, against the passages that should have been.

Passages are the same by id; where one of two has none, by text, else by token F1 ≥ `min_overlap` (see `formula/passages.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from measurand.core.annotations import PositiveInt, Share
from measurand.core.errors import InvalidFieldError, UndefinedError
from measurand.core.metric import metric, same
from measurand.core.taxonomy import MetricCategory
from measurand.formula import passages, ranking
from measurand.formula.overlap import weighted_f

if TYPE_CHECKING:
    from measurand.core.record import Context

_RETRIEVAL = MetricCategory.RAG | MetricCategory.Retrieval
_FOUR_FOUND = {"contexts": [{"id": "d1"}, {"id": "d7"}, {"id": "d3"}, {"id": "d9"}], "reference_contexts": [{"id": "d1"}, {"id": "d3"}, {"id": "d4"}]}
_GRADED = {
    "contexts": [{"id": "d1"}, {"id": "d7"}, {"id": "d3"}],
    "reference_contexts": [{"id": "d1", "score": 1}, {"id": "d3", "score": 3}, {"id": "d7", "score": 0}],
}
_TREC_RANKS = "ranks by score, ties by document id; here the order of the list is the rank"
_TREC = f"{_TREC_RANKS}. It gives a question without a relevant document 0; here such a row is not defined"
_OF_100 = "ids only, on a scale of 0 to 100"


@metric(
    _RETRIEVAL,
    source="trec_eval set_P, P_k",
    aka={
        "rag.context_precision": same,
        "ragas.IDBasedContextPrecision": "ids only, without `k`; NaN where nothing was retrieved",
        "ragas.ContextPrecision": "average precision of a judge's verdicts (see `llm_context_precision`)",
        "deepeval.ContextualPrecisionMetric": "average precision of a judge's verdicts (see `llm_context_precision`)",
        "autoevals.ContextPrecision": "one verdict of a judge on all passages together: useful for the expected answer or not",
        "trec_eval.P_k": _TREC_RANKS,
    },
    example=_FOUR_FOUND,
)
def code_context_precision(contexts: list[Context], reference_contexts: list[Context], *, k: PositiveInt | None = None, min_overlap: Share = 0.8) -> float:
    """Share of the retrieved passages that are relevant.

    Distinct relevant / distinct retrieved. With `k`: relevant among the first k / k, also when fewer were retrieved.
    A passage retrieved again keeps its rank and is not relevant. Relevant: a reference with grade (`score`) above 0, or without one.
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it when irrelevant passages cost tokens or mislead.
    Not when their order matters (see `code_ndcg`, `code_average_precision`), or without gold passages (see `llm_context_relevance`).
    Empty: nothing retrieved, or every reference has grade 0: 0; nothing relevant exists (`reference_contexts` empty): not defined.
    """
    return ranking.precision(_judged(contexts, reference_contexts, min_overlap), k)


@metric(
    _RETRIEVAL,
    source="trec_eval set_recall, recall_k",
    aka={
        "rag.context_recall": same,
        "ragas.IDBasedContextRecall": "ids only, without `k`",
        "ragas.LLMContextRecall": "share of the reference answer's sentences that a judge finds supported (see `llm_context_recall`)",
        "ragas.NonLLMContextRecall": "the share of reference texts that some retrieved text resembles by edit distance",
        "deepeval.ContextualRecallMetric": "share of the expected output's sentences that a judge finds supported (see `llm_context_recall`)",
        "autoevals.ContextRecall": "share of the expected answer's sentences that a judge finds supported (see `llm_context_recall`)",
        "AgentEval.RecallAtKMetric": _OF_100,
        "trec_eval.recall_k": _TREC,
    },
    example=_FOUR_FOUND,
)
def code_context_recall(contexts: list[Context], reference_contexts: list[Context], *, k: PositiveInt | None = None, min_overlap: Share = 0.8) -> float:
    """Share of the relevant passages that were retrieved.

    Relevant retrieved (with `k`: among the first k) / R, the number of relevant passages.
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it when an answer needs every passage that bears on it.
    Not when one good passage is enough (see `code_hit_rate`, `code_mrr`).
    Empty: nothing retrieved: 0; nothing relevant exists: not defined.
    """
    return _defined(ranking.recall(_judged(contexts, reference_contexts, min_overlap), k))


@metric(
    _RETRIEVAL,
    source="van Rijsbergen 1979; trec_eval set_F",
    aka={"trec_eval.set_F": "ids only, without `k`; a question without a relevant document is 0 there and not defined here"},
    example=_FOUR_FOUND,
)
def code_context_f1(contexts: list[Context], reference_contexts: list[Context], *, k: PositiveInt | None = None, min_overlap: Share = 0.8) -> float:
    """Harmonic mean of context precision and context recall.

    2·P·R / (P + R) of `code_context_precision` and `code_context_recall` with the same options; 0 when both are 0.
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it when noise and gaps both matter and one number is wanted.
    Not when the order matters (see `code_ndcg`).
    Empty: nothing retrieved: 0; nothing relevant exists: not defined.
    """
    ranked = _judged(contexts, reference_contexts, min_overlap)
    return weighted_f(ranking.precision(ranked, k), _defined(ranking.recall(ranked, k)))


@metric(_RETRIEVAL, source="trec_eval Rprec", aka={"trec_eval.Rprec": _TREC}, example=_FOUR_FOUND)
def code_r_precision(contexts: list[Context], reference_contexts: list[Context], *, min_overlap: Share = 0.8) -> float:
    """Precision at the rank where a perfect list would be complete.

    Relevant among the first R retrieved / R, the number of relevant passages.
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it when the number of relevant passages differs much between questions.
    Not when it is always one (then it is `code_hit_rate` at k = 1).
    Empty: nothing retrieved: 0; nothing relevant exists: not defined.
    """
    return _defined(ranking.r_precision(_judged(contexts, reference_contexts, min_overlap)))


@metric(_RETRIEVAL, source="trec_eval success_k", aka={"ir_measures.Success@k": _TREC}, example=_FOUR_FOUND)
def code_hit_rate(contexts: list[Context], reference_contexts: list[Context], *, k: PositiveInt | None = None, min_overlap: Share = 0.8) -> bool:
    """Whether at least one relevant passage was retrieved.

    Any relevant one among those retrieved (with `k`: among the first k).
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it when one good passage is enough to answer.
    Not when several are needed (see `code_context_recall`).
    Empty: nothing retrieved: 0; nothing relevant exists: not defined.
    """
    return _defined(ranking.reciprocal_rank(_judged(contexts, reference_contexts, min_overlap), k)) > 0


@metric(
    _RETRIEVAL,
    source="Voorhees 1999, TREC-8 question answering; trec_eval recip_rank",
    aka={"AgentEval.MRRMetric": _OF_100, "trec_eval.recip_rank": _TREC},
    example=_FOUR_FOUND,
)
def code_mrr(contexts: list[Context], reference_contexts: list[Context], *, k: PositiveInt | None = None, min_overlap: Share = 0.8) -> float:
    """Reciprocal rank of the first relevant passage; its mean over rows is the MRR.

    1 / rank of the first relevant passage (with `k`: among the first k), 0 when there is none.
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it when a reader stops at the first good passage.
    Not when several are needed (see `code_average_precision`).
    Empty: nothing retrieved: 0; nothing relevant exists: not defined.
    """
    return _defined(ranking.reciprocal_rank(_judged(contexts, reference_contexts, min_overlap), k))


@metric(
    _RETRIEVAL,
    source="trec_eval map, map_cut",
    aka={
        "trec_eval.map": _TREC,
        "ragas.NonLLMContextPrecisionWithReference": "texts only, alike by edit distance; divides by the relevant passages that were retrieved, not by all",
        "deepeval.ContextualPrecisionMetric": "a judge's verdicts, divided by the relevant passages that were retrieved (see `llm_context_precision`)",
    },
    example=_FOUR_FOUND,
)
def code_average_precision(contexts: list[Context], reference_contexts: list[Context], *, k: PositiveInt | None = None, min_overlap: Share = 0.8) -> float:
    """Precision averaged over the ranks of the relevant passages.

    Σ over ranks i that hold a relevant passage of precision@i, divided by R. With `k` the sum stops at rank k; R stays, so 1 needs k ≥ R.
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it when all relevant passages should stand first.
    Not when grades differ (see `code_ndcg`).
    Empty: nothing retrieved: 0; nothing relevant exists: not defined.
    """
    return _defined(ranking.average_precision(_judged(contexts, reference_contexts, min_overlap), k))


@metric(
    _RETRIEVAL,
    source="Järvelin & Kekäläinen 2002; trec_eval ndcg, ndcg_cut",
    aka={
        "trec_eval.ndcg": _TREC,
        "ranx.ndcg_burges": 'the same with gains = "exp"',
        "azure.DocumentRetrievalEvaluator.ndcg@3": 'gains = "exp" and k = 3, in the order of relevance_score',
    },
    example=_GRADED,
)
def code_ndcg(
    contexts: list[Context],
    reference_contexts: list[Context],
    *,
    k: PositiveInt | None = None,
    gains: Literal["linear", "exp"] = "linear",
    min_overlap: Share = 0.8,
) -> float:
    """Graded gain of the list, discounted by rank, against the best possible order.

    Σ gain / log2(rank + 1), divided by that sum over all graded references in falling order, both cut at `k`.
    gain = grade (`gains = "linear"`) or 2^grade − 1 ("exp"); a grade below 0 gains 0; a reference without a grade has 1.
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it when some passages are better than others.
    Not when every relevant passage is as good as the next and only presence counts (see `code_context_recall`).
    Empty: nothing retrieved: 0; no reference with a grade above 0: not defined.
    """
    try:
        return _defined(ranking.ndcg(_judged(contexts, reference_contexts, min_overlap), k, gains))
    except OverflowError as error:
        raise InvalidFieldError(f'a grade is too large for gains = "exp": {error}; write gains = "linear"', "reference_contexts") from None


@metric(
    _RETRIEVAL,
    direction="lower",
    source="Jaccard 1912, over token sets",
    example={"contexts": ["Refunds take five days.", "Refunds take five days!", "Shipping is free."]},
)
def code_context_redundancy(contexts: list[Context], *, min_overlap: Share = 0.8) -> float:
    """Share of the retrieved passages that say what an earlier one says.

    Passages whose token set has Jaccard similarity ≥ `min_overlap` with that of an earlier one, or that have its id, / passages.
    Use it to see how much of the context window repeats itself.
    Not for meaning: a paraphrase in other words is not found.
    Empty: fewer than two passages: 0. Passages without text are compared by id; where none has text or id: not defined.
    """
    if len(contexts) < 2:
        return 0.0
    if all(one.text is None and one.id is None for one in contexts):
        raise UndefinedError("the passages have neither text nor id", "contexts")
    return passages.redundant(contexts, min_overlap) / len(contexts)


@metric(
    _RETRIEVAL,
    direction="lower",
    source="1 − Judged@k of ir_measures",
    aka={
        "ir_measures.Judged@k": "1 minus this, divided by k also when fewer were retrieved",
        "azure.DocumentRetrievalEvaluator.holes_ratio": "ids only; a repeated id counts once above and each time below the line",
    },
    example=_GRADED,
)
def code_unjudged(contexts: list[Context], reference_contexts: list[Context], *, k: PositiveInt | None = None, min_overlap: Share = 0.8) -> float:
    """Share of the retrieved passages that nobody has judged.

    Distinct retrieved passages (with `k`: among the first k) that are no reference of any grade, 0 included / distinct retrieved.
    Two passages are the same by id; where one has none, by text, else by token F1 ≥ `min_overlap`. The order of the list is the rank.
    Use it beside the other retrieval measures: where much is unjudged, they count good finds as wrong (Buckley & Voorhees 2004).
    Not as a measure of the retriever: it says how far the judgements reach.
    Empty: nothing retrieved: 0; `reference_contexts` empty: not defined.
    """
    return ranking.unjudged(_judged(contexts, reference_contexts, min_overlap), k)


def _judged(contexts: list[Context], references: list[Context], min_overlap: float) -> ranking.Ranked:
    if not references:
        raise UndefinedError("nothing relevant exists: reference_contexts is empty", "reference_contexts")
    if not passages.comparable(contexts, references):
        raise InvalidFieldError("contexts and reference_contexts cannot be compared: one side has ids only, the other texts only", "contexts")
    return passages.judge(contexts, references, min_overlap)


def _defined(value: float | None) -> float:
    if value is None:
        raise UndefinedError("nothing relevant exists: no reference has a grade above 0", "reference_contexts")
    return value
