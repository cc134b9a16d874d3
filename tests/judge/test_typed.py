from __future__ import annotations

from typing import Any

import pytest

from measurand.core.errors import InvalidFieldError
from measurand.core.exchange import Completion
from measurand.core.request import Ask, Choice, Option, Prefer, Request, Scale, Split, Verdict, Write
from measurand.judge import Row, Unreadable, Ways, asked

TYPED = Ways("typed", "typed")
ROW = Row({"input": "Where?", "output": {"city": "Graz"}, "contexts": ["Graz is in Styria.", {"text": "Linz is not.", "id": "d2"}]})
LEVELS = Scale(("bad", "fair", "good"))
GRADES = Choice({"good": Option("as it should be", 1.0), "bad": Option("", 0.0)})


def parts(request: Request[Any], **named: Any) -> Any:
    return asked(request, ROW, TYPED, count=len, **named)


@pytest.mark.parametrize(
    ("form", "question"),
    [
        (None, {"type": "noul"}),
        (LEVELS, {"type": "score", "levels": ["bad", "fair", "good"]}),
        (GRADES, {"type": "choice", "options": {"good": "as it should be", "bad": ""}}),
    ],
)
def test_a_question_goes_out_with_its_type_and_the_fields_it_names(form: Any, question: dict[str, Any]) -> None:
    words = "Is `output` right for `input`?"
    request = Ask(words) if form is None else Ask(words, form)
    (part,) = parts(request).parts
    assert part.request.typed == {"state": {"input": "Where?", "output": {"city": "Graz"}}, "questions": {"q1": {**question, "question": words}}}
    assert (part.request.schema, part.request.logprobs) == (None, False)


def test_items_stand_in_the_state_and_each_has_a_question() -> None:
    (part,) = parts(Ask("Is `item` in `contexts`?", over=["a", "b"])).parts
    assert part.request.typed == {
        "state": {"contexts": ["Graz is in Styria.", {"text": "Linz is not.", "id": "d2"}], "items": ["a", "b"]},
        "questions": {
            "q1": {"type": "noul", "question": "With item 1 of `items` as `item`: Is `item` in `contexts`?"},
            "q2": {"type": "noul", "question": "With item 2 of `items` as `item`: Is `item` in `contexts`?"},
        },
    }
    reading = part.read(Completion("", typed={"q1": {"yes": 0.75, "no": 0.25}, "q2": {"yes": 0.0, "no": 1.0}}))
    assert reading.value == [Verdict.yes(0.75), Verdict.yes(0.0)]


def test_probabilities_are_the_verdict() -> None:
    found = parts(Ask("Is `output` right?", LEVELS))
    reply = found.combine([found.parts[0].read(Completion("", typed={"q1": {"0": 0.1, "1": 0.2, "2": 0.7}}))])
    assert reply.value.value == pytest.approx((0.2 + 1.4) / 2)


@pytest.mark.parametrize(
    ("answers", "p"), [({"yes": 0.3}, 0.3), ({"no": 0.3}, 0.7), ({"true": 0.3, "false": 0.7}, 0.3), ({"Yes": 0.301, "No": 0.7}, 0.301 / 1.001)]
)
def test_yes_and_no_may_be_told_in_several_ways(answers: dict[str, float], p: float) -> None:
    (part,) = parts(Ask("Is `output` right?")).parts
    assert part.read(Completion("", typed={"q1": answers})).value.value == pytest.approx(p)


@pytest.mark.parametrize(
    "typed",
    [
        *({}, {"q2": {"yes": 1.0}}, {"q1": {}}, {"q1": {"maybe": 1.0}}, {"q1": {"yes": 0.4, "no": 0.4}}, {"q1": {"yes": 1.5}}),
        *({"q1": {"yes": float("nan")}}, {"q1": {"yes": -0.1, "no": 1.1}}, {"q1": {"yes": True}}, {"q1": {"yes": "1"}}),
    ],
)
def test_what_is_no_distribution_is_unreadable(typed: Any) -> None:
    (part,) = parts(Ask("Is `output` right?")).parts
    with pytest.raises(Unreadable):
        part.read(Completion("", typed=typed))


@pytest.mark.parametrize(("request_", "what"), [(Split("text"), "split a text into claims"), (Write("A question for `output`"), "write texts")])
def test_such_a_judge_writes_nothing(request_: Request[Any], what: str) -> None:
    with pytest.raises(InvalidFieldError, match=f"answers typed questions only; it cannot {what}"):
        parts(request_)


def test_a_pair_is_a_choice_in_both_orders() -> None:
    found = parts(Prefer("x", "y", "Which is kinder?"))
    assert [part.request.typed["state"] for part in found.parts] == [{"A": "x", "B": "y"}, {"A": "y", "B": "x"}]
    assert found.parts[0].request.typed["questions"]["q1"]["type"] == "choice"
    readings = [part.read(Completion("", typed={"q1": {"A": p, "B": 1 - p}})) for part, p in zip(found.parts, (0.8, 0.4), strict=True)]
    assert found.combine(readings).value.value == pytest.approx(0.7)
