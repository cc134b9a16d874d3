"""What an answer that is no success says, and what it means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.asking import ask, asks
from tests.servers.mock import MockServer

from measurand.core.errors import ModelStoppedError, ProviderError, RefusedError
from measurand.core.exchange import Completion
from measurand.runtime.faults import DeclinedError, ThrottledError, UnavailableError
from measurand.runtime.http import Answer
from measurand.runtime.verdict import refusal, said_in


def judged(status: int, body: Any, sent: bytes = b"{}") -> Exception:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusal(Answer(status, {}, content), said_in(content), url="http://h/x", section="models.judge", sent=sent, hide=lambda text: text[:200])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "bad key", "code": "x"}}, "bad key"),
        ({"error": "model not found"}, "model not found"),
        ({"message": "plain"}, "plain"),
        ({"detail": "Not Found"}, "Not Found"),
        ([{"error": {"code": 400, "message": "from a list", "status": "INVALID_ARGUMENT"}}], "from a list"),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "theirs"}}, "theirs"),
        (b"upstream\n  connect\terror", "upstream connect error"),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ([], "[]"),
        (7, "7"),
    ],
)
def test_the_words_of_every_usual_form(body: Any, message: str) -> None:
    assert said_in(body if isinstance(body, bytes) else json.dumps(body).encode()).message == message


def test_the_parameter_is_found_in_both_forms() -> None:
    assert said_in(b'{"error": {"message": "m", "param": "response_format.type", "code": "c"}}').parameter == "response_format.type"
    said = said_in(b'{"detail": [{"loc": ["body", "top_logprobs"], "msg": "not permitted", "input": 5}]}')
    assert (said.parameter, said.message) == ("top_logprobs", "top_logprobs: not permitted")


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["error", "detail", "code", "message", "loc", "param", "innererror"]), inner, max_size=4)
        ),
    ).map(lambda body: json.dumps(body).encode()),
    st.sampled_from([200, 302, 400, 403, 422, 429, 500]),
)
def test_no_body_crashes(content: bytes, status: int) -> None:
    assert isinstance(refusal(Answer(status, {}, content), said_in(content), url="u", section="s", sent=b"", hide=str), Exception)


def test_deep_nesting_is_a_text() -> None:
    assert said_in(b"[" * 100_000).message.startswith("[[[")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {}, ThrottledError),
        (429, {"error": {"code": "insufficient_quota"}}, ModelStoppedError),
        (402, {}, ModelStoppedError),
        (500, {}, UnavailableError),
        (529, {}, UnavailableError),
        (408, {}, UnavailableError),
        (400, {}, DeclinedError),
        (422, {}, DeclinedError),
        (501, {}, DeclinedError),
        (404, {}, DeclinedError),
        (307, {}, DeclinedError),
        (400, {"error": {"code": "content_filter"}}, RefusedError),
        (400, {"error": {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, RefusedError),
        (200, {"error": {"code": 429, "message": "slow down"}}, ThrottledError),
        (424, {}, UnavailableError),
        (498, {}, UnavailableError),
        (200, {"error": {"message": "no status"}}, UnavailableError),
        (200, {"error": "boom"}, UnavailableError),
        (200, {"error": {"message": "slow down", "code": "429"}}, ThrottledError),
        (200, {"error": {"message": "slow down", "status": 429}}, ThrottledError),
        (200, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, ThrottledError),
        (200, {"error": {"message": "bad", "type": "invalid_request_error"}}, DeclinedError),
        (200, {"error": {"message": "bad", "code": 400}}, DeclinedError),
        (200, {"error": {"message": "the prompt is too long"}}, DeclinedError),
        (422, {"detail": [{"loc": 5, "msg": "odd"}]}, DeclinedError),
    ],
)
def test_what_a_status_means(status: int, body: Any, kind: type[Exception]) -> None:
    assert type(judged(status, body)) is kind


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens",
        "request (900 tokens) exceeds the available context size (512 tokens)",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Input is too long for requested model.",
        "the request exceeds the context window",
    ],
)
def test_a_text_that_is_too_long_is_its_own_rows_error(words: str) -> None:
    error = judged(400, {"error": {"message": words}})
    assert isinstance(error, DeclinedError)
    assert error.per_row
    other = judged(400, {"error": {"message": "max_tokens is too large: 5000"}})
    assert isinstance(other, DeclinedError)
    assert not other.per_row


def test_a_content_filter_is_one_request_and_a_refusal() -> None:  # P13
    with MockServer(content_filter="secret plans") as mock:
        outcome = ask(mock.base_url, asks("secret plans"), asks("fine: yes or no?"))
        assert sorted(mock.statuses(), key=str) == [200, 400]
    refused, answered = outcome.results
    assert isinstance(refused, RefusedError)
    assert "a content filter would not let it pass" in str(refused)
    assert isinstance(answered, Completion)


def test_a_path_or_model_that_is_not_there_stops_at_once_and_names_the_address() -> None:
    with MockServer(not_found=True, latency_ms=20) as mock:
        outcome = ask(mock.base_url, *(asks(str(at)) for at in range(20)), max_concurrency=2)
        assert len(mock.log) <= 3
    assert all(isinstance(one, ModelStoppedError) for one in outcome.results)
    assert "/v1/chat/completions" in str(outcome.model.stopped)
    assert "it knows no such path or model; base_url and model decide where calls go" in str(outcome.model.stopped)


def test_a_404_after_a_success_is_one_calls_error() -> None:
    with MockServer(answers=({"match": "gone", "status": 404, "reply": {"error": {"message": "no route"}}},)) as mock:
        outcome = ask(mock.base_url, asks("first: yes or no?"), asks("gone"), asks("third: yes or no?"), one_by_one=True)
    assert [type(one) for one in outcome.results] == [Completion, DeclinedError, Completion]
    assert isinstance(outcome.results[1], ProviderError)


def test_a_redirect_stops_and_nothing_is_sent_on() -> None:
    with MockServer() as elsewhere, MockServer(redirect_to=f"{elsewhere.base_url}/chat/completions") as mock:
        outcome = ask(mock.base_url, asks("a"), asks("b"), one_by_one=True)
        assert (len(mock.log), elsewhere.log) == (1, [])
    assert all(isinstance(one, ModelStoppedError) for one in outcome.results)
    assert "redirects are not followed: write the address it leads to into [models.judge] base_url" in str(outcome.model.stopped)
