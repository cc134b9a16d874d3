"""Typed questions as the wire format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.runtime.asking import ask, asks
from tests.runtime.scripted import Says, ScriptedServer

from measurand.core.errors import InvalidResponseError, ProviderError
from measurand.core.exchange import TokenUsage

TYPED: Mapping[str, Any] = {
    "state": {"output": "Paris"},
    "questions": {"q1": {"type": "noul", "question": "Is it a city?"}, "q2": {"type": "score", "question": "How good?", "levels": ["bad", "good"]}},
}


def answered(q1: Any, q2: Any = None, **more: Any) -> dict[str, Any]:
    return {"answers": {"q1": {"probabilities": q1}, "q2": {"probabilities": q2 or {"0": 0.25, "1": 0.75}}}, "model": "one", **more}


def asked(reply: Any, **more: Any) -> Any:
    with ScriptedServer(Says(reply)) as server:
        return ask(server.url, asks(typed=TYPED), provider="systemone", max_retries=1, **more).results[0]


def test_state_and_questions_go_out_and_probabilities_come_back() -> None:
    reply = answered({"yes": 0.9, "no": 0.1}, usage={"input_tokens": 20, "output_tokens": 2})
    with ScriptedServer(Says(reply)) as server:
        completion = ask(f"{server.url}/typed/", asks(typed=TYPED), provider="systemone", extra_body={"tier": "x"}).completion
        (sent,) = server.sent
    assert sent.path == "/typed/evaluate"
    assert sent.body == {"model": "m", **TYPED, "tier": "x"}
    assert completion.typed == {"q1": {"yes": 0.9, "no": 0.1}, "q2": {"0": 0.25, "1": 0.75}}
    assert (completion.model, completion.usage) == ("one", TokenUsage(20, 2))


def test_usage_is_estimated_where_it_is_not_reported() -> None:
    assert not asked(answered({"yes": 1, "no": 0})).usage.reported


@pytest.mark.parametrize(
    "odd", [{}, None, [], "yes", {"yes": "0.9"}, {"yes": True}, {"yes": -0.1}, {"yes": 1.1}, {"yes": None}, {"yes": float("nan")}, {"yes": 10**400}]
)
def test_a_question_without_probabilities_is_an_invalid_response(odd: Any) -> None:
    error = asked(answered(odd))
    assert isinstance(error, InvalidResponseError)
    assert "'q1'" in str(error)


def test_a_question_that_is_not_answered_is_an_invalid_response() -> None:
    assert isinstance(asked({"answers": {"q2": {"probabilities": {"0": 1.0}}}}), InvalidResponseError)


def test_a_server_of_another_kind_is_a_provider_error() -> None:
    error = asked({"choices": []})
    assert isinstance(error, ProviderError)
    assert 'the reply has no "answers"' in str(error)


def test_it_writes_no_texts() -> None:
    with ScriptedServer(Says({})) as server:
        error = ask(server.url, asks(), provider="systemone").error
        assert server.sent == []
    assert isinstance(error, ProviderError)
    assert "bind another judge to metrics that list claims or write texts" in str(error)
