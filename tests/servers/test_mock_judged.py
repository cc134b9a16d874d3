"""The mock server understands what our judge asks: every request form is answered in the form that it asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.servers.mock import MockServer

from measurand.config.runtimes import ModelSettings
from measurand.core.exchange import Completion, ModelRequest
from measurand.core.request import Ask, Choice, Option, Prefer, Request, Scale, Split, Verdict, Write, YesNo
from measurand.judge.ask import asked
from measurand.judge.exchange import Reply, Unreadable, Ways
from measurand.judge.probe import probe
from measurand.judge.row import Row
from measurand.judge.together import together
from measurand.runtime.model import open_model
from measurand.runtime.tokens import estimate

ROW = Row(
    {
        "input": "Where is the Eiffel Tower? 1. Paris 2. Rome",
        "output": "It is in Paris.\n1. It is tall.\n2. It is iron.\n3. It is old.",
        "contexts": ["The Eiffel Tower stands in Paris.", "It was built in 1889.", "Rome is in Italy."],
        "expected": "Paris",
    }
)
SCALE = Scale(("not at all", "a little", "mostly", "wholly"))
CHOICE = Choice({"polite": Option("friendly", 1.0), "rude": Option("unfriendly", 0.0), "na": Option("cannot be told", None)})
LOGPROBS, SAMPLED = Ways("logprobs", "logprobs"), Ways("sampled", "sampled")


def complete(mock: MockServer, requests: Sequence[ModelRequest]) -> list[Completion]:
    async def run() -> list[Completion]:
        model = open_model("judge", ModelSettings(provider="openai", model="mock", base_url=mock.base_url), environ={}, resolve=Path)
        try:
            return [await model.complete(one) for one in requests]
        finally:
            await model.close()

    return asyncio.run(run())


def reply(mock: MockServer, request: Request[Any], ways: Ways) -> Reply:
    exchanges = asked(request, ROW, ways, count=estimate)
    completions = complete(mock, [part.request for part in exchanges.parts])
    return exchanges.combine([part.read(one) for part, one in zip(exchanges.parts, completions, strict=True)])


ALONE: list[Request[Any]] = [
    *(Ask("Is `output` so?", form) for form in (YesNo(), SCALE, CHOICE)),
    *(Ask("Is `item` so, given `contexts`?", form, ["a", "b"]) for form in (YesNo(), SCALE, CHOICE)),
    Split("The tower is tall. It is made of iron."),
    Write("Write questions that `output` answers.", 3),
]


@pytest.mark.parametrize("refused", [("json_schema",), ("json_schema", "json_object")], ids=["json_object", "words"])
def test_without_schemas_the_words_tell_the_form(refused: tuple[str, ...]) -> None:
    with MockServer(refuses=refused) as mock:
        for request in ALONE:
            assert reply(mock, request, SAMPLED).value
        exchange = together(ALONE, ROW)
        readings = exchange.read(*complete(mock, [exchange.request]))
    assert not [one for one in readings if isinstance(one, Unreadable)]


@pytest.mark.parametrize("ways", [LOGPROBS, SAMPLED], ids=["logprobs", "sampled"])
@pytest.mark.parametrize("form", [YesNo(), SCALE, CHOICE], ids=["yes_no", "scale", "choice"])
@pytest.mark.parametrize("over", [None, ["It is tall.", "It is iron.", "It is old."]], ids=["one", "items"])
def test_closed_questions_get_a_distribution_each(ways: Ways, form: Any, over: list[str] | None) -> None:
    with MockServer() as mock:
        value = reply(mock, Ask("Is `item` so, given `contexts`?" if over else "Is `output` so, given `contexts`?", form, over), ways).value
    verdicts = value if over else [value]
    assert len(verdicts) == (3 if over else 1)
    for verdict in verdicts:
        assert isinstance(verdict, Verdict)
        top = max(verdict.probabilities, key=lambda option: verdict.probabilities[option])
        assert top == {"YesNo": "yes", "Scale": "2", "Choice": "rude"}[type(form).__name__]  # yes, and the second last of levels and options
        assert (verdict.probabilities[top] == 1) == (ways is SAMPLED)


def test_the_probability_of_yes_is_the_one_that_is_set() -> None:
    with MockServer(p_yes=0.7, answer_mass=0.9) as mock:
        value = reply(mock, Ask("Is `output` right?"), LOGPROBS).value
        assert value.value == pytest.approx(0.7)
        items = reply(mock, Ask("Is `item` right?", YesNo(), ["a b", "c d"]), LOGPROBS).value
        assert [one.value for one in items] == pytest.approx([0.7, 0.7])


def test_passages_of_the_contexts_are_counted_not_the_lists_in_other_fields() -> None:
    with MockServer() as mock:
        for ways in (LOGPROBS, SAMPLED):
            assert len(reply(mock, Ask("Is `item` needed to answer `input`? See `contexts` and `output`.", YesNo(), ["a", "b"]), ways).value) == 2


def test_splits_writes_and_preferences() -> None:
    with MockServer() as mock:
        assert 1 <= len(reply(mock, Split("The tower is tall. The tower is iron. Nobody lives there at all."), SAMPLED).value) <= 4
        assert len(reply(mock, Write("Write questions that `output` answers.", 3), SAMPLED).value) == 3
        assert isinstance(reply(mock, Prefer("Paris.", "Rome.", "Which answers `input`?"), LOGPROBS).value, Verdict)


def test_questions_asked_together_are_answered_one_by_one() -> None:
    requests = [
        Ask("Is `output` right?"),
        Ask("How good is `output`?", SCALE),
        Ask("Is `item` so?", YesNo(), ["a", "b"]),
        Split("The tower is tall. It is made of iron."),
    ]
    with MockServer() as mock:
        exchange = together(requests, ROW, draw=0)
        readings = exchange.read(*complete(mock, [exchange.request]))
    assert len(readings) == 4


def test_the_probe_finds_what_the_server_can() -> None:
    exchange = probe()
    with MockServer() as mock:
        found = exchange.read(*complete(mock, [exchange.request]))
        assert (found.logprobs, found.numbered) == (True, True)
        mock.configure(refuses=["logprobs"])
        found = exchange.read(*complete(mock, [exchange.request]))
        assert (found.logprobs, found.numbered) == (False, False)
