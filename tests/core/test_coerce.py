from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.coerce import COERCERS, Invalid, answers, fits, is_missing, references, typed_fields
from measurand.core.errors import InvalidFieldError, NotJsonError
from measurand.core.fields import FIELDS
from measurand.core.record import Context, Message, ToolCall, Usage

EMPTY_SAYS_SOMETHING = {
    "output": "",
    "contexts": [],
    "tool_calls": [],
    "messages": [],
    "expected_tool_calls": [],
    "reference_contexts": [],
    "forbidden_tools": [],
}
EMPTY_SAYS_NOTHING: dict[str, Any] = {"expected": [], "input": "", "topics": [], "tools": [], "id": "", "task": "", "trial": "", "status": ""}


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_null_is_missing_and_space_is_not(name: str) -> None:
    assert is_missing(FIELDS[name], None)
    assert not is_missing(FIELDS[name], " ")
    assert not is_missing(FIELDS[name], 0)
    assert not is_missing(FIELDS[name], False)


@pytest.mark.parametrize(("name", "value"), EMPTY_SAYS_SOMETHING.items())
def test_empty_is_an_observation(name: str, value: Any) -> None:
    assert not is_missing(FIELDS[name], value)


@pytest.mark.parametrize(("name", "value"), [*EMPTY_SAYS_NOTHING.items(), ("expected", "")])
def test_empty_is_missing(name: str, value: Any) -> None:
    assert is_missing(FIELDS[name], value)


def test_an_empty_object_is_an_answer() -> None:
    assert not is_missing(FIELDS["expected"], {})


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), ("", ""), (" N/A ", " N/A "), (7, "7"), (1.0, "1.0"), (True, "true"), (False, "false")],
)
def test_text_of_scalars(value: Any, text: str) -> None:
    assert COERCERS["str"](value, "output") == text


@pytest.mark.parametrize("value", [{"a": 1}, ["a"], [], Invalid("output is broken")])
def test_an_output_that_is_no_text_is_invalid(value: Any) -> None:
    with pytest.raises(InvalidFieldError) as told:
        COERCERS["str"](value, "output")
    assert told.value.field == "output"


@pytest.mark.parametrize("annotation", sorted(COERCERS))
def test_the_marker_says_why_in_every_type(annotation: str) -> None:
    with pytest.raises(InvalidFieldError, match=r"^contexts is a number$"):
        COERCERS[annotation](Invalid("contexts is a number"), "contexts")


def test_an_input_of_messages_or_parts_is_its_text() -> None:
    to_text = COERCERS["str"]
    assert to_text([{"role": "system", "content": "be kind"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]}], "input") == "be kind\nhi"
    assert to_text([{"type": "text", "text": "hi"}, {"type": "image_url"}], "input") == "hi"
    assert to_text({"messages": [{"role": "user", "content": "hi"}]}, "input") == "hi"
    with pytest.raises(InvalidFieldError, match="input is an object; it must be a text, messages or content parts"):
        to_text({"q": "hi"}, "input")


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a", ["a"]),
        (["a", "b"], ["a", "b"]),
        (["a", 7, True], ["a", "7", "true"]),
        ({"any_of": ["a", "b"]}, ["a", "b"]),
        (7, ["7"]),
        ("[1, 2]", ["[1, 2]"]),
    ],
)
def test_accepted_answers(value: Any, texts: list[str]) -> None:
    assert references(value) == texts
    assert COERCERS["list[str]"](value, "expected") == texts


@pytest.mark.parametrize("value", [{"a": 1}, [{"a": 1}], [["a"]], {"any_of": [{"a": 1}]}, [None], {"any_of": []}, {"any_of": ["a"], "b": 1}])
def test_answers_that_are_no_texts_are_invalid(value: Any) -> None:
    with pytest.raises(InvalidFieldError):
        references(value)


def test_a_list_of_one_is_that_one() -> None:
    assert COERCERS["str"](["a"], "expected") == "a"
    with pytest.raises(InvalidFieldError):
        COERCERS["str"](["a", "b"], "expected")


def test_json_answers() -> None:
    assert answers({"a": 1}) == [{"a": 1}]
    assert answers('{"a": 1}') == [{"a": 1}]
    assert answers({"any_of": [{"a": 1}, '{"a": 2}']}) == [{"a": 1}, {"a": 2}]
    assert answers('{"any_of": [1, 2]}') == [1, 2]
    assert answers([1, 2]) == [[1, 2]]
    with pytest.raises(InvalidFieldError, match="expected is no JSON"):
        answers("Paris")


def test_json_of_an_output() -> None:
    to_json = COERCERS["Json"]
    assert to_json('```json\n{"a": 1}\n```', "output") == {"a": 1}
    assert to_json({"a": 1}, "output") == {"a": 1}
    with pytest.raises(NotJsonError):
        to_json("Paris", "output")
    with pytest.raises(InvalidFieldError) as told:
        to_json("Paris", "expected")
    assert not isinstance(told.value, NotJsonError)
    assert to_json(Usage(latency_s=1.5), "usage") == {"latency_s": 1.5}


def test_texts_of_typed_values() -> None:
    to_texts = COERCERS["list[str]"]
    assert to_texts([Context("a"), Context("b", "d2")], "contexts") == ["a", "b"]
    assert to_texts([ToolCall("f"), ToolCall("g")], "tool_calls") == ["f", "g"]
    assert to_texts("x", "topics") == ["x"]
    assert to_texts([], "contexts") == []
    with pytest.raises(InvalidFieldError, match=r"contexts\[1\] has the id 'd2' and no text; this metric takes texts"):
        to_texts([Context("a"), Context(id="d2")], "contexts")


@pytest.mark.parametrize(
    ("annotation", "value", "field", "read"),
    [
        ("int", "3", "trial", 3),
        ("float", 3, "reward", 3.0),
        ("bool", "True", "metadata.flag", True),
        ("list[float]", "[1, 2.5]", "metadata.scores", [1.0, 2.5]),
        ("list[Json]", '[{"a": 1}]', "output", [{"a": 1}]),
        ("list[Context]", ["a"], "contexts", [Context("a")]),
        ("list[Message]", "hi", "input", [Message("user", "hi")]),
        ("dict[str, Json]", '{"a": 1}', "metadata", {"a": 1}),
    ],
)
def test_by_annotation(annotation: str, value: Any, field: str, read: Any) -> None:
    assert COERCERS[annotation](value, field) == read


def test_typed_lists_pass_through_uncopied() -> None:
    passages = [Context("a")]
    assert COERCERS["list[Context]"](passages, "contexts") is passages


@pytest.mark.parametrize(
    ("field", "value", "fitting"),
    [
        ("input", "q", True),
        ("input", 7, True),
        ("input", [{"role": "user", "content": "q"}], True),
        ("input", {"id": 1, "version": 2}, False),
        ("input", [3], False),
        ("output", {"a": 1}, True),
        ("expected", {"a": 1}, True),
        ("contexts", ["a"], True),
        ("contexts", [1], False),
        ("trial", "first", False),
        ("messages", "hello", False),
        ("tool_calls", ["search"], True),
    ],
)
def test_whether_a_value_is_of_the_fields_type(field: str, value: Any, fitting: bool) -> None:
    assert fits(field, value) is fitting


def test_typed_fields() -> None:
    row = {"input": "", "output": "", "expected": None, "contexts": [1], "messages": [{"role": "user", "content": "q"}], "house": 3}
    found = typed_fields(row)
    assert found == {
        "output": "",
        "contexts": Invalid("contexts[0] is a number; a passage is a text or {id, text, score}"),
        "messages": [Message("user", "q")],
        "house": 3,
        "tool_calls": [],
        "input": "q",
    }


@given(st.text())
def test_text_is_never_touched(text: str) -> None:
    assert COERCERS["str"](text, "output") is text
    assert references(text) == [text]


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        ("bool", 1, "metadata.x is a number; it must be true or false"),
        ("list[Json]", {"a": 1}, "metadata.x is an object; it must be a list"),
        ("list[float]", [1, "high"], "metadata.x[1] is the text 'high'; it must be a number"),
        ("list[str]", 3, "metadata.x is a number; it must be a list of texts"),
        ("dict[str, Json]", [1], "metadata.x is a list; it must be an object"),
    ],
)
def test_what_an_annotation_does_not_take(annotation: str, value: Any, message: str) -> None:
    with pytest.raises(InvalidFieldError) as told:
        COERCERS[annotation](value, "metadata.x")
    assert (told.value.message, told.value.field) == (message, "metadata.x")
