"""Acme's metrics: one written as a function, one as a class."""

from __future__ import annotations

from measurand import EvaluationContext, MetricCategory, Score, metric

__all__ = ["answered_shortly", "polite"]


@metric("acme.polite", categories=MetricCategory.Fluency, version="1", example={"output": "Thank you for waiting."})
def polite(output: str) -> bool:
    """The answer says please or thank you."""
    said = output.casefold()
    return "please" in said or "thank" in said


class AnsweredShortly:
    """The answer keeps to the house's length.

    1 up to `limit` words, then limit / words. A class is worth it where a metric holds something, here the limit.
    """

    name = "acme.answered_shortly"
    version = "1"
    categories = MetricCategory.Fluency
    requires = ("output",)
    example = {"output": "Yes."}

    def __init__(self, limit: int) -> None:
        """Words an answer may have."""
        self.limit = limit

    async def evaluate(self, context: EvaluationContext) -> Score[float]:
        """Scores the row in `context.fields`."""
        words = len(str(context.fields["output"]).split())
        return Score(1.0 if words <= self.limit else self.limit / words, details={"words": words})


answered_shortly = AnsweredShortly(limit=60)
