"""For any verdicts and any dress: what is rendered is read back; and whatever a reply is, a reader gives an allowed answer or says why not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judge.replies import tokenized

from measurand.core.errors import RefusedError
from measurand.core.exchange import FINISHES, Completion, Token
from measurand.core.request import Ask, Choice, Form, Option, Prefer, Request, Scale, Split, Verdict, Write, YesNo
from measurand.judge import Row, Unreadable, Ways, asked, probe, read_choice, read_json, read_scale, read_yes_no, together

ROW = Row({"input": "Where?", "output": "In Graz.", "contexts": ["Graz is in Styria."]})
FORMS: tuple[Form, ...] = (
    YesNo(),
    Scale(("bad", "fair", "good")),
    Scale(tuple(f"level {level}" for level in range(10))),
    Scale(tuple(f"level {level}" for level in range(11))),
    Choice({"fully supported": Option("", 1.0), "not supported": Option("", 0.0), "not applicable": Option("", None)}),
    Choice({"A": Option("first", 1.0), "B": Option("second", 0.0)}),
)


def fenced(text: str) -> str:
    return f"Here is my verdict:\n\n```json\n{text}\n```\n\nLet me know if you need more."


WRAPPERS: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: f"\n  {text}\n\n",
    fenced,
    lambda text: f"`````JSON\n{text}\n`````",
    lambda text: f"Sure! Here it is:\n{text}",
    lambda text: f'<think>\nIs it {{"answer": "no"}} or {{"answers": []}}? 1. no\n</think>\n\n{text}',
    lambda text: f'thinking of {{"answer": "0"}}\n</think>\n{text}',
    lambda text: text.replace('"', "'"),
    lambda text: text.replace("}", ",}").replace("]", ",]"),
    lambda text: text.replace("{", "{ // my verdict\n", 1),
    lambda text: text.replace(":", " :\n "),
)

forms = st.sampled_from(FORMS)
wrappers = st.sampled_from(WRAPPERS)


def parts_of(request: Request[Any], ways: Ways) -> Any:
    return asked(request, ROW, ways, count=len)


@given(forms, wrappers, st.data())
def test_a_structured_answer_is_read_back(form: Form, wrap: Callable[[str], str], data: st.DataObject) -> None:
    option = data.draw(st.sampled_from(form.options))
    found = parts_of(Ask("Is `output` fine?", form), Ways("sampled", "sampled"))
    reading = found.parts[0].read(Completion(wrap(json.dumps({"answer": option}))))
    assert found.combine([reading]).value.probabilities == {one: float(one == option) for one in form.options}


@given(forms, wrappers, st.data())
def test_a_structured_list_is_read_back(form: Form, wrap: Callable[[str], str], data: st.DataObject) -> None:
    options = data.draw(st.lists(st.sampled_from(form.options), min_size=1, max_size=12))
    found = parts_of(Ask("Is `item` fine?", form, over=[str(at) for at in range(len(options))]), Ways("sampled", "sampled"))
    reading = found.parts[0].read(Completion(wrap(json.dumps({"answers": options}))))
    assert [max(one.probabilities, key=lambda name: one.probabilities[name]) for one in found.combine([reading]).value] == options


WORD_WRAPPERS: tuple[str, ...] = ("{}", " {}.", "**{}**", "\n{}\n", "`{}`", "## {}", "Answer: {}", "<think>hm</think>{}", "The data was checked.\n\n{}")


@given(forms, st.sampled_from(WORD_WRAPPERS), st.data())
def test_a_word_is_read_back_with_its_probabilities(form: Form, dress: str, data: st.DataObject) -> None:
    from measurand.judge.forms import labels_of, way_of

    if way_of(form, "logprobs") != "logprobs":
        return
    labels = labels_of(form, "logprobs")
    label = data.draw(st.sampled_from(list(labels)))
    others = {one: 0.4 / (len(labels) - 1) for one in labels if one != label}
    completion = tokenized(dress.format(label), [{label: 0.6, **others}], at=label)
    found = parts_of(Ask("Is `output` fine?", form), Ways("logprobs", "logprobs"))
    probabilities = found.combine([found.parts[0].read(completion)]).value.probabilities
    assert probabilities[labels[label]] == pytest.approx(0.6)
    assert sum(probabilities.values()) == pytest.approx(1)


@given(forms, st.sampled_from(["{}. {}", "{}) {}.", "**{}.** {}", "- {}: **{}**"]), st.data())
def test_numbered_lines_are_read_back(form: Form, line: str, data: st.DataObject) -> None:
    from measurand.judge.forms import labels_of, way_of

    if way_of(form, "logprobs") != "logprobs":
        return
    labels = labels_of(form, "logprobs")
    chosen = data.draw(st.lists(st.sampled_from(list(labels)), min_size=1, max_size=15))
    text = "\n".join(line.format(number, label) for number, label in enumerate(chosen, 1))
    found = parts_of(Ask("Is `item` fine?", form, over=[str(at) for at in range(len(chosen))]), Ways("logprobs", "logprobs"))
    verdicts: Sequence[Verdict] = found.combine([found.parts[0].read(tokenized(text))]).value
    assert [verdict.probabilities[labels[label]] for verdict, label in zip(verdicts, chosen, strict=True)] == pytest.approx([1.0] * len(chosen))


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(lambda text: bool(text.strip()))


@given(st.lists(texts, max_size=6))
def test_claims_are_read_back(claims: list[str]) -> None:
    found = parts_of(Split("In Graz."), Ways("sampled", "sampled"))
    for ascii_only in (True, False):
        reading = found.parts[0].read(Completion(json.dumps({"claims": claims}, ensure_ascii=ascii_only)))
        assert found.combine([reading]).value == [claim.strip() for claim in claims]


@given(st.lists(st.booleans(), min_size=1, max_size=5), st.booleans(), wrappers)
def test_answers_given_together_are_read_back(verdicts: list[bool], single: bool, wrap: Callable[[str], str]) -> None:
    requests: list[Request[Any]] = [Ask("Is `item` fine?", over=[str(at) for at in range(len(verdicts))]), Ask("Is `output` fine?")]
    found = together(requests, ROW).read(Completion(wrap(json.dumps({"q1": verdicts, "q2": single}))))
    assert [one.value for one in found[0]] == [float(one) for one in verdicts]
    assert found[1] == Verdict.yes(float(single))


# ---------------------------------------------------------------- hostile replies

SHREDS = st.sampled_from(
    [
        *(
            '{"answer": ',
            '"yes"',
            '"no"',
            "}",
            "{",
            "[",
            "]",
            '{"answers": [true]}',
            '{"answer": "yes"}',
            "{'answer': 'no'}",
            "<think>",
            "</think>",
            "```",
            "```json\n",
        ),
        *(
            "yes",
            "No.",
            "1. yes\n",
            "2. no\n",
            "Answer: ",
            "[[A]]",
            "7",
            "-1",
            "NaN",
            "1e999",
            "\\ud800",
            "\\",
            '"',
            "'",
            ",",
            ":",
            "//",
            "/*",
            "*/",
            "#",
            "\n",
            " ",
            "10",
        ),
        *('"claims": [', '"texts"', '{"q1": true, "q2": [true', "é", "是", "\x00", "\u2028", "because", "0", "A", "not applicable"),
    ]
)
replies = st.one_of(st.lists(SHREDS, max_size=14).map("".join), st.text(max_size=60))
REQUESTS: list[Request[Any]] = [
    *(Ask("Is `output` fine?", form) for form in FORMS),
    *(Ask("Is `item` fine?", form, over=["a", "b"]) for form in FORMS),
    Split("In Graz."),
    Write("A question", 2),
    Prefer("a", "b", ""),
]


def is_allowed(reading: Any) -> bool:
    if isinstance(reading, Unreadable):
        return True
    if isinstance(reading, Verdict):  # its own check has passed: a distribution over the options of its form
        return True
    return isinstance(reading, list) and all(isinstance(one, (str, Verdict)) for one in reading)


@settings(max_examples=300)
@given(replies, st.sampled_from(FINISHES), st.booleans())
def test_readers_raise_nothing_but_unreadable_and_refused(text: str, finish: Any, with_tokens: bool) -> None:
    completion = tokenized(text, finish=finish) if with_tokens else Completion(text, finish=finish)
    for request in REQUESTS:
        for ways in (Ways("sampled", "sampled"), Ways("logprobs", "logprobs")):
            for part in parts_of(request, ways).parts:
                try:
                    reading = part.read(completion)
                except (Unreadable, RefusedError):
                    continue
                assert is_allowed(reading.value)
    try:
        assert all(is_allowed(one) for one in together(REQUESTS, ROW).read(completion))
    except (Unreadable, RefusedError):
        pass
    assert isinstance(probe().read(completion).logprobs, bool)


@given(replies, replies)
def test_readers_of_text_never_leave_their_form(text: str, data: str) -> None:
    for read, allowed in (
        (lambda: read_yes_no(text, data=data), {"yes", "no"}),
        (lambda: read_scale(text, 11, data=data), set(range(11))),
        (lambda: read_choice(text, ["A", "B", "not applicable"], data=data), {"A", "B", "not applicable"}),
    ):
        try:
            assert read() in allowed
        except Unreadable:
            pass
    try:
        assert isinstance(read_json(text, "answer", data=data), dict)
    except Unreadable:
        pass


tops = st.lists(st.tuples(st.sampled_from(["yes", " no", "No", "The", "1", "", "\n"]), st.floats()), max_size=6).map(tuple)


@given(st.lists(st.builds(Token, st.sampled_from(["yes", " no", "1", ".", "\n", "2", "", "The", "<think>"]), st.floats(), tops), max_size=10))
def test_any_tokens_are_read_or_refused(tokens: list[Token]) -> None:
    completion = Completion("".join(token.text for token in tokens), tokens=tuple(tokens))
    for over in (None, ["a", "b"]):
        found = parts_of(Ask("Is `item` fine?", over=over), Ways("logprobs", "logprobs"))
        try:
            value = found.combine([found.parts[0].read(completion)]).value
        except Unreadable:
            continue
        assert all(0.0 <= verdict.value <= 1.0 for verdict in ([value] if over is None else value))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        *("{" * 50_000, "[" * 50_000, '{"a":' * 20_000, '{"a":{' * 20_000, "{'a" * 20_000, '{"answer": "' * 10_000, "/*" * 50_000, "{/*" * 20_000),
        *("{//" * 20_000, "{ " + " " * 100_000, '{"answer": ' + "9" * 100_000 + "}", "yes " * 50_000, "1. " * 50_000, "Answer: " * 20_000, "[[A]]" * 20_000),
        *(
            "<think>" * 20_000,
            "</think>" * 20_000,
            "*" * 100_000,
            "```\n" * 30_000,
            "\n" * 100_000 + "yes\n" * 2,
            "'" * 50_000,
            "{'" + "'a" * 30_000,
            "yes\n" * 30_000,
        ),
    ],
)
def test_no_reply_takes_long(text: str) -> None:
    import time

    began = time.process_time()
    for read in (lambda: read_yes_no(text, data=text[:2000]), lambda: read_scale(text, 11), lambda: read_json(text, "answer", data=text[:2000])):
        try:
            read()
        except Unreadable:
            pass
    completion = Completion(text, tokens=(Token(text, 0.0, ()),))
    for over in (None, ["a", "b"]):
        try:
            parts_of(Ask("Is `item` fine?", over=over), Ways("logprobs", "logprobs")).parts[0].read(completion)
        except Unreadable:
            pass
    assert time.process_time() - began < 3.0
