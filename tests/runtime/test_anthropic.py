"""Anthropic's messages: what is sent, and what is read."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runtime.asking import QUICK, SCHEMA, ask, asks
from tests.runtime.scripted import Says, ScriptedServer

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import ModelStoppedError, ProviderError
from measurand.core.exchange import Completion, TokenUsage
from measurand.runtime import anthropic
from measurand.runtime.service import Reply


def message(*blocks: Any, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 3}
    return {"type": "message", "model": "claude-x", "content": list(blocks), "stop_reason": "end_turn", "usage": usage, **more}


def read(body: Any, **request: Any) -> Completion:
    return anthropic.completion(Reply(body, 0.5), asks(**request))


def test_a_request_as_it_arrives() -> None:
    with ScriptedServer(Says(message({"type": "text", "text": "yes"}))) as server:
        outcome = ask(f"{server.url}/", asks("x"), provider="anthropic", model="claude-x", api_key_env="K", environ={"K": "planted-key"}, temperature=0.5)
        (sent,) = server.sent
    assert sent.path == "/v1/messages"
    assert (sent.headers["x-api-key"], sent.headers["anthropic-version"]) == ("planted-key", "2023-06-01")
    assert "authorization" not in sent.headers
    expected = {"model": "claude-x", "max_tokens": 4096, "system": "You judge.", "messages": [{"role": "user", "content": "x"}], "temperature": 0.5}
    assert sent.body == expected
    assert outcome.completion.text == "yes"


def test_the_version_can_be_set() -> None:
    with ScriptedServer(Says(message({"type": "text", "text": "yes"}))) as server:
        ask(server.url, provider="anthropic", headers={"Anthropic-Version": "2030-01-01"})
        assert server.sent[0].headers["anthropic-version"] == "2030-01-01"


@pytest.mark.parametrize(("base", "path"), [("https://api.example", "/v1/messages"), ("https://api.example/v1/", "/messages"), (None, "/v1/messages")])
def test_an_address_may_end_in_v1(base: str | None, path: str) -> None:
    assert anthropic.path(ModelSettings(provider="anthropic", model="m", base_url=base)) == path


@pytest.mark.parametrize(("ours", "needed", "sent"), [(None, None, 4096), (200, None, 200), (None, 8, 8), (200, 8, 8), (200, 300, 200)])
def test_a_limit_is_always_sent(ours: int | None, needed: int | None, sent: int) -> None:
    settings = ModelSettings(provider="anthropic", model="m", max_output_tokens=ours)
    assert anthropic.body(asks(max_tokens=needed), settings, {})["max_tokens"] == sent


def test_a_schema_is_asked_for_in_words_unless_the_messages_do_so() -> None:
    settings = ModelSettings(provider="anthropic", model="m", extra_body={"metadata": {"user_id": "u"}})
    body = anthropic.body(asks("x", schema=SCHEMA), settings, {})
    assert body["messages"][0]["content"].startswith('x\n\nReply with JSON only, of this JSON Schema: {"type":"object"')
    assert body["metadata"] == {"user_id": "u"}
    assert anthropic.body(asks("Answer as JSON: …", schema=SCHEMA), settings, {})["messages"][0]["content"] == "Answer as JSON: …"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("refusal", "refused"),
        (None, "stop"),
        ([], "stop"),
        ({}, "stop"),
        (5, "stop"),
    ],
)
def test_how_it_ended(reason: Any, finish: str) -> None:
    assert read(message(stop_reason=reason)).finish == finish


def test_text_blocks_are_joined_and_thoughts_are_left_out() -> None:
    completion = read(message({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ye"}, {"type": "text", "text": "s"}, None))
    assert (completion.text, completion.tokens, completion.model) == ("yes", None, "claude-x")


def test_what_the_cache_read_and_wrote_is_input() -> None:
    assert read(message()).usage == TokenUsage(16, 3, 4, True)
    assert not read(message(usage={"input_tokens": None, "output_tokens": 3})).usage.reported


def test_overload_is_tried_again_and_a_reply_without_content_is_none() -> None:
    overloaded = Says({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529)
    with ScriptedServer(overloaded, Says({"choices": []}), Says(message({"type": "text", "text": "no"}))) as server:
        assert ask(server.url, provider="anthropic").completion.text == "no"
        assert len(server.sent) == 3
    with ScriptedServer(Says({"choices": []})) as server:
        error = ask(server.url, provider="anthropic", max_retries=0).error
    assert isinstance(error, ProviderError)


def test_log_probabilities_are_not_asked_for_and_demanding_them_stops() -> None:
    with ScriptedServer(Says(message({"type": "text", "text": "yes"}))) as server:
        assert ask(server.url, asks(logprobs=True), provider="anthropic", patience=QUICK).completion.tokens is None
        assert "logprobs" not in server.sent[0].body
        error = ask(server.url, asks(logprobs=True), provider="anthropic", p="logprobs").error
        assert len(server.sent) == 1
    assert isinstance(error, ModelStoppedError)
    assert str(error) == '[models.judge] p = "logprobs", but the provider anthropic gives no log-probabilities: write p = "sampled"'
