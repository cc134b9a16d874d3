"""Against a real server with a real model: the protocol, limits and errors. What the model answers is chance and is not looked at."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from tests.servers.local_model import MODEL, VARIABLE, LocalModel, wanted

from measurand.config.runtimes import EmbeddingSettings, ModelSettings
from measurand.core.errors import CellError, ModelStoppedError, ProviderError
from measurand.core.exchange import ChatMessage, Completion, ModelRequest
from measurand.core.request import Ask, YesNo
from measurand.judge.ask import asked
from measurand.judge.exchange import Ways
from measurand.judge.probe import probe
from measurand.judge.row import Row
from measurand.runtime.embedding import Embedded, Embedding, open_embedding
from measurand.runtime.model import Model, open_model
from measurand.runtime.patience import Patience
from measurand.runtime.tokens import by_rates, estimate, estimate_request

pytestmark = [pytest.mark.slow, pytest.mark.local_model]
T = TypeVar("T")

SKY = (ChatMessage("system", "Reply in one word."), ChatMessage("user", "Is the sky blue by day? Answer yes or no."))
FORM = {"type": "object", "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}}, "required": ["answer"], "additionalProperties": False}
CACHE_OFF: dict[str, Any] = {"cache_prompt": False}


def needed() -> None:
    if not wanted():
        pytest.skip(f"no local model; {VARIABLE}=1 installs and requires it")


@pytest.fixture(scope="module")
def server() -> Iterator[LocalModel]:
    needed()
    with LocalModel() as running:
        yield running


def settings(server: LocalModel, **more: Any) -> ModelSettings:
    return ModelSettings(provider="openai", model=MODEL, base_url=server.base_url, **more)


def with_model(made: ModelSettings, use: Callable[[Model], Awaitable[T]], environ: dict[str, str] | None = None) -> T:
    async def run() -> T:
        model = open_model("judge", made, environ=environ or {}, resolve=Path, patience=Patience(first_s=0.05))
        try:
            return await use(model)
        finally:
            await model.close()

    return asyncio.run(run())


def ask(server: LocalModel, request: ModelRequest, **more: Any) -> Completion:
    return with_model(settings(server, **more), lambda model: model.complete(request))


# ---------------------------------------------------------------- chat


def test_a_reply_has_text_usage_and_the_servers_name_for_the_model(server: LocalModel) -> None:
    reply = ask(server, ModelRequest(SKY, max_tokens=8), temperature=0.0)
    assert reply.text.strip()
    assert reply.finish in {"stop", "length"}
    assert reply.model == MODEL
    assert reply.fingerprint
    assert reply.usage.reported
    assert reply.usage.input_tokens > 10
    assert 0 < reply.usage.output_tokens <= 8
    assert reply.tokens is None
    assert reply.latency_s > 0


def test_log_probabilities_have_twenty_alternatives_and_are_the_same_bits_each_time(server: LocalModel) -> None:
    request = ModelRequest(SKY, logprobs=True, max_tokens=1)
    first, second = (ask(server, request, temperature=0.0, extra_body=CACHE_OFF) for _ in range(2))
    assert first.tokens is not None
    assert first.tokens == second.tokens
    (token,) = first.tokens
    assert len(token.top) == 20
    assert all(logprob <= 0 for _, logprob in token.top)
    assert sum(math.exp(logprob) for _, logprob in token.top) <= 1 + 1e-6


def test_a_schema_is_kept(server: LocalModel) -> None:
    reply = ask(server, ModelRequest(SKY, schema=FORM, max_tokens=32))
    assert json.loads(reply.text)["answer"] in {"yes", "no"}


def test_the_probe_and_a_question_over_items_go_through(server: LocalModel) -> None:
    found = probe().read(ask(server, probe().request))
    assert found.logprobs
    row = Row({"output": "Paris is in France. Paris is large."})
    question = Ask("Is `item` a sentence?", YesNo(), ["Paris is in France.", "Paris is large."])
    exchanges = asked(question, row, Ways("sampled", "sampled"), count=estimate)
    (part,) = exchanges.parts
    verdicts = exchanges.combine([part.read(ask(server, part.request))]).value
    assert [sum(one.probabilities.values()) for one in verdicts] == [1.0, 1.0]


def test_more_calls_than_slots_are_all_answered(server: LocalModel) -> None:
    requests = [ModelRequest((*SKY[:1], ChatMessage("user", f"Is {number} even? Answer yes or no.")), max_tokens=2) for number in range(6)]

    async def all_of(model: Model) -> list[Completion]:
        return list(await asyncio.gather(*(model.complete(one) for one in requests)))

    assert all(reply.text for reply in with_model(settings(server, max_concurrency=6), all_of))


@pytest.mark.parametrize(
    "text",
    [
        "The library opens at nine on weekdays and at ten on Saturdays. Readers who have lost their card may ask for a new one at the desk. " * 3,
        '{"name": "get_weather", "arguments": {"city": "Lisbon", "unit": "celsius", "days": 3}, "result": {"temperature": [18.5, 19.0]}} ' * 3,
    ],
)
def test_estimated_tokens_are_near_what_the_server_counts(server: LocalModel, text: str) -> None:
    """For English and JSON. The vocabulary is another than the one the rates were fitted to, and knows little of other languages."""
    request = ModelRequest((SKY[0], ChatMessage("user", text)), max_tokens=1)  # without a system text the server puts in one of its own
    counted = ask(server, request).usage.input_tokens
    print(f"estimated {estimate_request(request)}, by rates {by_rates(text)}, counted {counted}")
    assert estimate_request(request) == pytest.approx(counted, rel=0.15)


# ---------------------------------------------------------------- errors


def test_a_prompt_that_is_too_long_names_both_sizes_and_disturbs_no_other_call(server: LocalModel) -> None:
    async def both(model: Model) -> tuple[CellError, Completion]:
        with pytest.raises(ProviderError) as error:
            await model.complete(ModelRequest((ChatMessage("user", "word " * 1500),), max_tokens=1))
        return error.value, await model.complete(ModelRequest(SKY, max_tokens=1))

    error, reply = with_model(settings(server), both)
    assert re.search(r"request \(15\d\d tokens\) exceeds the available context size \(1024 tokens\)", error.message)
    assert reply.usage.output_tokens == 1


def test_more_choices_than_slots_are_refused_and_the_key_is_named(server: LocalModel) -> None:
    with pytest.raises(ModelStoppedError, match=r"extra_body\.n is refused.*1 <= value <= 2, but got 3"):
        ask(server, ModelRequest(SKY, max_tokens=1), extra_body={"n": 3})


def test_a_chat_server_gives_no_embeddings_and_is_not_asked_again_and_again(server: LocalModel) -> None:
    embedded = embed(server, ["a"])
    (error,) = embedded.vectors
    assert isinstance(error, ProviderError)
    assert "does not support embeddings" in error.message


def test_a_wrong_key_stops_and_the_right_one_does_not() -> None:
    needed()
    with LocalModel(api_keys=("the-right-key-of-the-server",)) as guarded:
        made = settings(guarded, api_key_env="JUDGE_KEY")
        request = ModelRequest(SKY, max_tokens=1)
        with pytest.raises(ModelStoppedError, match="JUDGE_KEY") as refused:
            with_model(made, lambda model: model.complete(request), {"JUDGE_KEY": "a-wrong-key-that-is-secret"})
        assert "a-wrong-key-that-is-secret" not in str(refused.value)
        with pytest.raises(ModelStoppedError, match="api_key_env"):
            ask(guarded, request)
        assert with_model(made, lambda model: model.complete(request), {"JUDGE_KEY": "the-right-key-of-the-server"}).text


def test_a_server_that_is_killed_in_the_middle_is_an_error_and_works_again_when_it_is_back() -> None:
    needed()

    async def killed(model: Model, running: LocalModel) -> list[Completion | BaseException]:
        long = ModelRequest((ChatMessage("user", "Count from 1 to 500, one number in a line."),), max_tokens=600)
        calls = [asyncio.create_task(model.complete(long)) for _ in range(2)]
        await asyncio.sleep(0.5)
        await asyncio.to_thread(running.kill)
        return list(await asyncio.gather(*calls, return_exceptions=True))

    with LocalModel() as running:
        made = settings(running, max_retries=2, extra_body={"ignore_eos": True})  # it writes on for seconds
        ended = with_model(made, lambda model: killed(model, running))
        assert [type(one) for one in ended] == [ProviderError, ProviderError]
        assert all("after 3 requests" in str(one) for one in ended)
        running.start()
        assert ask(running, ModelRequest(SKY, max_tokens=1)).usage.output_tokens == 1


# ---------------------------------------------------------------- embeddings


def embed(server: LocalModel, texts: list[str], **extra_body: Any) -> Embedded:
    async def run() -> Embedded:
        made = EmbeddingSettings(provider="openai", model=MODEL, base_url=server.base_url, extra_body=extra_body, max_retries=0)
        embedding: Embedding = open_embedding("e", made, environ={}, resolve=Path)
        try:
            return await embedding.embed(texts)
        finally:
            await embedding.close()

    return asyncio.run(run())


def test_embeddings_in_both_encodings_and_an_empty_text_among_others() -> None:
    needed()
    with LocalModel(embedding=True) as server:
        texts = ["The cat sleeps.", "A cat is asleep.", "Taxes are due."]
        plain, coded = embed(server, texts), embed(server, texts, encoding_format="base64")
        assert plain.usage.reported
        assert plain.usage.input_tokens > 5
        for one, other in zip(plain.vectors, coded.vectors, strict=True):
            assert not isinstance(one, CellError)
            assert not isinstance(other, CellError)
            assert one.shape == (576,)
            assert np.allclose(one, other, atol=1e-6)
        first, empty, last = embed(server, ["a", "", "b"]).vectors
        assert isinstance(empty, ProviderError)
        assert "empty" in empty.message
        assert not isinstance(first, CellError)
        assert not isinstance(last, CellError)
