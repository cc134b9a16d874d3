from __future__ import annotations

import json
from typing import Any

import pytest

from measurand.core.errors import RefusedError
from measurand.core.exchange import Completion
from measurand.core.request import Ask, Choice, Embed, Option, Prefer, Request, Scale, Split, Verdict, Write
from measurand.judge import Row, Unreadable, together

ROW = Row({"input": "Where?", "output": "In Graz. In Styria.", "expected": "Graz", "contexts": ["Graz is in Styria.", "Linz is not."]})
LEVELS = Scale(("bad", "fair", "good"))
GRADES = Choice({"good": Option("as it should be", 1.0), "bad": Option("", 0.0)})
REQUESTS: list[Request[Any]] = [
    Ask("Does `output` answer `input`?"),
    Split("In Graz. In Styria."),
    Ask("Can `item` be inferred from `contexts`?", over=["a", "b", "c"]),
    Ask("Does `item` help with `input`?", over=["Graz is in Styria.", "Linz is not."]),
    Ask("How good is `output`?", LEVELS),
    Ask("How good is `output`?", GRADES),
    Write("The question that `output` answers", 2),
    Prefer("x", "y", "Which is kinder?"),
]
ANSWERS: dict[str, Any] = {
    "q1": True,
    "q2": ["It is in Graz.", "It is in Styria."],
    "q3": [True, False, True],
    "q4": [True, False],
    "q5": "2",
    "q6": "bad",
    "q7": ["Where is it?", "Where?"],
    "q8": "A",
    "q9": "B",
}


def user() -> str:
    return together(REQUESTS, ROW).request.messages[1].content


def read(answers: Any) -> list[Any]:
    found: list[Any] = together(REQUESTS, ROW).read(Completion(answers if isinstance(answers, str) else json.dumps(answers)))
    return found


def test_fields_are_shown_once() -> None:
    shown = user()
    for name in ("contexts", "input", "output"):
        assert shown.count(f"#{ROW.delimiter} {name}\n") == 1
    assert shown.count("Graz is in Styria") == 1
    assert " expected\n" not in shown


def test_every_question_has_its_key_its_items_and_its_schema() -> None:
    request = together(REQUESTS, ROW, draw=2).request
    assert request.draw == 2
    assert request.schema is not None
    assert request.schema["required"] == list(ANSWERS)
    assert request.schema["additionalProperties"] is False
    properties = request.schema["properties"]
    assert properties["q1"] == {"type": "boolean"}
    assert properties["q3"] == {"type": "array", "items": {"type": "boolean"}, "minItems": 3, "maxItems": 3}
    assert properties["q5"] == {"type": "string", "enum": ["0", "1", "2"]}
    shown = user()
    assert "q3 (3 booleans): For each `item` of `items3`: Can `item` be inferred from `contexts`?" in shown
    assert f"#{ROW.delimiter} items3\n1. a\n2. b\n3. c\n" in shown
    assert "q4 (2 booleans): For each `item` of `contexts`:" in shown
    assert "q5 (a number from 0 to 2): How good is `output`?\n0: bad\n1: fair\n2: good" in shown
    assert "q1 (boolean): Does" in shown
    assert "q2 (sentences): List" in shown
    assert "q7 (2 texts): The" in shown


def test_a_reply_is_read_answer_by_answer() -> None:
    relevance, claims, grounded, useful, level, grade, questions, better = read(ANSWERS)
    assert relevance == Verdict.yes(1.0)
    assert claims == ["It is in Graz.", "It is in Styria."]
    assert [verdict.value for verdict in grounded] == [1.0, 0.0, 1.0]
    assert [verdict.value for verdict in useful] == [1.0, 0.0]
    assert level.probabilities == {"0": 0.0, "1": 0.0, "2": 1.0}
    assert grade.probabilities == {"good": 0.0, "bad": 1.0}
    assert questions == ["Where is it?", "Where?"]
    assert better == Verdict.yes(1.0)


def test_yes_and_no_do_as_well() -> None:
    assert read(ANSWERS | {"q1": "No", "q3": ["yes", "False", "no"]})[0] == Verdict.yes(0.0)


@pytest.mark.parametrize(
    ("change", "place", "wrong"),
    [
        ({"q1": "not sure"}, 0, "q1: an answer in it is none of yes, no"),
        ({"q2": "one claim"}, 1, "q2: it gives no list of texts"),
        ({"q3": [True]}, 2, "q3: it gives 1 answers for 3 items"),
        ({"q5": "3"}, 4, "q5: an answer in it is none of 0 to 2"),
        ({"q7": ["Where?"]}, 6, "q7: it gives 1 texts, 2 were asked for"),
        ({"q9": "C"}, 7, "q9: an answer in it is none of A, B"),
    ],
)
def test_one_bad_answer_leaves_the_others(change: dict[str, Any], place: int, wrong: str) -> None:
    found = read(ANSWERS | change)
    assert [at for at, one in enumerate(found) if isinstance(one, Unreadable)] == [place]
    assert str(found[place]) == wrong


def test_a_missing_answer_is_unreadable_alone() -> None:
    found = read({key: value for key, value in ANSWERS.items() if key != "q4"})
    assert [isinstance(one, Unreadable) for one in found] == [False, False, False, True, False, False, False, False]
    assert str(found[3]) == "it has no key 'q4'"


@pytest.mark.parametrize("text", ["", "I cannot say.", "[]", '{"answers": []}', "true, false"])
def test_a_reply_without_any_answer_is_unreadable_as_a_whole(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


def test_a_cut_or_withheld_reply_counts_for_all() -> None:
    exchange = together(REQUESTS, ROW)
    with pytest.raises(Unreadable, match="max_tokens"):
        exchange.read(Completion(json.dumps(ANSWERS), finish="length"))
    with pytest.raises(RefusedError):
        exchange.read(Completion("", finish="filtered"))


def test_the_orders_of_a_pair_are_two_questions() -> None:
    assert read(ANSWERS | {"q9": "A"})[-1] == Verdict.yes(0.5)
    shown = user()
    d = ROW.delimiter
    assert f"#{d} A8\nx\n#{d} B8\ny\n" in shown
    assert f"#{d} A9\ny\n#{d} B9\nx\n" in shown


def test_two_ways_to_show_one_field_do_not_clash() -> None:
    row = Row({"expected": "One. Two. Three."})
    requests = [Ask("Is `item` of `expected` true?", over=["One.", "Two. Three."]), Ask("Is `item` kind?", over=["One. Two.", "Three."])]
    shown = together(requests, row).request.messages[1].content
    assert f"1. One.\n2. Two. Three.\n#{row.delimiter} items2\n" in shown
    assert f"1. One. Two.\n2. Three.\n#{row.delimiter}\n" in shown


def test_a_text_that_another_question_shows_is_not_shown_again_in_parts() -> None:
    row = Row({"expected": "One. Two.", "output": "o"})
    parts = Ask("Is `item` true?", over=["One.", "Two."])
    shown = together([parts, Ask("Is `output` as kind as `expected`?")], row).request.messages[1].content
    assert shown.count("Two.") == 1
    assert " expected\n" not in together([parts, Ask("Is `output` kind?")], row).request.messages[1].content


def test_claims_are_cut_at_their_limit() -> None:
    assert together([Split("x", 1)], ROW).read(Completion('{"q1": ["a", "b"]}')) == [["a"]]


def test_a_judge_is_not_asked_for_vectors() -> None:
    with pytest.raises(TypeError, match="Embed"):
        together([Embed(["x"])], ROW)
