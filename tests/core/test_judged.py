from __future__ import annotations

import math
from typing import Any

import pytest

from measurand.core.drive import count_requests, drive, scripted
from measurand.core.errors import CellError, DeclarationError, InvalidResponseError, UndefinedError
from measurand.core.judged import judged
from measurand.core.record import Context
from measurand.core.request import Ask, Choice, Option, Scale, Split, Verdict
from measurand.core.score import Score
from measurand.core.taxonomy import MetricCategory
from measurand.formula.folds import average_precision, share

JUDGE = frozenset({"judge"})


def declared(ask: str, **keywords: Any) -> Any:
    return judged("house.q", MetricCategory.Fluency, ask=ask, doc="A question.", **keywords)


faithfulness = declared("Can `item`, a claim, be inferred from `contexts` alone?", claims="output", fold=share("yes"))
goal = declared("Judging from `output` (and `messages?` if present), was the goal of `input` met; `expected?` describes success if present.")


def scored(metric: Any, arguments: tuple[Any, ...], *replies: Any) -> Score[float]:
    found = drive(metric(*arguments), scripted(replies), JUDGE)
    assert isinstance(found, Score)
    return found


def test_fields_and_flags_come_from_the_question() -> None:
    assert faithfulness.requires == ("output", "contexts")
    assert goal.requires == ("output", "input")
    assert goal.optional == ("messages", "expected")
    assert goal.categories & MetricCategory.LLMBased
    assert not goal.categories & MetricCategory.RequiresGroundTruth
    assert goal.threshold == 0.5
    assert faithfulness.threshold is None


def test_claims_are_split_asked_about_and_folded() -> None:
    yes, no = Verdict.yes(1.0), Verdict.yes(0.0)
    found = scored(faithfulness, ("Two claims.", [Context("c")]), ["one", "two"], [yes, no])
    assert found.value == 0.5
    assert found.details["items"] == [{"text": "one", "yes": 1.0, "no": 0.0}, {"text": "two", "yes": 0.0, "no": 1.0}]


def test_no_claims_is_undefined_not_a_number() -> None:
    with pytest.raises(UndefinedError, match="output makes no claims"):
        scored(faithfulness, ("I do not know.", [Context("c")]), [])


def test_yes_no_has_label_probabilities_and_confidence() -> None:
    found = scored(goal, ("done", "refund", None, None), Verdict.yes(0.18))
    assert (found.value, found.label) == (0.18, "18% yes")
    assert found.probabilities == {"yes": 0.18, "no": pytest.approx(0.82)}
    assert found.confidence == pytest.approx(0.64)


def test_a_clause_about_a_missing_field_is_not_asked() -> None:
    asked: list[Any] = []

    def answer(request: Any) -> Verdict:
        asked.append(request.question)
        return Verdict.yes(1.0)

    drive(goal("done", "refund", None, None), answer, JUDGE)
    drive(goal("done", "refund", None, ["ok"]), answer, JUDGE)
    assert asked == [
        "Judging from `output`, was the goal of `input` met",
        "Judging from `output`, was the goal of `input` met; `expected` describes success if present.",
    ]


def test_passages_are_asked_about_in_rank_order() -> None:
    one = declared("Is `item` useful for `input`?", each="contexts", fold=average_precision)
    yes, no = Verdict.yes(1.0), Verdict.yes(0.0)
    assert one.requires == ("contexts", "input")
    assert scored(one, ([Context("a"), Context("b")], "q"), [no, yes]).value == 0.5


def test_no_passages_is_zero_for_higher_and_undefined_for_lower() -> None:
    higher = declared("Is `item` useful for `input`?", each="contexts", fold=share("yes"))
    assert scored(higher, ([], "q")).value == 0.0
    lower = declared("Is `item` wrong for `input`?", each="contexts", fold=share("yes"), direction="lower")
    with pytest.raises(UndefinedError, match="contexts is empty"):
        scored(lower, ([], "q"))


def test_a_scale_is_the_expected_level() -> None:
    form = Scale(("none", "some", "most", "all"))
    one = declared("How much of `input` does `output` do?", form=form)
    found = scored(one, ("q", "a"), Verdict(form, {"0": 0.0, "1": 0.5, "2": 0.5, "3": 0.0}))
    assert found.value == pytest.approx(0.5)
    assert found.confidence == pytest.approx(1 - math.log(2) / math.log(4))


def test_a_choice_may_not_apply() -> None:
    form = Choice({"polite": Option("says please", 1.0), "rude": Option("insults", 0.0), "na": Option("says nothing", None)})
    one = declared("How is `output` said?", form=form)
    assert scored(one, ("a",), Verdict(form, {"polite": 0.6, "rude": 0.2, "na": 0.2})).value == pytest.approx(0.75)
    with pytest.raises(UndefinedError):
        scored(one, ("a",), Verdict(form, {"na": 0.9, "rude": 0.1}))


@pytest.mark.parametrize("probabilities", [{"yes": 0.4, "no": 0.4}, {"yes": 1.4, "no": -0.4}, {"maybe": 1.0}, {"yes": math.nan, "no": 0.5}])
def test_what_is_no_distribution_over_the_answers_is_refused(probabilities: dict[str, float]) -> None:
    with pytest.raises(InvalidResponseError):
        Verdict(goal.judged.form, probabilities)


@pytest.mark.parametrize(
    ("ask", "keywords", "sentence"),
    [
        ("Is `outptu` good?", {}, "`outptu` is no field; did you mean output?"),
        ("Is `item` in `output`?", {}, "`item` needs something to go through; give claims= or each="),
        ("Is it good?", {}, "the question names no field"),
        ("Is `item` in `output`?", {"claims": "output"}, "several verdicts need a fold"),
        ("Is `item` so?", {"claims": "output", "each": "contexts", "fold": share("yes")}, "not both"),
    ],
)
def test_a_question_that_cannot_be_asked_fails_at_declaration(ask: str, keywords: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        declared(ask, **keywords)
    assert sentence in str(refused.value)


def test_requests_are_counted_with_stand_in_replies() -> None:
    assert count_requests(lambda: faithfulness("One. Two.", [Context("c")]), JUDGE) == 2
    assert count_requests(lambda: goal("done", "q", None, None), JUDGE) == 1


def test_too_few_scripted_replies_are_an_error() -> None:
    with pytest.raises(CellError, match="no reply left for Ask"):
        scored(faithfulness, ("x", []), ["one"])


def test_the_question_is_in_the_version() -> None:
    assert goal.version != faithfulness.version
    assert isinstance(Ask("q").form, type(goal.judged.form))
    assert Split("x").max_claims == 100
