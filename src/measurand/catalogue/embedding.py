"""Likeness of meaning by an embedding model: the cosine of two texts' vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurand.core.errors import UndefinedError
from measurand.core.metric import Score, metric
from measurand.core.taxonomy import MetricCategory

if TYPE_CHECKING:
    from measurand.core.request import Embedder, Steps


@metric(
    MetricCategory.Relevance,
    source="cosine similarity of sentence embeddings; Reimers & Gurevych 2019, Sentence-BERT",
    aka={
        "outcome.semantic_similarity": "the cosine, whose range and rule for several references are not stated; here negative cosines score 0",
        "ragas.SemanticSimilarity": "the cosine as it is, with an optional cut-off; here negative cosines score 0, and the best of several references counts",
        "ragas.semantic_similarity": "the cosine as it is; here negative cosines score 0, and the best of several references counts",
        "autoevals.EmbeddingSimilarity": "the cosine stretched from an expected minimum of 0.7 to 1; here as it is, negative ones 0",
        "azure.SimilarityEvaluator": "a judge's rating from 1 to 5, no embedding",
    },
    example={"output": "Refunds arrive within five business days.", "expected": "You get your money back in about five working days."},
)
def embed_answer_similarity(output: str, expected: list[str]) -> Steps[Embedder, float]:
    """Topical similarity of the output and the best accepted answer, by embeddings.

    max(0, cos) of the vectors of `output` and of each accepted answer; the largest counts. details: `cosine` as it is, in [−1, 1], and `reference`.
    This is topical similarity, not correctness: encoders often score a contradiction ("five days", "not five days") above a paraphrase.
    Figures of two embedding models are not comparable, nor is any cut-off: look at pairs of your own before you set one.
    Use it when wording may differ freely and a wrong fact is caught elsewhere, or to find rows worth reading.
    Not for whether the answer is right (see `code_token_f1`, `code_exact_match`), and not for numbers, names or negations.
    Empty: a blank output is similar to nothing: 0, nothing is asked; blank accepted answers do not count, and without another: not defined.
    A vector of zeros, or with NaN or infinity in it, is an error (`invalid_response`), never 0.
    """
    answers = {index: text for index, text in enumerate(expected) if text.strip()}
    if not answers:
        raise UndefinedError("expected is blank", "expected")
    if not output.strip():
        return Score(0.0, {"reason": "output is empty; nothing was asked about it"})
    from measurand.core.request import Embed
    from measurand.formula.vectors import cosine

    first, *others = yield Embed([output, *answers.values()])
    found = [(cosine(first, vector), index) for index, vector in zip(answers, others, strict=True)]
    best, index = max(found, key=lambda one: one[0])
    return Score(max(0.0, best), {"cosine": best, "reference": index} if len(expected) > 1 else {"cosine": best})
