from __future__ import annotations

import inspect
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.drive import drive, requests_made, scripted
from measurand.core.errors import CellError, DeclarationError, InvalidFieldError, InvalidResponseError, UndefinedError
from measurand.core.judged import Question, answers, judged
from measurand.core.record import Context
from measurand.core.request import Ask, Choice, Option, Scale, Split, Verdict
from measurand.core.score import Score
from measurand.core.taxonomy import MetricCategory
from measurand.formula.folds import average_precision, share

JUDGE = frozenset({"judge"})


def declared(ask: str, **keywords: Any) -> Any:
    return judged("house.q", MetricCategory.Fluency, ask=ask, **{"doc": "A question.", **keywords})


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


@pytest.mark.parametrize(
    ("ask", "present", "asked"),
    [
        ("Is it done, judging from `output` (and `messages?`)? `expected?` says how.", "output", "Is it done, judging from `output`?"),
        (
            "Is it done, judging from `output` (and `messages?`)? `expected?` says how.",
            "output messages",
            "Is it done, judging from `output` (and `messages`)?",
        ),
        ("Is `output` at least 0.5 of it; as in `expected?`; roughly?", "output", "Is `output` at least 0.5 of it; roughly?"),
        ("`output`好吗？`expected?`是标准。", "output", "`output`好吗？"),
        ("`output`好吗（参照`expected?`）？", "output", "`output`好吗？"),
        ("Is `output` (a text (in brackets)) good?", "output", "Is `output` (a text (in brackets)) good?"),
    ],
)
def test_a_clause_is_a_sentence_a_bracket_or_what_a_semicolon_ends(ask: str, present: str, asked: str) -> None:
    assert declared(ask).judged.wording(frozenset(present.split())) == asked


@given(st.text("`output` expected? item.;()（）。? \n", max_size=60))
def test_with_every_field_there_nothing_of_a_question_is_lost(ask: str) -> None:
    question = Question(ask, None, None, "higher")
    words = {word.removesuffix("?") for word in re.findall(r"`([^`]*)`", ask)}
    assert question.wording(frozenset(words)) == ask.replace("?`", "`").strip().rstrip(";")


@pytest.mark.parametrize("probabilities", [{"yes": 0.4, "no": 0.4}, {"yes": 1.4, "no": -0.4}, {"maybe": 1.0}, {"yes": math.nan, "no": 0.5}])
def test_what_is_no_distribution_over_the_answers_is_refused(probabilities: dict[str, float]) -> None:
    with pytest.raises(InvalidResponseError):
        Verdict(goal.judged.form, probabilities)


@pytest.mark.parametrize(
    ("ask", "keywords", "sentence"),
    [
        ("Is `outptu` good?", {}, "`outptu` is no field; did you mean output?"),
        ("Is `item` in `output`?", {}, "`item` needs something to go through; say what: each = "),
        ("Is it good?", {}, "the question names no field that it needs"),
        ("Is `item` in `output`?", {"claims": "output"}, "several verdicts need a fold"),
        ("Is `outptu` like `inptu`?", {}, "`outptu` is no field; did you mean output? `inptu` is no field; did you mean input?"),
        ("Is it in `contexts`?", {"claims": "output", "fold": share("yes")}, "it is asked of each part of output and names none; write `item`"),
        ("Is `output` good?", {"fold": share("yes")}, "a fold needs several verdicts; give claims=, sentences= or each="),
        ("Is `item` good?", {"claims": "outptu", "fold": share("yes")}, "'outptu' is no field; did you mean output?"),
        ("Is `output` good?", {"empty": {"output": "maybe"}}, "empty= answers 'maybe' for output; the question allows yes, no"),
        ("Is `input?` good?", {}, "the question names no field that it needs"),
        ("Is `output` good for `input?`?", {}, "where an optional field is missing, the clause that names `output` goes with it"),
        ("Is `item` so?", {"claims": "output", "each": "contexts", "fold": share("yes")}, "not several"),
    ],
)
def test_a_question_that_cannot_be_asked_fails_at_declaration(ask: str, keywords: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        declared(ask, **keywords)
    assert sentence in str(refused.value)


def test_a_field_that_is_empty_is_answered_for_without_asking() -> None:
    one = declared("Does `output` answer `input`?", empty={"output": "no"})
    found = scored(one, (" ", "q"))
    assert (found.value, found.label, found.probabilities) == (0.0, "0% yes", {"yes": 0.0, "no": 1.0})
    assert found.details == {"reason": "output is empty; nothing was asked about it"}
    assert scored(one, ("text", "q"), Verdict.yes(0.9)).details == {}


def test_claims_are_asked_for_and_then_nothing_supports_them() -> None:
    one = declared("Is `item` in `contexts`?", claims="output", fold=share("yes"), empty={"contexts": "no"})
    assert scored(one, ("A claim.", []), ["a claim"]).value == 0.0
    assert scored(one, ("A claim.", [Context("")]), ["a claim"]).value == 0.0
    with pytest.raises(UndefinedError, match="output makes no claims"):
        scored(one, ("I do not know.", []), [])


def test_passages_without_text_cannot_be_judged_by() -> None:
    with pytest.raises(InvalidFieldError, match=r"contexts\[1\] has no text; a judge needs the text"):
        scored(faithfulness, ("Two claims.", [Context("c"), Context(None, "d2")]))


recall = declared("Is `item`, a sentence of `expected`, in `contexts`?", sentences="expected", fold=share("yes"))


def test_sentences_are_cut_in_code() -> None:
    found = scored(recall, (["One thing. Another."], [Context("c")]), [Verdict.yes(1.0), Verdict.yes(0.5)])
    assert found.value == 0.75
    assert [item["text"] for item in found.details["items"]] == ["One thing.", "Another."]
    assert recall.judged.part == "sentence of expected"


def test_of_several_texts_the_best_counts_and_its_place_is_kept() -> None:
    yes, no = Verdict.yes(1.0), Verdict.yes(0.0)
    accepted = ["One thing. Another.", " ", "A third."]
    found = scored(recall, (accepted, [Context("c")]), [yes, no, yes])
    assert (found.value, found.details["reference"]) == (1.0, 2)
    assert [item["reference"] for item in found.details["items"]] == [0, 0, 2]
    lower = declared("Is `item`, a sentence of `expected`, in `contexts`?", sentences="expected", fold=share("no"), direction="lower")
    assert scored(lower, (accepted, [Context("c")]), [yes, no, yes]).value == 0.0


def test_levels_make_a_scale() -> None:
    one = declared("How much of `input` does `output` do?", levels=("none", "all"))
    assert one.judged.form == Scale(("none", "all"))
    assert (one.threshold, one.judged.options) == (None, ("0", "1"))
    assert answers(one.judged) == {"0": "none", "1": "all"}


def test_a_choice_between_yes_and_no_is_no_closed_question() -> None:
    form = Choice({"yes": Option("insults", 0.0), "no": Option("does not", 1.0)})
    one = declared("Does `output` insult?", form=form)
    assert one.threshold is None
    found = scored(one, ("a",), Verdict(form, {"yes": 0.2, "no": 0.8}))
    assert found.value == pytest.approx(0.8)
    assert found.label == "no"


def test_a_judged_metric_is_called_like_a_function_with_its_fields() -> None:
    assert str(inspect.signature(goal)) == "(output, input, messages=None, expected=None)"
    assert drive(goal(input="q", output="a"), scripted([Verdict.yes(1.0)]), JUDGE).value == 1.0
    for wrong in ({"output": "a"}, {"output": "a", "input": "q", "contexts": []}):
        with pytest.raises(TypeError, match=r"house\.q takes output, input, messages, expected"):
            goal(**wrong)


def test_what_changes_a_verdict_changes_the_version_and_nothing_else_does() -> None:
    def version(ask: str = "Is `item` in `contexts`?", **keywords: Any) -> str:
        return str(declared(ask, **{"claims": "output", "fold": share("yes"), **keywords}).version)

    assert version() == version(doc="Another page.", threshold=0.7, source="elsewhere", example={"output": "x"})
    changed = [
        version("Is `item` said in `contexts`?"),
        version(levels=("no", "yes")),
        version(claims="expected"),
        version(claims=None, sentences="output"),
        version(fold=share("no")),
        version(fold=average_precision),
        version(direction="lower"),
        version(empty={"contexts": "no"}),
    ]
    assert len({version(), *changed}) == 9


def test_its_origin_is_the_module_that_declares_it() -> None:
    assert goal.origin == (__name__, "house.q")
    with pytest.raises(DeclarationError, match="a name without a dot is kept for built-ins"):
        judged("llm_mine", MetricCategory.Fluency, ask="Is `output` good?", doc="Mine.")


def test_a_plan_knows_the_requests_without_asking_them() -> None:
    split, ask = requests_made(faithfulness("One. Two? Three!", [Context("c")]), JUDGE)
    assert split == Split("One. Two? Three!")
    assert isinstance(ask, Ask)
    assert ask.over == ("One.", "Two?", "Three!")
    assert len(requests_made(goal("done", "q", None, None), JUDGE)) == 1
    assert len(requests_made(faithfulness(" ", [Context("c")]), JUDGE)) == 0


def test_too_few_scripted_replies_are_an_error() -> None:
    with pytest.raises(CellError, match="no reply left for Ask"):
        scored(faithfulness, ("x", []), ["one"])


def test_the_question_is_in_the_version() -> None:
    assert goal.version != faithfulness.version
    assert isinstance(Ask("q").form, type(goal.judged.form))
    assert Split("x").max_claims == 100
