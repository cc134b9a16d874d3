from __future__ import annotations

import pytest
from tests.judge.replies import pieces, token, tokenized

from measurand.core.exchange import Completion, Token, Way
from measurand.judge import Probe, Ways, probe, ways

GOOD = tokenized("1. yes\n2. no", [{"yes": 0.9, "no": 0.1}, {"no": 0.8, "yes": 0.2}])


def test_the_probe_is_one_cheap_unconstrained_request() -> None:
    request = probe().request
    assert (request.schema, request.logprobs, request.draw) == (None, True, 0)
    assert request.max_tokens is not None
    assert request.max_tokens <= 32
    assert sum(len(message.content) for message in request.messages) < 500
    assert probe().request == request


@pytest.mark.parametrize(
    ("completion", "found"),
    [
        (GOOD, Probe(logprobs=True, numbered=True)),
        (Completion("1. yes\n2. no"), Probe(logprobs=False, numbered=False)),
        (Completion("1. yes\n2. no", tokens=tuple(Token(piece, 0.0) for piece in pieces("1. yes\n2. no"))), Probe(logprobs=False, numbered=False)),
        (tokenized("Yes, the first is true.", [{"Yes": 0.6, "No": 0.4}]), Probe(logprobs=True, numbered=False)),
        (tokenized("1. yes\n2. no", [{"yes": 0.2, "The": 0.8}, {"no": 0.9, "yes": 0.1}]), Probe(logprobs=True, numbered=False)),
        (tokenized("1. yes", [{"yes": 0.6, "no": 0.4}]), Probe(logprobs=True, numbered=False)),
        (Completion("", finish="filtered"), Probe(logprobs=False, numbered=False)),
        (Completion("", tokens=()), Probe(logprobs=False, numbered=False)),
        (Completion("<think>hm", finish="length", tokens=(token("<think>hm", {"<think>hm": 0.5, "x": 0.5}),)), Probe(logprobs=True, numbered=False)),
    ],
)
def test_whatever_the_reply_the_probe_finds_something(completion: Completion, found: Probe) -> None:
    assert probe().read(completion) == found


BOTH, FIRST, NONE = Probe(logprobs=True, numbered=True), Probe(logprobs=True, numbered=False), Probe(logprobs=False, numbered=False)


@pytest.mark.parametrize(
    ("setting", "found", "single", "items"),
    [
        ("auto", None, "sampled", "sampled"),
        ("auto", NONE, "sampled", "sampled"),
        ("auto", FIRST, "logprobs", "sampled"),
        ("auto", BOTH, "logprobs", "logprobs"),
        ("sampled", BOTH, "sampled", "sampled"),
        ("logprobs", None, "logprobs", "sampled"),
        ("logprobs", FIRST, "logprobs", "sampled"),
        ("logprobs", BOTH, "logprobs", "logprobs"),
        ("typed", None, "typed", "typed"),
    ],
)
def test_the_way_follows_from_setting_and_probe(setting: str, found: Probe | None, single: Way, items: Way) -> None:
    assert ways(setting, found) == Ways(single, items)
