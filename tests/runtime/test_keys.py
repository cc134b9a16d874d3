"""Keys are read from the environment, sent in headers, read again when refused, and found in no text."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.asking import ask, asks
from tests.runtime.scripted import Says, ScriptedServer, chat_reply
from tests.servers.mock import MockServer

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import ModelStoppedError, ProviderError, RefusedError
from measurand.core.exchange import Completion
from measurand.runtime.keys import Keys, bearer, missing_keys
from measurand.runtime.model import open_model

KEY = "sk-planted-4f9aQ7/x+Z81kLm\"'0d"


def table(**more: Any) -> ModelSettings:
    return ModelSettings(**{"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", **more})


def keys(environ: Mapping[str, str], **more: Any) -> Keys:
    return Keys(table(**more), section="models.judge", environ=environ, key_header=bearer)


def test_the_variables_that_hold_nothing_are_named_once_each(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from a file\n")
    (tmp_path / "empty").write_text("\n")
    settings = table(api_key_env="A", headers_env={"X-B": "B", "X-C": "C", "X-D": "D", "X-A": "A", "X-E": "E"})
    environ = {"B_FILE": str(tmp_path / "key"), "C_FILE": str(tmp_path / "none"), "D": " ", "E_FILE": str(tmp_path / "empty")}
    assert missing_keys(settings, environ) == ["A", "C", "D", "E"]
    assert missing_keys(settings, dict.fromkeys("ABCDE", "x")) == []
    assert missing_keys(table(), {}) == []


def test_key_and_secret_headers_are_sent_and_a_key_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    with ScriptedServer(Says(chat_reply())) as server:
        environ = {"THE_KEY_FILE": str(tmp_path / "key"), "TEAM": "blue-secret"}
        ask(server.url, environ=environ, api_key_env="THE_KEY", headers_env={"X-Team": "TEAM"}, headers={"X-Plain": "p"})
        (sent,) = server.sent
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert (sent.headers["x-team"], sent.headers["x-plain"]) == ("blue-secret", "p")


def test_an_absent_key_ends_the_first_call_without_a_request_and_opening_needs_none() -> None:
    with MockServer() as mock:
        outcome = ask(mock.base_url, asks(), asks("again"), api_key_env="ABSENT_KEY")
        assert mock.log == []
    for error in outcome.results:
        assert isinstance(error, ModelStoppedError)
        assert str(error) == "the variable ABSENT_KEY of [models.judge] is not set, nor ABSENT_KEY_FILE, or holds nothing"
    assert outcome.model.counters.attempts == 0


@pytest.mark.parametrize("value", ["two\nlines", "ключ", "a\x00b"])
def test_a_key_that_no_header_can_hold_is_said_and_not_quoted(value: str) -> None:
    with MockServer() as mock:
        outcome = ask(mock.base_url, environ={"K": value}, api_key_env="K")
        assert mock.log == []
    assert "the variable K of [models.judge] holds what no HTTP header can" in str(outcome.error)
    assert value not in str(outcome.error)


@pytest.mark.parametrize("settings", [{"api_key": "right"}, {"forbidden": True}])
def test_a_refused_key_is_read_again_once_and_then_nobody_asks_any_more(settings: dict[str, Any]) -> None:
    with MockServer(latency_ms=20, **settings) as mock:
        outcome = ask(mock.base_url, *(asks(str(at)) for at in range(50)), environ={"K": "wrong-key"}, api_key_env="K", max_concurrency=1)
        assert len(mock.log) == 2
    assert all(isinstance(one, ModelStoppedError) for one in outcome.results)
    assert "the key of [models.judge] is refused, also after reading it again: K" in str(outcome.model.stopped)


def test_calls_in_flight_share_the_one_reading() -> None:
    with MockServer(api_key="right", latency_ms=50) as mock:
        outcome = ask(mock.base_url, *(asks(str(at)) for at in range(50)), environ={"K": "wrong-key"}, api_key_env="K", max_concurrency=8)
        assert len(mock.log) <= 16  # 8 in flight, each once again
    assert all(isinstance(one, ModelStoppedError) for one in outcome.results)


def test_without_a_key_there_is_nothing_to_read_again() -> None:
    with MockServer(api_key="right") as mock:
        outcome = ask(mock.base_url)
        assert len(mock.log) == 1
    assert "[models.judge] sends no key: api_key_env names the variable that holds it" in str(outcome.error)


def test_a_key_that_is_renewed_in_its_file_is_found_every_time(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("first-key")

    async def scene(mock: MockServer) -> None:
        settings = ModelSettings(provider="openai", model="m", base_url=mock.base_url, api_key_env="K")
        model = open_model("judge", settings, environ={"K_FILE": str(file)}, resolve=Path)
        try:
            for key in ("first-key", "second-key", "third-key"):
                mock.configure(api_key=key)
                file.write_text(key)
                assert isinstance(await model.complete(asks(key)), Completion)
        finally:
            await model.close()

    with MockServer() as mock:
        asyncio.run(scene(mock))
        assert mock.statuses() == [200, 401, 200, 401, 200]


def test_a_flagged_input_is_no_refused_key() -> None:
    flagged = {"error": {"code": 403, "message": "Input was flagged", "metadata": {"reasons": ["violence"]}}}
    with ScriptedServer(Says(flagged, 403)) as server:
        outcome = ask(server.url, environ={"K": "some-key"}, api_key_env="K")
        assert len(server.sent) == 1
    assert isinstance(outcome.error, RefusedError)


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_key_that_the_server_echoes_is_in_no_error_note_or_traceback(status: int) -> None:
    echoed = {"error": {"message": f"bad header Bearer {KEY} | {KEY[:12]}... | {json.dumps(KEY)} | Basic user:hunter22-secret"}}
    with ScriptedServer(Says(echoed, status)) as server:
        outcome = ask(server.url, environ={"K": KEY, "T": "hunter22-secret"}, api_key_env="K", headers_env={"X-T": "T"}, max_retries=1)
    error = outcome.error
    shown = "\n".join([str(error), repr(error), *traceback.format_exception(error), *outcome.model.notes, repr(outcome.model), str(outcome.model.stopped)])
    assert "bad header" in shown
    for secret in (KEY, json.dumps(KEY)[1:-1], KEY[:12], "hunter22"):
        assert secret not in shown


def test_a_key_that_the_server_echoes_in_a_reply_is_scrubbed() -> None:
    with ScriptedServer(Says(chat_reply(f"your key is {KEY}", model=f"m {KEY}", system_fingerprint=KEY))) as server:
        completion = ask(server.url, environ={"K": KEY}, api_key_env="K").completion
    assert completion.text == "your key is <redacted>"
    assert (completion.model, completion.fingerprint) == ("m <redacted>", "<redacted>")


def test_short_values_are_no_secrets_and_change_no_reply() -> None:
    with ScriptedServer(Says(chat_reply("none of it is true"))) as server:
        assert ask(server.url, environ={"K": "none"}, api_key_env="K").completion.text == "none of it is true"


def test_what_is_quoted_is_cut_after_it_is_hidden() -> None:
    held = keys({"K": KEY}, api_key_env="K")
    text = "x" * 190 + KEY
    assert held.hide(text) == ("x" * 190 + "<redacted>")[:200]
    assert "user:pw" not in held.hide("see https://user:pw@host/x")


def test_the_password_of_a_proxy_is_hidden_too() -> None:
    held = Keys(table(), section="models.judge", environ={}, key_header=bearer, proxy="http://me:proxy-password@proxy.example")
    assert held.hide("407 for proxy-password") == "407 for <redacted>"


def test_no_repr_shows_them() -> None:
    held = keys({"K": KEY, "T": "team-secret"}, api_key_env="K", headers_env={"X-T": "T"})
    assert repr(held) == "Keys(K, T)"


def test_an_error_of_a_call_is_a_provider_error_with_the_servers_words_cut() -> None:
    with ScriptedServer(Says({"error": {"message": "ab " * 400}}, 400)) as server:
        error = ask(server.url).error
    assert isinstance(error, ProviderError)
    assert str(error).count("ab") <= 67
