"""What a request of a metric becomes: its messages, schema and sizes, and what good replies of each form are read as."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.judge.replies import token, tokenized

from measurand.core.errors import InvalidFieldError
from measurand.core.exchange import Completion, Way
from measurand.core.request import Ask, Choice, Embed, Option, Prefer, Request, Scale, Split, Verdict, Write, YesNo
from measurand.judge import SYSTEM, Exchange, Reply, Row, Unreadable, Ways, asked, prompt_hash

ROW = Row({"input": "Where?", "output": "In Graz.", "expected": "Graz", "contexts": ["Graz is in Styria.", "Linz\nis not."], "metadata": {"tier": "gold"}})
LOGPROBS = Ways("logprobs", "logprobs")
SAMPLED = Ways("sampled", "sampled")
LEVELS = Scale(("bad", "fair", "good"))
GRADES = Choice({"supported": Option("said in so many words", 1.0), "contradicted": Option("", 0.0), "off": Option("does not apply", None)})


def count(text: str) -> int:
    return len(text.split())


def one(request: Request[Any], ways: Ways = SAMPLED, row: Row = ROW) -> Exchange:
    (found,) = asked(request, row, ways, count=count).parts
    return found


def user(exchange: Exchange) -> str:
    system, last = exchange.request.messages
    assert (system.role, system.content, last.role) == ("system", SYSTEM, "user")
    return last.content


def answered(request: Request[Any], text: str, ways: Ways = SAMPLED) -> Reply:
    found = asked(request, ROW, ways, count=count)
    return found.combine([part.read(Completion(text)) for part in found.parts])


# ---------------------------------------------------------------- what is shown


def test_only_named_fields_are_shown_in_order_then_question_and_form() -> None:
    d = ROW.delimiter
    assert user(one(Ask("Does `output` answer `input`?"), LOGPROBS)) == (
        f"#{d} input\nWhere?\n#{d} output\nIn Graz.\n#{d}\nDoes `output` answer `input`?\nAnswer with yes or no."
    )


def test_all_requests_of_a_row_begin_alike() -> None:
    asks = ["Is `contexts` fine?", "Does `contexts` help with `expected`?", "Is `output` in `contexts`?"]
    assert {user(one(Ask(text), LOGPROBS)).startswith(ROW.section("contexts")) for text in asks} == {True}


def test_metadata_is_shown_when_it_is_named() -> None:
    assert f"#{ROW.delimiter} metadata.tier\ngold\n" in user(one(Ask("Is `output` right for `metadata.tier`?")))
    assert "gold" not in user(one(Ask("Is `output` right?")))


def test_a_missing_field_is_left_out() -> None:
    assert "facts" not in user(one(Ask("Is `output` right, given `facts?`?"))).split("Is `output`")[0]


def test_items_are_numbered_and_folded() -> None:
    shown = user(one(Ask("Is `item` in `contexts`?", over=["a\n2. yes", "b"]), LOGPROBS))
    d = ROW.delimiter
    assert f"#{d} items\n1. a ¶ 2. yes\n2. b\n#{d}\n" in shown
    assert "For each `item`: Is `item` in `contexts`?" in shown
    assert shown.endswith("2 lines, one per item: number, full stop, yes or no.")


def test_passages_that_are_gone_through_are_shown_once() -> None:
    shown = user(one(Ask("Does `item` help with `expected`?", over=["Graz is in Styria.", "Linz\nis not."]), LOGPROBS))
    assert shown.startswith(ROW.section("contexts"))
    assert shown.count("Styria") == 1
    assert "For each `item` of `contexts`:" in shown


def test_a_text_in_parts_is_shown_once() -> None:
    row = Row({"expected": "One. Two.", "contexts": ["c"]})
    shown = user(one(Ask("Is `item`, a sentence of `expected`, in `contexts`?", over=["One.", "Two."]), LOGPROBS, row))
    assert shown.count("Two.") == 1
    assert f"1. One.\n2. Two.\n#{row.delimiter}\n" in shown
    assert "For each `item` of `expected`:" in shown


def test_no_question_learns_that_a_claim_stands_in_a_field_it_does_not_name() -> None:
    row = Row({"output": "Well: In Graz.", "expected": "In Graz.", "reference_contexts": ["In Graz."], "contexts": ["c"]})
    shown = user(one(Ask("Is `item` in `contexts`?", over=["In Graz."]), LOGPROBS, row))
    assert "expected" not in shown
    assert "reference" not in shown


def test_a_text_to_split_is_the_field_it_is() -> None:
    assert user(one(Split("In Graz."))).startswith(ROW.section("output"))
    other = user(one(Split("Elsewhere.")))
    assert other.startswith(f"#{ROW.delimiter} text\nElsewhere.\n#{ROW.delimiter}\n")
    assert "List each fact that `text` states." in other


def test_items_that_hold_the_delimiter_change_it() -> None:
    d = ROW.delimiter
    shown = user(one(Ask("Is `item` in `contexts`?", over=[f"x #{d} items", "b"])))
    assert shown.count(d) == 1
    assert f"1. x #{d} items\n" in shown


def test_a_field_that_cannot_be_shown_is_that_cells_error() -> None:
    with pytest.raises(InvalidFieldError, match="no text"):
        one(Ask("Is `output` in `contexts`?"), row=Row({"output": "a", "contexts": [{"id": "d1"}]}))


def test_passages_that_cannot_be_shown_trouble_only_who_names_them() -> None:
    row = Row({"output": "a", "contexts": [{"id": "d1"}]})
    assert " items\n1. a\n" in user(one(Ask("Is `item` in `output`?", over=["a", "b"]), LOGPROBS, row))


def test_a_judge_is_not_asked_for_vectors() -> None:
    with pytest.raises(TypeError, match="Embed"):
        asked(Embed(["x"]), ROW, SAMPLED, count=count)


# ---------------------------------------------------------------- what is sent


@pytest.mark.parametrize(
    ("request_", "schema"),
    [
        (Ask("Is `output` fine?"), {"answer": {"type": "boolean"}}),
        (Ask("Is `output` fine?", LEVELS), {"answer": {"type": "string", "enum": ["0", "1", "2"]}}),
        (Ask("Is `output` fine?", GRADES), {"answer": {"type": "string", "enum": ["supported", "contradicted", "off"]}}),
        (Ask("Is `item` fine?", over=["a", "b", "c"]), {"answers": {"type": "array", "items": {"type": "boolean"}, "minItems": 3, "maxItems": 3}}),
        (
            Ask("How good is `item`?", LEVELS, over=["a", "b"]),
            {"answers": {"type": "array", "items": {"type": "string", "enum": ["0", "1", "2"]}, "minItems": 2, "maxItems": 2}},
        ),
        (Split("text"), {"claims": {"type": "array", "items": {"type": "string"}}}),
        (Write("A question for `output`", 3), {"texts": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}}),
        (Prefer("a", "b", ""), {"answer": {"type": "string", "enum": ["A", "B"]}}),
    ],
)
def test_structured_requests_have_a_small_closed_schema(request_: Request[Any], schema: dict[str, Any]) -> None:
    sent = asked(request_, ROW, SAMPLED, count=count).parts[0].request
    assert sent.schema == {"type": "object", "properties": schema, "required": list(schema), "additionalProperties": False}
    assert not sent.logprobs
    assert json.dumps(next(iter(schema))) in sent.messages[-1].content


def test_log_probabilities_are_asked_for_without_a_schema() -> None:
    single = one(Ask("Is `output` fine?"), LOGPROBS).request
    assert (single.schema, single.logprobs) == (None, True)
    assert single.max_tokens is not None
    assert single.max_tokens <= 4
    listed = one(Ask("Is `item` fine?", over=["a", "b"]), LOGPROBS).request
    assert (listed.schema, listed.logprobs) == (None, True)
    assert listed.max_tokens is not None
    assert 8 < listed.max_tokens < 64


@pytest.mark.parametrize(("levels", "way"), [(2, "logprobs"), (10, "logprobs"), (11, "sampled"), (101, "sampled")])
def test_long_scales_are_always_sampled(levels: int, way: Way) -> None:
    form = Scale(tuple(f"level {level}" for level in range(levels)))
    assert one(Ask("How good is `output`?", form), LOGPROBS).request.logprobs is (way == "logprobs")
    assert one(Ask("How good is `item`?", form, over=["a"]), LOGPROBS).request.logprobs is (way == "logprobs")


def test_levels_and_options_are_described() -> None:
    assert "0: bad\n1: fair\n2: good\nAnswer with a number from 0 to 2." in user(one(Ask("How good is `output`?", LEVELS), LOGPROBS))
    lettered = user(one(Ask("How good is `output`?", GRADES), LOGPROBS))
    assert "A: supported: said in so many words\nB: contradicted\nC: off: does not apply\nAnswer with A, B or C." in lettered
    named = user(one(Ask("How good is `output`?", GRADES)))
    assert "supported: said in so many words\ncontradicted\noff: does not apply\nAnswer supported, contradicted or off, as JSON" in named


def test_draws_differ_in_nothing_but_their_number() -> None:
    parts = asked(Ask("Is `output` fine?"), ROW, SAMPLED, draws=3, count=count).parts
    assert [part.request.draw for part in parts] == [0, 1, 2]
    assert len({part.request.messages for part in parts}) == 1


def test_no_items_no_request() -> None:
    found = asked(Ask("Is `item` fine?", over=[]), ROW, SAMPLED, count=count)
    assert found.parts == ()
    assert found.combine([]) == Reply([])


# ---------------------------------------------------------------- what replies are read as


def test_a_sampled_answer_is_certain_and_draws_are_averaged() -> None:
    found = asked(Ask("Is `output` fine?", LEVELS), ROW, SAMPLED, draws=4, count=count)
    reply = found.combine([part.read(Completion(f'{{"answer": "{level}"}}')) for part, level in zip(found.parts, (2, 2, 1, 0), strict=True)])
    assert reply.value == Verdict(LEVELS, {"0": 0.25, "1": 0.25, "2": 0.5})
    assert reply.draws[2] == {"draw": 2, "probabilities": {"0": 0.0, "1": 1.0, "2": 0.0}}
    assert reply.flags == ()


def test_draws_over_items_are_averaged_item_by_item() -> None:
    found = asked(Ask("Is `item` fine?", over=["a", "b"]), ROW, SAMPLED, draws=2, count=count)
    texts = ('{"answers": [true, false]}', '{"answers": ["no", "False"]}')
    reply = found.combine([part.read(Completion(text)) for part, text in zip(found.parts, texts, strict=True)])
    assert [verdict.value for verdict in reply.value] == [0.5, 0.0]
    assert reply.draws == ({"draw": 0, "values": [1.0, 0.0]}, {"draw": 1, "values": [0.0, 0.0]})


def test_log_probabilities_keep_their_mass_and_flags() -> None:
    found = asked(Ask("Is `output` fine?"), ROW, LOGPROBS, count=count)
    reply = found.combine([found.parts[0].read(tokenized("yes", [{"yes": 0.3, "no": 0.1, "The": 0.6}]))])
    assert reply.value.value == pytest.approx(0.75)
    assert reply.flags == ("low_mass",)
    assert reply.draws[0]["mass"] == pytest.approx(0.4)


def test_lettered_options_come_back_by_name() -> None:
    found = asked(Ask("How good is `output`?", GRADES), ROW, LOGPROBS, count=count)
    for text, first in (("A", "A"), ("B. contradicted", "B"), ("**C**", "C")):
        completion = tokenized(text, [{first: 0.75, "A" if first != "A" else "B": 0.25}], at="[ABC]")
        probabilities = found.combine([found.parts[0].read(completion)]).value.probabilities
        assert max(probabilities, key=lambda name: probabilities[name]) == {"A": "supported", "B": "contradicted", "C": "off"}[first]
    with pytest.raises(Unreadable):
        found.parts[0].read(tokenized("A supported claim"))


def test_options_of_one_letter_are_their_own_labels() -> None:
    swapped = Choice({"B": Option("bad", 0.0), "A": Option("good", 1.0)})
    found = one(Ask("How good is `output`?", swapped), LOGPROBS)
    assert "B: bad\nA: good" in user(found)
    assert found.read(Completion("A", tokens=(token("A"),))).value.probabilities == {"B": 0.0, "A": 1.0}


def test_claims_are_cut_at_their_limit_and_that_is_told() -> None:
    text = json.dumps({"claims": ["a", " ", "b", "c"]})
    assert answered(Split("text", 2), text) == Reply(["a", "b"], (), ("claims_cut",))
    assert answered(Split("text", 3), text) == Reply(["a", "b", "c"])
    assert answered(Split("text"), '{"claims": []}') == Reply([])


def test_texts_are_as_many_as_asked_for() -> None:
    assert answered(Write("A question", 2), '{"texts": ["a?", "b?"]}').value == ["a?", "b?"]
    with pytest.raises(Unreadable, match="1 texts, 2 were asked for"):
        answered(Write("A question", 2), '{"texts": ["a?"]}')


def test_a_pair_is_asked_in_both_orders() -> None:
    request = Prefer("first text", "second text", "Which answers `input` better?")
    found = asked(request, ROW, SAMPLED, count=count)
    straight, swapped = (user(part) for part in found.parts)
    assert straight.index("first text") < straight.index("second text")
    assert swapped.index("second text") < swapped.index("first text")
    both = [part.read(Completion('{"answer": "A"}')) for part in found.parts]
    assert found.combine(both).value == Verdict.yes(0.5)
    assert found.combine(both).flags == ("flip",)
    agree = [part.read(Completion(f'{{"answer": "{letter}"}}')) for part, letter in zip(found.parts, "AB", strict=True)]
    assert found.combine(agree) == Reply(Verdict.yes(1.0), ({"draw": 0, "probabilities": {"yes": 1.0, "no": 0.0}, "orders": [1.0, 1.0]},))


def test_both_orders_are_averaged_over_the_draws() -> None:
    found = asked(Prefer("a", "b", ""), ROW, LOGPROBS, draws=2, count=count)
    assert [part.request.draw for part in found.parts] == [0, 0, 1, 1]
    tops = [{"A": 0.9, "B": 0.1}, {"A": 0.3, "B": 0.7}, {"A": 0.7, "B": 0.3}, {"A": 0.5, "B": 0.5}]
    reply = found.combine([part.read(Completion("A", tokens=(token("A", top),))) for part, top in zip(found.parts, tops, strict=True)])
    assert reply.value.value == pytest.approx((0.9 + 0.7 + 0.7 + 0.5) / 4)
    assert reply.flags == ()
    assert [draw["orders"] for draw in reply.draws] == [pytest.approx([0.9, 0.7]), pytest.approx([0.7, 0.5])]


def test_equal_requests_have_equal_readings() -> None:
    first, second = (asked(Split("text", most), ROW, SAMPLED, count=count) for most in (1, 5))
    assert first.parts[0].request == second.parts[0].request
    reading = first.parts[0].read(Completion('{"claims": ["a", "b"]}'))
    assert second.combine([reading]).value == ["a", "b"]


# ---------------------------------------------------------------- asking again


def test_the_repair_says_what_was_wrong_and_keeps_the_rest() -> None:
    exchange = one(Ask("Is `output` fine?"))
    again = exchange.repair("it is empty")
    assert again.request.messages[0] == exchange.request.messages[0]
    assert (
        again.request.messages[1].content == user(exchange) + "\n\nYour last reply could not be used: it is empty. Reply again, in exactly the form asked for."
    )
    assert again.request.schema == exchange.request.schema
    assert again.request.draw == exchange.request.draw
    assert again.read(Completion('{"answer": "yes"}')) == exchange.read(Completion('{"answer": "yes"}'))


# ---------------------------------------------------------------- the hash of the words


def test_the_hash_of_the_words_is_six_digits_of_what_is_asked() -> None:
    first = prompt_hash("Is `output` fine?")
    assert len(first) == 6
    assert int(first, 16) >= 0
    assert first == prompt_hash("Is `output` fine?") != prompt_hash("Is `output` good?")
    assert prompt_hash("a", "b") != prompt_hash("ab")
    assert prompt_hash() != prompt_hash("")


def test_a_judged_question_is_hashed_with_its_form() -> None:
    from measurand.core.judged import Question

    questions = [Question("Is `output` fine?", form, None, "higher") for form in (YesNo(), LEVELS)]
    assert len({prompt_hash(question) for question in questions}) == 2
