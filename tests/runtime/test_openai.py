"""Chat completions: what is sent, and what is read out of replies of many servers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.asking import SCHEMA, ask, asks
from tests.runtime.scripted import Says, ScriptedServer, chat_reply
from tests.servers.mock import MockServer

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import ProviderError
from measurand.core.exchange import Completion, Token, TokenUsage
from measurand.runtime import openai
from measurand.runtime.faults import UnavailableError
from measurand.runtime.service import Reply
from measurand.runtime.tokens import estimate, estimate_request


def table(**more: Any) -> ModelSettings:
    return ModelSettings(**{"provider": "openai", "model": "m", **more})


def read(body: Any, **request: Any) -> Completion:
    return openai.completion(Reply(body, 0.5), asks(**request))


def test_nothing_is_sent_that_nobody_set() -> None:
    messages = [{"role": "system", "content": "You judge."}, {"role": "user", "content": "x"}]
    assert openai.body(asks("x"), table(), {}) == {"model": "m", "messages": messages}


def test_what_is_set_is_sent_and_extra_body_wins() -> None:
    settings = table(temperature=0.0, max_output_tokens=500, extra_body={"cache_prompt": False, "top_logprobs": 5})
    assert openai.body(asks("x", schema=SCHEMA, logprobs=True, max_tokens=8), settings, {}) == {
        "model": "m",
        "messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "x"}],
        "temperature": 0.0,
        "max_tokens": 8,
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}},
        "logprobs": True,
        "top_logprobs": 5,
        "cache_prompt": False,
    }


@pytest.mark.parametrize(
    ("ours", "needed", "facts", "sent"),
    [
        (None, None, {}, {}),
        (500, None, {}, {"max_tokens": 500}),
        (None, 8, {}, {"max_tokens": 8}),
        (500, 8, {}, {"max_tokens": 8}),
        (5, 8, {}, {"max_tokens": 5}),
        (500, 8, {"max_tokens": "max_completion_tokens"}, {"max_completion_tokens": 500}),
        (None, 8, {"max_tokens": "max_completion_tokens"}, {"max_completion_tokens": 4104}),
        (None, None, {"max_tokens": "max_completion_tokens"}, {}),
        (None, 8, {"max_tokens": "dropped"}, {}),
    ],
)
def test_the_limit_of_tokens(ours: int | None, needed: int | None, facts: Mapping[str, str], sent: dict[str, int]) -> None:
    body = openai.body(asks(max_tokens=needed), table(max_output_tokens=ours), facts)
    assert {name: value for name, value in body.items() if name.startswith("max_")} == sent


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("yes", "yes"),
        ("", ""),
        (None, ""),
        ([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}], "yes"),
        ([{"type": "image", "url": "x"}, "yes", None, {"text": None}], "yes"),
        ([{"type": "thinking", "text": "no"}, {"type": "reasoning", "text": "no"}, {"type": "text", "text": "yes"}], "yes"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "no"}]}, {"type": "output_text", "text": "yes"}], "yes"),
        ({"answer": "yes"}, ""),
        (7, ""),
    ],
)
def test_the_text_is_a_string_or_joined_parts(content: Any, text: str) -> None:
    assert read(chat_reply(content)).text == text


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        *((one, "stop") for one in ("stop", "eos_token", "tool_calls", "", None, [], ["length"], {"a": 1}, 5, True)),
        *((one, "length") for one in ("length", "LENGTH", "MAX_TOKENS", "max_tokens", "model_length")),
        *((one, "filtered") for one in ("content_filter", "CONTENT_FILTER", "SAFETY", "recitation", "PROHIBITED_CONTENT")),
    ],
)
def test_how_it_ended(reason: Any, finish: str) -> None:
    assert read(chat_reply(choice={"finish_reason": reason})).finish == finish


@pytest.mark.parametrize("choice", [{"finish_reason": "error"}, {"error": {"code": 502, "message": "upstream is gone"}}])
def test_a_reply_that_the_server_broke_off_is_none(choice: dict[str, Any]) -> None:
    with pytest.raises(UnavailableError, match="the model failed while it replied"):
        read(chat_reply("ye", choice=choice))


def test_thoughts_and_calls_beside_the_message_are_not_its_text() -> None:
    assert read(chat_reply("yes", message={"reasoning_content": "no", "reasoning": "no"})).text == "yes"
    assert read(chat_reply(None, message={"reasoning_content": '{"answer": "yes"}'})).text == ""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"answer": "yes"}'}}
    assert read(chat_reply(None, message={"tool_calls": [call]}, choice={"finish_reason": "tool_calls"})).text == ""


def test_a_refusal_is_the_text_and_the_finish() -> None:
    completion = read(chat_reply(None, message={"refusal": "I cannot judge that."}))
    assert (completion.finish, completion.text) == ("refused", "I cannot judge that.")
    with MockServer(faults={"refuse": 1}) as mock:
        assert ask(mock.base_url).completion.finish == "refused"


@pytest.mark.parametrize(
    "body", [{}, [], None, 7, {"choices": []}, {"choices": None}, {"choices": [None]}, {"choices": [{}]}, {"choices": [{"message": None}]}]
)
def test_a_reply_without_a_message_is_none(body: Any) -> None:
    with pytest.raises(UnavailableError, match=r"no choices\[0\].message"):
        read(body)


def test_a_server_of_another_kind_is_a_provider_error() -> None:
    with ScriptedServer(Says({"hello": "world"})) as server:
        error = ask(server.url, max_retries=1).error
        assert len(server.sent) == 2
    assert isinstance(error, ProviderError)
    assert "is base_url that of an OpenAI-compatible server?" in str(error)


def test_served_model_fingerprint_and_latency_are_kept() -> None:
    completion = read(chat_reply(system_fingerprint="fp_1"))
    assert (completion.model, completion.fingerprint, completion.latency_s) == ("served", "fp_1", 0.5)
    assert read(chat_reply(model=7, system_fingerprint=None)).model is None
    with MockServer(latency_ms=80) as mock:
        assert 0.08 <= ask(mock.base_url).completion.latency_s < 0.6


# ---------------------------------------------------------------- log-probabilities


def logprobs(*tokens: Any) -> dict[str, Any]:
    return chat_reply(choice={"logprobs": {"content": list(tokens)}})


def test_tokens_with_their_alternatives() -> None:
    one = {"token": "yes", "logprob": -0.1, "bytes": [1], "top_logprobs": [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -2.5}]}
    assert read(logprobs(one), logprobs=True).tokens == (Token("yes", -0.1, (("yes", -0.1), ("no", -2.5))),)
    assert read(logprobs(one)).tokens is None  # not asked for


def test_odd_log_probabilities_are_impossible_tokens_and_odd_tokens_are_none() -> None:
    tops = [
        {"token": "a", "logprob": None},
        {"token": "b", "logprob": math.nan},
        {"token": "c", "logprob": 3},
        {"token": 7, "logprob": -1},
        None,
        {"token": "d"},
    ]
    tokens = read(
        logprobs({"token": "x", "logprob": 1e-7, "top_logprobs": tops}, {"token": "y", "logprob": True, "top_logprobs": None}, 5, None), logprobs=True
    ).tokens
    assert tokens == (Token("x", 0.0, tuple((name, -math.inf) for name in "abcd")), Token("y", -math.inf, ()))


@pytest.mark.parametrize("odd", [None, 5, "x", True, {"yes": -0.1}, {}, [None, 5, "x"]])
def test_odd_alternatives_are_none(odd: Any) -> None:
    assert read(logprobs({"token": "x", "logprob": -0.5, "bytes": None, "top_logprobs": odd}), logprobs=True).tokens == (Token("x", -0.5, ()),)


@pytest.mark.parametrize("odd", ["-inf", "-0.1", -math.inf, math.nan, -(10**400), 10**400, [], None])
def test_what_is_no_log_probability_is_an_impossible_token(odd: Any) -> None:
    assert read(logprobs({"token": "x", "logprob": odd}), logprobs=True).tokens == (Token("x", -math.inf, ()),)


@pytest.mark.parametrize("odd", [None, {}, [], {"content": None}, {"content": []}, {"content": "x"}, "x"])
def test_no_log_probabilities(odd: Any) -> None:
    assert read(chat_reply(choice={"logprobs": odd}), logprobs=True).tokens is None


# ---------------------------------------------------------------- usage (P10)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 3}, TokenUsage(9, 3, 0, True)),
        ({"prompt_tokens": 9, "completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 1}}, TokenUsage(9, 3, 0, True)),
        ({"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}, TokenUsage(9, 3, 4, True)),
        ({"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": None, "prompt_cache_hit_tokens": 5}, TokenUsage(9, 3, 5, True)),
        ({"prompt_tokens": 9.0, "completion_tokens": 0}, TokenUsage(9, 0, 0, True)),
        ({"prompt_tokens": 9, "completion_tokens": None}, TokenUsage(9, -1, 0, False)),
        ({"prompt_tokens": None, "completion_tokens": 3}, TokenUsage(-1, 3, 0, False)),
        ({"prompt_tokens": "9", "completion_tokens": True}, TokenUsage(-1, -1, 0, False)),
        ({"prompt_tokens": -9, "completion_tokens": 1.5}, TokenUsage(-1, -1, 0, False)),
        ({"prompt_tokens": 10**400, "completion_tokens": 10**15}, TokenUsage(-1, -1, 0, False)),
        ({"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 999}}, TokenUsage(9, 3, 9, True)),
        ({"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": -4}}, TokenUsage(9, 3, 0, True)),
        (None, TokenUsage(-1, -1, 0, False)),
        ("free", TokenUsage(-1, -1, 0, False)),
    ],
)
def test_usage_is_the_servers_and_else_estimated_and_marked(usage: Any, expected: TokenUsage) -> None:
    request = asks(schema=SCHEMA)
    given = expected.input_tokens if expected.input_tokens >= 0 else estimate_request(request)
    received = expected.output_tokens if expected.output_tokens >= 0 else estimate("yes, it is so")
    assert read(chat_reply("yes, it is so", usage=usage), schema=SCHEMA).usage == TokenUsage(given, received, expected.cached_tokens, expected.reported)


@pytest.mark.parametrize("usage", ["absent", "null", "partial", "details"])
def test_no_form_of_usage_breaks_a_call(usage: str) -> None:
    with MockServer(usage=usage) as mock:
        found = ask(mock.base_url).completion.usage
    assert found.input_tokens > 0
    assert found.output_tokens > 0
    assert found.reported == (usage == "details")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
)


TOKEN = st.dictionaries(st.sampled_from(["token", "logprob", "top_logprobs"]), JSON | st.just("x") | st.just(-1))


@given(
    message=st.dictionaries(st.sampled_from(["content", "refusal", "role"]), JSON),
    logprobs=JSON | st.fixed_dictionaries({"content": st.lists(TOKEN | JSON, max_size=3)}),
    usage=JSON,
    reason=JSON,
)
def test_whatever_stands_around_a_message_there_is_a_completion(message: dict[str, Any], logprobs: Any, usage: Any, reason: Any) -> None:
    reply = {"choices": [{"message": message, "logprobs": logprobs, "finish_reason": reason}], "usage": usage}
    completion = read(reply, logprobs=True)
    assert completion.usage.input_tokens > 0
