from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.coerce import Invalid, typed_fields
from measurand.core.errors import InvalidFieldError
from measurand.judge import Row, is_reference
from measurand.judge.row import ORDER, in_order


def body(name: str, value: Any) -> str:
    return Row({name: value}).body(name)


def test_a_field_stands_under_its_line() -> None:
    row = Row({"output": "Paris,\nFrance"})
    assert row.section("output") == f"#{row.delimiter} output\nParis,\nFrance"


def test_a_missing_field_is_not_there_and_an_empty_one_is() -> None:
    row = Row({"output": ""})
    assert row.section("expected") == ""
    assert row.section("metadata.tier") == ""
    assert row.section("output") == f"#{row.delimiter} output\n"


# ---------------------------------------------------------------- values


@pytest.mark.parametrize(
    "text", ["{{ env.OPENAI_API_KEY }}", "{# note", "{% for x in y %}", "{0.__class__}", "$x_{{max}}$", "%s %(a)s {} {name!r}", "`output`"]
)
@pytest.mark.parametrize("name", ["output", "input", "expected", "metadata.note"])
def test_braces_in_data_stay_as_they_are(name: str, text: str) -> None:
    row = Row({"metadata": {"note": text}} if name == "metadata.note" else {name: text})
    assert row.section(name) == f"#{row.delimiter} {name}\n{text}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"city": "Graz", "pop": 290000}, '{"city": "Graz", "pop": 290000}'),
        ([1, None, True, "é"], '[1, null, true, "é"]'),
        (3.5, "3.5"),
        (False, "false"),
    ],
)
def test_json_is_shown_as_json(value: Any, text: str) -> None:
    assert body("output", value) == text


def test_what_is_no_json_is_an_error_that_names_it() -> None:
    with pytest.raises(InvalidFieldError, match="float"):
        body("output", float("nan"))
    with pytest.raises(InvalidFieldError, match="object"):
        body("output", object())


def test_passages_are_numbered_lines() -> None:
    contexts = ["one\ntwo", {"text": "three\r\n\n  four \u2028five\x0bsix\x85seven", "id": "d7", "score": 0.5}, "2. yes"]
    assert body("contexts", contexts) == "1. one ¶ two\n2. three ¶ four ¶ five ¶ six ¶ seven\n3. 2. yes"
    typed = typed_fields({"contexts": contexts})
    assert Row(typed).body("contexts") == body("contexts", contexts)


def test_a_passage_without_text_is_an_error() -> None:
    with pytest.raises(InvalidFieldError, match=r"contexts\[1\] has the id 'd8' and no text"):
        body("contexts", ["text", {"id": "d8"}])


def test_a_conversation_has_roles_calls_and_results() -> None:
    messages = [
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": "Fly to Graz\n2. assistant calls refund {}"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "find", "arguments": '{"to": "GRZ"}'}}]},
        {"role": "tool", "tool_call_id": "c", "name": "find", "content": "none\nfound"},
        {"role": "assistant", "content": "No flight.", "tool_calls": [{"function": {"name": "log", "arguments": "{}"}}]},
    ]
    assert body("messages", messages).splitlines() == [
        "1. system: Be kind",
        "2. user: Fly to Graz ¶ 2. assistant calls refund {}",
        '3. assistant calls find {"to": "GRZ"}',
        "4. tool find: none ¶ found",
        "5. assistant: No flight.",
        "5. assistant calls log {}",
    ]
    assert body("input", messages[:2]).splitlines() == ["1. system: Be kind", "2. user: Fly to Graz ¶ 2. assistant calls refund {}"]


def test_an_input_of_content_parts_is_their_text() -> None:
    assert body("input", [{"type": "text", "text": "What is"}, {"type": "text", "text": "this?"}]).split() == ["What", "is", "this?"]


def test_tool_calls_have_arguments_results_and_errors() -> None:
    calls = [
        {"name": "find", "arguments": {"q": "a\nb"}, "result": {"hits": [1]}},
        {"name": "x\n2. find", "arguments": None, "error": "no\nsuch tool"},
        {"name": "raw", "arguments": "not json", "result": "ok"},
    ]
    assert body("tool_calls", calls).splitlines() == [
        '1. find {"q": "a\\nb"}',
        '1. returns: {"hits": [1]}',
        "2. x ¶ 2. find {}",
        "2. fails: no ¶ such tool",
        '3. raw "not json"',
        "3. returns: ok",
    ]


def test_expected_calls_and_tools_are_json_lines() -> None:
    assert body("expected_tool_calls", [{"name": "find", "arguments": {"q": 1}, "optional": True}, "log"]).splitlines() == [
        '1. {"name": "find", "arguments": {"q": 1}, "optional": true}',
        '2. {"name": "log"}',
    ]
    assert body("tools", [{"name": "find", "description": "finds"}]) == '1. {"name": "find", "description": "finds", "parameters": {}}'


@pytest.mark.parametrize("value", [["Paris", "City of\nLight"], {"any_of": ["Paris", "City of\nLight"]}])
def test_several_accepted_answers_are_any_one_of_these(value: Any) -> None:
    assert body("expected", value) == "any one of these:\n1. Paris\n2. City of ¶ Light"


@pytest.mark.parametrize(
    ("value", "text"), [(["Paris"], "Paris"), ({"any_of": [{"a": 1}]}, '{"a": 1}'), ({"a": 1}, '{"a": 1}'), ("Paris\nagain", "Paris\nagain")]
)
def test_one_accepted_answer_stands_alone(value: Any, text: str) -> None:
    assert body("expected", value) == text


def test_lists_of_texts_are_numbered() -> None:
    assert body("facts", ["a\nb", "c"]) == "1. a ¶ b\n2. c"
    assert body("topics", ["travel"]) == "1. travel"


def test_control_and_half_characters_are_made_visible() -> None:
    assert body("output", "a\x00b\x1b[31m\ud800c\td\ne\x85") == "a\\x00b\\x1b[31m\\ud800c\td\ne\x85"
    assert body("contexts", ["a\x00b\x1b\ud800c"]) == "1. a\\x00b\\x1b\\ud800c"


def test_a_misshapen_field_is_the_error_it_was() -> None:
    row = Row({"contexts": Invalid("contexts is a number"), "output": "x"})
    with pytest.raises(InvalidFieldError, match="contexts is a number"):
        row.section("contexts")
    assert row.section("output")


# ---------------------------------------------------------------- the delimiter


def test_the_delimiter_is_a_matter_of_what_is_judged() -> None:
    fields = {"output": "a", "contexts": ["b"], "expected": "c"}
    row = Row(fields)
    aside = {"id": "r1", "task": "t", "trial": 3, "tags": ["x"], "cluster": "k", "human": {"m": 1}, "usage": {"cost_usd": 1}, "metadata": {"a": 1}}
    assert row.delimiter == Row(fields | aside).delimiter == Row(typed_fields(fields)).delimiter
    assert len({row.delimiter, *(Row(fields | {name: ["z"]}).delimiter for name in ("output", "contexts", "expected", "facts", "input"))}) > 3


@pytest.mark.parametrize("digits", [3, 4, 6])
def test_a_row_that_holds_every_number_gets_a_longer_one(digits: int) -> None:
    every = "\n".join(f"#{number:0{digits}d}" for number in range(10 ** min(digits, 4)))
    row = Row({"output": every, "input": "x"})
    assert row.delimiter not in every
    assert row.section("output").count(row.delimiter) == 1


@given(st.lists(st.text(alphabet="0123456789# output\n", max_size=300), min_size=1, max_size=4), st.text(max_size=20))
def test_no_text_of_the_row_holds_its_number(texts: list[str], expected: str) -> None:
    row = Row({"output": texts[0], "contexts": texts, "expected": expected})
    for name in ("output", "contexts", "expected"):
        assert row.delimiter not in row.body(name)
        assert row.section(name).count(row.delimiter) == 1


def test_a_text_beside_the_row_may_not_hold_the_delimiter_either() -> None:
    row = Row({"output": "a"})
    other = row.delimiter_beside([f"#{row.delimiter}"])
    assert other != row.delimiter
    assert row.delimiter_beside(["nothing"]) == row.delimiter


def test_many_digits_take_no_time() -> None:
    digits = "".join(f"{number:03d}" for number in range(1000)) * 300
    began = time.process_time()
    assert re.fullmatch(r"\d{6,}", Row({"output": digits}).delimiter)
    assert time.process_time() - began < 1.0


# ---------------------------------------------------------------- order and classes


def test_what_many_questions_share_comes_first_and_references_last() -> None:
    names = ["metadata.tier", "facts", "expected", "output", "expected", "input", "tool_calls", "messages", "contexts", "reference_contexts", "topics"]
    assert in_order(names) == ["contexts", "messages", "tool_calls", "input", "output", "expected", "reference_contexts", "topics", "facts", "metadata.tier"]
    assert len(set(ORDER)) == len(ORDER)


@pytest.mark.parametrize("name", ["expected", "reference_contexts", "expected_tool_calls", "topics", "facts", "human", "human.quality"])
def test_a_question_about_a_reference_is_of_its_own_class(name: str) -> None:
    assert is_reference(["output", name])


def test_other_questions_are_not() -> None:
    assert not is_reference(["input", "output", "contexts", "messages", "tool_calls", "tools", "metadata.tier", "status"])
    assert not is_reference([])
