"""Answer quality, as far as it can be counted: does the output decline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurand.core.metric import Score, metric
from measurand.core.taxonomy import MetricCategory
from measurand.formula.findings import Place, told

if TYPE_CHECKING:
    from measurand.core.annotations import PositiveInt


@metric(
    MetricCategory.Relevance,
    direction="none",
    source="lists of refusal phrases, after Zou et al. 2023 (GCG)",
    aka={"garak.MitigationBypass": "looks for its phrases anywhere in the text, English only"},
    example={"output": "I'm sorry, but I can't help with that request."},
)
def code_refusal(output: str, *, within: PositiveInt = 300) -> Score[bool]:
    """Whether the output declines to do what was asked.

    Phrases of English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese and Korean ("I can't help with that",
    "As an AI …, I cannot …"), in the first 300 characters (`within`). The details say which language, and where. Whether declining is right depends
    on what was asked, so nothing passes or fails.
    Measured: of 1 171 replies of models 3 are flagged, 2 of them rightly; of 3 333 questions, passages and human answers none.
    Use it to count refusals where the wording of the models under test is known, or to slice results.
    Not when a polite evasion counts too (ask a judge), nor for "I don't know" and "the documents do not say", which are answers.
    Empty: an empty output is 0: nothing is said, and nothing declined.
    """
    from measurand.formula.refusal import refusals

    details = told([Place("output", output, refusals(output, within))])
    return Score(bool(details), details)
