"""Retrieval-augmented answers, judged: is the answer grounded in the passages, does it answer, did retrieval bring what was needed."""

from __future__ import annotations

from typing import Final

from measurand.core.judged import judged
from measurand.core.metric import same
from measurand.core.taxonomy import MetricCategory
from measurand.formula.folds import average_precision, share

_GROUNDED: Final = "Do `contexts` alone imply `item` (answering `input?`)?"
_NOTHING: Final = {"contexts": "no"}
"""Where no passage has text, nothing is supported, and nobody is asked."""

_EXAMPLE: Final = {
    "input": "How long do refunds take?",
    "output": "Refunds take five days. They are free of charge.",
    "contexts": [
        "Refunds are paid within five days.",
        "Shipping is free from 50 euros.",
        "Refunds go to the card that was charged.",
        "Our shop opens at nine.",
    ],
}
_EXPECTED: Final = {**_EXAMPLE, "expected": "Refunds take five days. They go back to the card that was charged."}
_RETRIEVAL: Final = MetricCategory.RAG | MetricCategory.Retrieval


def _only(*fields: str) -> dict[str, object]:
    return {name: _EXPECTED[name] for name in fields}


llm_faithfulness = judged(
    "llm_faithfulness",
    MetricCategory.RAG | MetricCategory.Faithfulness,
    claims="output",
    ask=_GROUNDED,
    empty=_NOTHING,
    fold=share("yes"),
    source="Es et al. 2024, RAGAS",
    example=_EXAMPLE,
    aka={
        "rag.faithfulness": same,
        "judge.groundedness": "the same idea; how verdicts become a number is not stated",
        "ragas.Faithfulness": "the same formula on verdicts of 0 and 1; here p(yes) counts as it is, and no claims is not defined where it gives NaN",
        "ragas.faithfulness": "the same formula on verdicts of 0 and 1; here p(yes) counts as it is, and no claims is not defined where it gives NaN",
        "deepeval.FaithfulnessMetric": "a claim counts unless a truth taken from the passages contradicts it, so unsure is supported; no claims scores 1",
        "autoevals.Faithfulness": "the same formula on verdicts of 0 and 1; here p(yes) counts as it is",
        "azure.GroundednessEvaluator": "one rating of the whole answer from 1 to 5, no claims",
        "trulens.groundedness": "mean over sentences of a rating from 0 to 3, divided by 3",
    },
    doc="""Share of the output's claims that the retrieved passages support.

    The judge extracts the claims of `output`, then answers one closed question for each in one request; the score is the mean p(yes), which on
    verdicts of 0 and 1 is supported / claims. details.items has every claim with its probabilities.
    Use it when an answer may say only what was retrieved.
    Not for whether the answer is right: passages can be wrong (see `code_token_f1`), nor whether it answers (see `llm_answer_relevance`).
    Empty: an output without claims (a refusal, a blank one): not defined; no passages, or blank ones only: 0, only the claims are asked for.
    """,
)

llm_hallucination = judged(
    "llm_hallucination",
    MetricCategory.RAG | MetricCategory.Faithfulness,
    claims="output",
    ask=_GROUNDED,
    empty=_NOTHING,
    fold=share("no"),
    direction="lower",
    source="1 − faithfulness of Es et al. 2024, RAGAS",
    example=_EXAMPLE,
    aka={
        "deepeval.HallucinationMetric": "contradicted passages / passages: an invented claim that no passage speaks of is no hallucination there",
        "ragas.Faithfulness": "1 minus this",
        "autoevals.Factuality": "one choice of a judge between output and expected answer, no passages",
    },
    doc="""Share of the output's claims that the retrieved passages do not support.

    1 − faithfulness, of the same judgements: beside `llm_faithfulness` it asks nothing more.
    Use it when a report counts what was made up, with lower as better.
    Not to tell a contradicted claim from one that is merely not mentioned: both count.
    Empty: an output without claims (a refusal, a blank one): not defined; no passages, or blank ones only: 1, only the claims are asked for.
    """,
)

llm_answer_relevance = judged(
    "llm_answer_relevance",
    MetricCategory.RAG | MetricCategory.Relevance,
    ask="Does `output` answer `input`, even wrongly or partly? Refusing, not knowing, asking back or another subject is no answer.",
    empty={"output": "no"},
    source="defined here: p(yes) of one closed question",
    example=_only("input", "output"),
    aka={
        "rag.answer_relevancy": "a judge scores the answer against the question directly, in a form that is not stated; here p(yes) of one closed question",
        "ragas.AnswerRelevancy": "mean cosine of the question and questions generated from the answer, 0 for a non-committal answer",
        "ragas.ResponseRelevancy": "mean cosine of the question and questions generated from the answer, 0 for a non-committal answer",
        "ragas.response_relevancy": "mean cosine of the question and questions generated from the answer, 0 for a non-committal answer",
        "answer_relevancy": "a name of several formulas: in ragas mean cosine with generated questions, in deepeval the share of relevant statements",
        "deepeval.AnswerRelevancyMetric": "share of the answer's statements that are relevant to the input; none scores 1",
        "autoevals.AnswerRelevancy": "mean cosine of the question and questions generated from the answer",
        "azure.RelevanceEvaluator": "a judge's rating from 1 to 5",
    },
    doc="""Probability that the output answers what was asked.

    p(yes) of one closed question. A wrong answer is an answer, so is a partial one; a refusal is none.
    Use it when answers may drift off the question or evade it.
    Not for correctness (see `code_token_f1`), for claims that nothing supports (see `llm_faithfulness`), or where refusing is right (it scores low).
    Empty: a blank output: 0, nothing is asked; `input` empty counts as missing.
    """,
)

llm_context_precision = judged(
    "llm_context_precision",
    _RETRIEVAL | MetricCategory.Relevance,
    each="contexts",
    ask="Does `item` state or imply part of `expected`, the answer to `input`, not only its topic?",
    fold=average_precision,
    source="Es et al. 2024, RAGAS; average precision as in ragas and deepeval",
    example=_only("input", "contexts", "expected"),
    aka={
        "ragas.ContextPrecision": "the same fold of verdicts of 0 and 1, one request a passage; here one request for all",
        "ragas.LLMContextPrecisionWithReference": "the same fold of verdicts of 0 and 1, one request a passage; here one request for all",
        "ragas.context_precision": "the same fold of verdicts of 0 and 1, one request a passage; here one request for all",
        "deepeval.ContextualPrecisionMetric": "the same fold; a passage counts when it is remotely useful for the expected output",
        "autoevals.ContextPrecision": "one verdict on all passages together, so the order does not matter",
        "rag.context_precision": "by the ids of gold passages where there are some (see `code_context_precision`), without the order",
    },
    doc="""Whether the passages that bear on the expected answer are ranked first.

    One closed question for each passage, all in one request; p ≥ 0.5 is relevant. Σ of precision@i over the relevant ranks i / number of relevant
    *retrieved* passages; 0 when none is relevant. A relevant passage that was not retrieved costs nothing here (see `llm_context_recall`).
    Use it when there is an expected answer and no gold passages.
    Not with gold passages, which need no judge (see `code_average_precision`, `code_context_precision`).
    Empty: no passages: 0, nothing is asked; `input` and `expected` empty count as missing.
    """,
)

llm_context_utilization = judged(
    "llm_context_utilization",
    _RETRIEVAL | MetricCategory.Relevance,
    each="contexts",
    ask="Does `item` state or imply part of `output`, the answer to `input`, not only its topic?",
    empty={"output": "no"},
    fold=average_precision,
    source="ragas, context precision without reference",
    example=_only("input", "output", "contexts"),
    aka={
        "ragas.ContextUtilization": "the same fold of verdicts of 0 and 1, one request a passage; here one request for all",
        "ragas.LLMContextPrecisionWithoutReference": "the same fold of verdicts of 0 and 1, one request a passage; here one request for all",
    },
    doc="""Whether the passages that the output draws on are ranked first.

    As `llm_context_precision`, with the output in the place of the expected answer: no reference is needed, and a wrong answer makes wrong passages
    relevant.
    Use it when there is no expected answer.
    Not to say that retrieval was right: it says what the answer used.
    Empty: no passages: 0; a blank output uses none: 0; nothing is asked in either case; `input` empty counts as missing.
    """,
)

llm_context_recall = judged(
    "llm_context_recall",
    _RETRIEVAL,
    sentences="expected",
    ask="Do `contexts` alone imply all of `item` (answering `input?`)?",
    empty=_NOTHING,
    fold=share("yes"),
    source="Es et al. 2024, RAGAS",
    example=_only("input", "contexts", "expected"),
    aka={
        "ragas.LLMContextRecall": "the judge cuts the reference into statements itself; here sentences are cut in code, and p(yes) counts as it is",
        "ragas.context_recall": "the judge cuts the reference into statements itself; here sentences are cut in code, and p(yes) counts as it is",
        "deepeval.ContextualRecallMetric": "the judge cuts the expected output itself, and a sentence counts when any passage can be named for it",
        "autoevals.ContextRecall": "the judge cuts the expected answer itself; verdicts of 0 and 1",
        "rag.context_recall": "gold passages that were retrieved, by id (see `code_context_recall`)",
    },
    doc="""Share of the expected answer's sentences that the retrieved passages support.

    `expected` is cut into sentences in code; one closed question for each, all in one request; the score is the mean p(yes). Of several accepted
    answers the best counts (details.reference).
    Use it when there is an expected answer and no gold passages.
    Not with gold passages, which need no judge (see `code_context_recall`), or where the expected answer says what no passage should.
    Empty: no passages, or blank ones only: 0, nothing is asked; `expected` without a sentence: not defined; `expected` empty counts as missing.
    """,
)
