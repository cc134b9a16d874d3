"""[[questions]]: judged metrics written as data."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator, model_validator

from measurand.config.table import Count, OneOrMany, Table, Text, Texts, refuse


def _score(value: Any) -> float | Literal["na"]:
    if value == "na":
        return "na"
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        refuse("is no score of an answer", 'a number from 0 to 1, or "na" for not applicable')
    return float(value)


AnswerScore = Annotated[
    float | Literal["na"], PlainValidator(_score), WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"const": "na"}]})
]


class AnswerOption(Table):
    """One answer of a choice."""

    means: Text
    """What the answer means, as the judge reads it."""
    score: AnswerScore
    """Its score, 0 to 1, or "na": not applicable."""


class QuestionSettings(Table):
    """A judged metric without code: what is asked of what, and how verdicts become a number."""

    name: Text
    """The metric's name, dotted: "acme.formal_register"."""
    ask: Text
    """One closed question. Words in backticks are fields, or `item`; `expected?` is optional."""
    categories: Texts = ()
    """Domain and quality flags, e.g. "Fluency"; the others are derived."""
    type: Literal["yes_no", "scale", "choice"] = "yes_no"
    """The form of the answer."""
    levels: Texts = ()
    """The levels of a scale, described, worst first."""
    options: dict[Text, AnswerOption] = Field(default_factory=dict)
    """The answers of a choice."""
    each: Text | None = None
    """A list field: the question is asked for each of its items."""
    claims: Text | None = None
    """A text field: the question is asked for each of its claims."""
    fold: Literal["share", "expected_value", "average_precision", "f_beta", "worst"] | None = None
    """How verdicts become one number. Default: by the form of the answer."""
    direction: Literal["higher", "lower", "none"] = "higher"
    """Which end is better."""
    threshold: float | None = None
    """Where `passed` begins. Default: 0.5 for yes/no, else none."""
    judge: OneOrMany | None = None
    """Instead of [run] judge."""
    draws: Count | None = None
    """Instead of [run] draws."""
    description: str = ""
    """What it measures, in one sentence, for lists and reports."""
    example: dict[str, Any] = Field(default_factory=dict)
    """Field → value of an example row."""

    @field_validator("name")
    @classmethod
    def _is_dotted(cls, value: str) -> str:
        parts = value.split(".")
        if len(parts) < 2 or len(value) > 64 or not all(part.replace("-", "_").isidentifier() for part in parts):
            refuse("is no name of a question", 'dotted and at most 64 characters, e.g. "acme.formal_register"; names without a dot are built-in')
        return value

    @model_validator(mode="after")
    def _agrees(self) -> QuestionSettings:
        if self.each is not None and self.claims is not None:
            refuse("stands beside each", "keep one of each and claims", key="claims", code="conflicting_keys")
        for key, form, given in (("levels", "scale", bool(self.levels)), ("options", "choice", bool(self.options))):
            if given and self.type != form:
                refuse(f"belongs to another form of answer (type is {self.type!r})", f'write type = "{form}"', key=key, code="conflicting_keys")
            if not given and self.type == form:
                refuse(f"a {form} needs {key}", f"write {key} = …", key="type", code="missing_key")
        if self.type == "scale" and len(self.levels) < 2:
            refuse("is one level", "two or more, worst first", key="levels")
        if self.type == "choice" and (len(self.options) < 2 or all(option.score == "na" for option in self.options.values())):
            refuse("leaves nothing to choose", "two or more answers, at least one with a score that is a number", key="options")
        return self
