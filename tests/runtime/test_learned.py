"""What a model refuses is learned once, from its own words; what the config set is never dropped."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runtime.asking import SCHEMA, ask, asks
from tests.runtime.scripted import Says, ScriptedServer, chat_reply
from tests.servers.mock import MockServer

from measurand.core.errors import ModelStoppedError, ProviderError
from measurand.core.exchange import Completion


@pytest.mark.parametrize("style", ["openai", "message"])
def test_max_tokens_becomes_max_completion_tokens_once_per_model(style: str) -> None:  # P01
    with MockServer(refuses=("max_tokens",), refusal_style=style) as mock:
        outcome = ask(mock.base_url, asks("a yes or no"), asks("b yes or no"), one_by_one=True, max_output_tokens=300)
        assert mock.statuses() == [400, 200, 200]
        assert [one.get("max_completion_tokens") for one in mock.bodies()] == [None, 300, 300]
        assert all("max_tokens" not in one for one in mock.bodies()[1:])
    assert all(isinstance(one, Completion) for one in outcome.results)
    assert outcome.model.learned == {"max_tokens": "max_completion_tokens"}
    assert outcome.model.notes == ["[models.judge] m refuses max_tokens: sent as max_completion_tokens from now on"]
    assert (outcome.model.counters.adapted, outcome.model.counters.retries) == (1, 0)


def test_what_an_answer_needs_gets_room_to_think_where_thinking_counts() -> None:
    with MockServer(refuses=("max_tokens",)) as mock:
        ask(mock.base_url, asks(max_tokens=8))
        assert [one.get("max_completion_tokens") for one in mock.bodies()] == [None, 8 + 4096]


def test_what_was_learned_before_is_not_refused_again() -> None:
    facts = {"max_tokens": "max_completion_tokens", "response_format": "json_object"}
    with MockServer(refuses=("max_tokens", "json_schema")) as mock:
        outcome = ask(mock.base_url, asks(schema=SCHEMA, max_tokens=8), before=lambda model: model.learn(facts))
        assert mock.statuses() == [200]
        assert mock.bodies()[0]["response_format"] == {"type": "json_object"}
    assert outcome.model.learned == facts


def test_calls_that_meet_the_same_refusal_at_once_learn_it_once_and_are_sent_twice_each() -> None:
    with MockServer(refuses=("max_tokens",), latency_ms=30) as mock:
        outcome = ask(mock.base_url, *(asks(f"{at} yes or no", max_tokens=8) for at in range(10)), max_concurrency=10)
        assert sorted(mock.statuses(), key=str) == [200] * 10 + [400] * 10
    assert all(isinstance(one, Completion) for one in outcome.results)
    assert outcome.model.learned == {"max_tokens": "max_completion_tokens"}
    assert len(outcome.model.notes) == 1


def test_a_temperature_that_nobody_set_is_not_sent() -> None:  # P02
    with MockServer(refuses=("temperature",)) as mock:
        ask(mock.base_url)
        assert "temperature" not in mock.bodies()[0]
        assert mock.statuses() == [200]


def test_a_temperature_that_the_config_set_and_the_model_refuses_stops_and_names_both() -> None:  # P02
    with MockServer(refuses=("temperature",), latency_ms=20) as mock:
        outcome = ask(mock.base_url, *(asks(str(at)) for at in range(20)), temperature=0.0, max_concurrency=2)
        assert len(mock.log) <= 4
    for error in outcome.results:
        assert isinstance(error, ModelStoppedError)
        assert str(error).startswith("[models.judge] temperature = 0.0 is refused: ")
        assert "Only the default (1) value is supported." in str(error)


def test_extra_body_that_is_refused_stops_and_names_the_key() -> None:
    with MockServer(refuses=("seed",)) as mock:
        outcome = ask(mock.base_url, extra_body={"seed": 7})
        assert len(mock.log) == 1
    assert "[models.judge] extra_body.seed is refused" in str(outcome.error)


@pytest.mark.parametrize("style", ["openai", "message", "detail"])
def test_a_schema_degrades_to_json_object_and_then_to_words(style: str) -> None:  # P06
    with MockServer(refuses=("json_schema",), refusal_style=style) as mock:
        outcome = ask(mock.base_url, asks(schema=SCHEMA), asks("b: yes or no?", schema=SCHEMA), one_by_one=True)
        assert [status == 200 for status in mock.statuses()] == [False, True, True]
    assert all(isinstance(one, Completion) for one in outcome.results)
    assert outcome.model.learned == {"response_format": "json_object"}
    with MockServer(refuses=("json_schema", "json_object"), refusal_style=style) as mock:
        outcome = ask(mock.base_url, asks(schema=SCHEMA))
        assert [one.get("response_format", {}).get("type") for one in mock.bodies()] == ["json_schema", "json_object", None]
        assert "Reply with JSON only, of this JSON Schema: {" in mock.bodies()[-1]["messages"][-1]["content"]
    assert outcome.model.learned == {"response_format": "none"}
    assert outcome.completion.text


def test_a_schema_is_not_spelled_out_where_the_messages_ask_for_json_themselves() -> None:
    with MockServer(refuses=("json_schema",)) as mock:
        ask(mock.base_url, asks('Answer as JSON: {"answer": "…"}', schema=SCHEMA))
        assert mock.bodies()[-1]["messages"][-1]["content"] == 'Answer as JSON: {"answer": "…"}'


def test_a_schema_that_is_too_strict_for_the_server_is_sent_without_strict() -> None:
    refusal = {"error": {"message": "Invalid schema for response_format 'answer': 'minItems' is not permitted.", "param": "response_format", "code": None}}
    with ScriptedServer(Says(refusal, 400), Says(chat_reply('{"answer": "yes"}'))) as server:
        outcome = ask(server.url, asks(schema=SCHEMA))
        first, second = (sent.body["response_format"]["json_schema"] for sent in server.sent)
    assert (first["strict"], second) == (True, {"name": "answer", "schema": SCHEMA})
    assert outcome.model.learned == {"response_format": "json_schema_lax"}


def test_llama_cpp_python_fails_on_json_schema_and_takes_the_schema_beside_json_object() -> None:
    message = "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}]"
    with ScriptedServer(Says({"error": {"message": message, "type": "internal_server_error", "param": None, "code": None}}, 500), Says(chat_reply())) as server:
        outcome = ask(server.url, asks(schema=SCHEMA))
        assert server.sent[1].body["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert outcome.completion.text == "yes"
    assert outcome.model.learned == {"response_format": "json_object_schema"}
    assert outcome.model.counters.retries == 0


@pytest.mark.parametrize("refused", ["logprobs", "top_logprobs"])
def test_logprobs_are_left_out_where_the_server_may_be_asked_without(refused: str) -> None:
    with MockServer(refuses=(refused,)) as mock:
        outcome = ask(mock.base_url, asks(logprobs=True))
        assert len(mock.log) == 2
        assert not {"logprobs", "top_logprobs"} & mock.bodies()[-1].keys()
    assert outcome.completion.tokens is None
    assert outcome.model.learned == {"logprobs": "dropped"}


def test_logprobs_that_the_config_demands_stop_the_model() -> None:
    with MockServer(refuses=("logprobs",)) as mock:
        outcome = ask(mock.base_url, asks(logprobs=True), p="logprobs")
        assert len(mock.log) == 1
    assert isinstance(outcome.error, ModelStoppedError)
    assert "[models.judge] p = 'logprobs' (sent as logprobs) is refused" in str(outcome.error)


@pytest.mark.parametrize(
    "words", ["top_logprobs must be less than or equal to 5", "Invalid 'top_logprobs': at most 5", "top_logprobs: value 20 > maximum of 5"]
)
def test_fewer_alternatives_are_asked_for_where_a_server_gives_fewer(words: str) -> None:
    with ScriptedServer(Says({"error": {"message": words, "param": "top_logprobs"}}, 400), Says(chat_reply())) as server:
        outcome = ask(server.url, asks(logprobs=True), p="logprobs")
        assert server.sent[1].body["top_logprobs"] == 5
    assert outcome.completion.text == "yes"
    assert outcome.model.learned == {"top_logprobs": "5"}


def test_several_refusals_are_learned_in_one_call() -> None:
    with MockServer(refuses=("max_tokens", "json_schema", "logprobs")) as mock:
        outcome = ask(mock.base_url, asks(schema=SCHEMA, logprobs=True, max_tokens=8))
        assert len(mock.log) == 4
    assert outcome.completion.text
    assert outcome.model.learned == {"max_tokens": "max_completion_tokens", "response_format": "json_object", "logprobs": "dropped"}


def test_a_limit_that_is_refused_under_both_names_is_left_out_unless_the_config_set_it() -> None:
    with MockServer(refuses=("max_tokens", "max_completion_tokens")) as mock:
        outcome = ask(mock.base_url, asks(max_tokens=8))
        assert outcome.completion.text
        assert outcome.model.learned == {"max_tokens": "dropped"}
        outcome = ask(mock.base_url, max_output_tokens=100)
    assert "[models.judge] max_output_tokens = 100 (sent as max_completion_tokens) is refused" in str(outcome.error)


def test_a_prompt_that_is_too_long_is_this_calls_error_and_nothing_is_learned() -> None:
    with MockServer(context_size=50) as mock:
        outcome = ask(mock.base_url, *(asks("word " * (200 + at), max_tokens=8) for at in range(4)), asks("short: yes or no?"))
        assert len(mock.log) == 5
    *errors, last = outcome.results
    assert all(isinstance(one, ProviderError) and "exceeds the available context size" in str(one) for one in errors)
    assert isinstance(last, Completion)
    assert outcome.model.learned == {}


def test_a_refusal_about_nothing_that_was_sent_changes_nothing() -> None:
    refusal: dict[str, Any] = {"error": {"message": "tools are not supported", "param": "tools"}}
    with ScriptedServer(Says(refusal, 400)) as server:
        outcome = ask(server.url, asks(schema=SCHEMA))
        assert len(server.sent) == 1
    assert isinstance(outcome.error, ProviderError)
    assert outcome.model.learned == {}


def test_three_calls_with_the_same_refusal_and_no_success_stop_the_model() -> None:
    with MockServer(declines="") as mock:
        outcome = ask(mock.base_url, *(asks(str(at)) for at in range(10)), one_by_one=True)
        assert len(mock.log) == 3
    assert [type(one) for one in outcome.results[2:]] == [ModelStoppedError] * 8
    assert "3 calls got the same answer and none another" in str(outcome.model.stopped)


def test_quick_refusals_do_not_stop_a_model_that_is_about_to_answer_others() -> None:
    with MockServer(declines="odd", faults={"slow": 1}, fault_where="slow", slow_s=0.2) as mock:
        outcome = ask(mock.base_url, *(asks(f"slow {at}: yes or no?") for at in range(2)), *(asks("odd") for _ in range(5)), max_concurrency=8)
    assert outcome.model.stopped is None
    assert sum(isinstance(one, Completion) for one in outcome.results) == 2


def test_many_refusals_at_once_stop_the_model() -> None:
    with MockServer(declines="", latency_ms=10) as mock:
        outcome = ask(mock.base_url, *(asks(str(at)) for at in range(100)), max_concurrency=8)
        assert 3 <= len(mock.log) <= 24
    assert all(isinstance(one, (ProviderError, ModelStoppedError)) for one in outcome.results)
    assert outcome.model.stopped is not None


def test_after_a_success_the_same_refusals_stay_errors_of_their_calls() -> None:
    with MockServer(declines="odd") as mock:
        outcome = ask(mock.base_url, asks("good: yes or no"), *(asks("odd") for _ in range(6)), asks("good: yes or no?"), one_by_one=True)
        assert len(mock.log) == 8
    assert isinstance(outcome.results[-1], Completion)
    assert outcome.model.stopped is None
