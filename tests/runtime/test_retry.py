"""One owner of retries: what is tried again, how often, after how long, and who waits with it."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.runtime.asking import QUICK, ask, asks
from tests.runtime.scripted import Says, ScriptedServer, chat_reply
from tests.servers.mock import Answer, MockServer

from measurand.core.errors import CellTimeoutError, ModelStoppedError, ProviderError, RateLimitedError
from measurand.core.exchange import Completion
from measurand.runtime.patience import Patience


def test_a_call_that_is_refused_for_ever_is_sent_once_and_once_for_each_retry() -> None:  # P05
    with MockServer(faults={"429": 1}, retry_after=None) as mock:
        outcome = ask(mock.base_url, max_retries=3)
        assert mock.statuses() == [429] * 4
    assert isinstance(outcome.error, RateLimitedError)
    assert 'answered 429: "Rate limit reached"; given up after 4 requests' in str(outcome.error)
    counters = outcome.model.counters
    assert (counters.attempts, counters.retries, counters.rate_limited) == (4, 3, 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "least", "most"),
    [("1", 1.0, 1.6), ("date:2", 1.0, 2.6), ("soon", 0.0, 0.5), ("-5", 0.0, 0.5), ("100000", 0.3, 0.8)],
)
def test_the_wait_that_a_server_asks_for_is_obeyed_and_garbage_and_absurd_waits_are_not(said: str, least: float, most: float) -> None:  # P03
    patience = Patience(first_s=0.05, longest_told_s=0.3) if said == "100000" else Patience(first_s=0.05)
    with MockServer(faults={"429": 1}, fault_first=1, retry_after=said) as mock:
        outcome = ask(mock.base_url, patience=patience)
        first, second = mock.log
        assert least <= second["t0"] - first["t0"] <= most
    assert outcome.completion.text
    if said == "100000":
        assert "it asked to wait 100000 s, which is cut to 0.3 s" in outcome.model.notes[0]


def test_a_wait_beyond_the_deadline_is_cut_so_that_one_more_try_fits_and_the_message_says_so() -> None:
    with MockServer(faults={"429": 1}, retry_after="100") as mock:
        began = time.monotonic()
        outcome = ask(mock.base_url, deadline_seconds=0.4, max_retries=1)
        assert time.monotonic() - began < 1.0
        assert len(mock.log) == 2
    assert isinstance(outcome.error, RateLimitedError)
    assert "it asked to wait 100 s, which deadline_seconds cuts" in str(outcome.error)


def test_when_one_call_is_told_to_wait_the_others_wait_too() -> None:
    with MockServer(faults={"429": 1}, fault_first=1, retry_after="1", latency_ms=30) as mock:
        outcome = ask(mock.base_url, *(asks(f"row {at}: yes or no?") for at in range(6)), max_concurrency=2)
        refused, *others = mock.log
        late = [one["t0"] - refused["t0"] for one in others]
        assert refused["status"] == 429
        assert len([one for one in late if one < 0.9]) <= 2  # what was in flight, and what entered while the 429 was on its way back
        assert len([one for one in late if one >= 1.0]) >= 4
    assert all(isinstance(one, Completion) for one in outcome.results)


def test_one_in_ten_refused_costs_as_many_requests_more() -> None:
    with MockServer(faults={"429": 0.1}, retry_after=None) as mock:
        outcome = ask(mock.base_url, *(asks(f"row {at}: yes or no?") for at in range(100)))
        assert all(isinstance(one, Completion) for one in outcome.results)
        refused = mock.statuses().count(429)
        assert refused > 0
        assert len(mock.log) == 100 + refused


@pytest.mark.parametrize("fault", ["500", "503", "disconnect", "cut", "html"])
def test_what_may_pass_is_tried_again(fault: str) -> None:
    with MockServer(faults={fault: 1}, fault_first=2) as mock:
        outcome = ask(mock.base_url)
        assert len(mock.log) == 3
    assert outcome.completion.finish == "stop"
    assert outcome.model.counters.faults == 2


@pytest.mark.parametrize(("fault", "words"), [("500", "answered 500"), ("disconnect", "no answer from"), ("html", 'what is no JSON: "<html>')])
def test_what_does_not_pass_is_a_provider_error_that_says_what_it_was(fault: str, words: str) -> None:
    with MockServer(faults={fault: 1}) as mock:
        outcome = ask(mock.base_url, max_retries=1)
        assert len(mock.log) == 2
    assert isinstance(outcome.error, ProviderError)
    assert words in str(outcome.error)
    assert "given up after 2 requests" in str(outcome.error)


@pytest.mark.parametrize("status", [408, 409, 424, 425, 498, 520, 529])
def test_statuses_that_ask_for_another_try(status: int) -> None:
    with ScriptedServer(Says({"error": {"message": "later"}}, status), Says(chat_reply())) as server:
        assert ask(server.url).completion.text == "yes"


def test_an_error_inside_a_200_is_what_it_says_it_is() -> None:
    with ScriptedServer(Says({"error": {"code": 502, "message": "upstream is gone"}}), Says(chat_reply())) as server:
        outcome = ask(server.url)
        assert outcome.completion.text == "yes"
        assert outcome.model.counters.faults == 1


@pytest.mark.parametrize("beside", [{"choices": []}, {"choices": None}, {}])
def test_an_error_beside_no_choices_is_one_too(beside: dict[str, Any]) -> None:
    with ScriptedServer(Says({"error": {"code": 429, "message": "slow down"}, **beside}), Says(chat_reply())) as server:
        outcome = ask(server.url)
    assert (outcome.completion.text, outcome.model.counters.rate_limited) == ("yes", 1)


@pytest.mark.parametrize("nothing", [None, {}, "", False])
def test_an_error_that_is_none_spoils_no_reply(nothing: Any) -> None:
    with ScriptedServer(Says({**chat_reply(), "error": nothing})) as server:
        assert ask(server.url).completion.text == "yes"


def test_a_hung_call_costs_one_timeout_and_one_more_try_and_the_rest_goes_on() -> None:  # P16
    with MockServer(faults={"hang": 1}, fault_where="row 3") as mock:
        began = time.monotonic()
        outcome = ask(mock.base_url, *(asks(f"row {at}: yes or no?") for at in range(4)), timeout_seconds=0.3, max_retries=5)
        assert time.monotonic() - began < 1.5
        assert len(mock.log) == 5
    *answered, hung = outcome.results
    assert all(isinstance(one, Completion) for one in answered)
    assert isinstance(hung, CellTimeoutError)
    assert "gave no whole answer within 0.3 s; given up after 2 requests" in str(hung)


def test_a_call_that_hung_once_is_answered_by_its_second_try() -> None:
    with MockServer(faults={"hang": 1}, fault_first=1) as mock:
        outcome = ask(mock.base_url, timeout_seconds=0.2)
    assert outcome.completion.text
    assert outcome.completion.latency_s < 0.2
    assert outcome.model.counters.timeouts == 1


def test_the_deadline_bounds_a_call_with_all_its_retries() -> None:
    with MockServer(faults={"500": 1}, latency_ms=50) as mock:
        began = time.monotonic()
        outcome = ask(mock.base_url, deadline_seconds=0.4, max_retries=1000, patience=Patience(first_s=0.01, longest_s=0.02))
        assert time.monotonic() - began < 1.0
        assert 2 <= len(mock.log) < 100
    assert isinstance(outcome.error, (ProviderError, CellTimeoutError))


def test_the_deadline_does_not_count_the_wait_for_a_place() -> None:
    with MockServer(latency_ms=60) as mock:
        outcome = ask(mock.base_url, *(asks(f"{at} yes or no") for at in range(8)), max_concurrency=1, deadline_seconds=0.3)
    assert all(isinstance(one, Completion) for one in outcome.results)


def test_a_server_that_nobody_reaches_is_given_up_before_every_row_has_waited_for_it() -> None:
    with MockServer() as mock:
        gone = mock.base_url
    outcome = ask(gone, *(asks(str(at)) for at in range(60)), max_retries=1, max_concurrency=4)
    errors = [type(one) for one in outcome.results]
    assert errors.count(ProviderError) == 19
    assert errors.count(ModelStoppedError) == 41
    assert "cannot be reached: 20 calls in a row failed" in str(outcome.model.stopped)
    assert outcome.model.counters.attempts < 60


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_hard_limit_reached"])
def test_an_account_without_money_is_not_asked_again(code: str) -> None:
    answer = Answer("", {"error": {"message": "You exceeded your current quota.", "type": code, "code": code}}, status=429, headers={"Retry-After": "20"})
    with MockServer(answers=(answer,), latency_ms=20) as mock:
        outcome = ask(mock.base_url, *(asks(str(at)) for at in range(20)), max_concurrency=2)
        assert len(mock.log) <= 3
    assert all(isinstance(one, ModelStoppedError) for one in outcome.results)
    assert "nothing left to spend" in str(outcome.model.stopped)


def test_places_are_given_back_whatever_happens() -> None:
    with MockServer(faults={"429": 0.2, "500": 0.2, "disconnect": 0.1}, retry_after=None) as mock:
        outcome = ask(mock.base_url, *(asks(str(at)) for at in range(60)), max_concurrency=4, max_retries=2, patience=QUICK)
        assert mock.stats()["most_in_flight"] <= 4
    limiter = outcome.model._asked.line.limiter
    assert limiter.in_flight == 0
