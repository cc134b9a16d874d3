"""What is posted where, and what is taken as an answer."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import socket
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from tests.runtime.scripted import Says, ScriptedServer
from tests.servers.mock import MockServer

from measurand.runtime import http
from measurand.runtime.faults import HungError, UnavailableError, UnreachableError, UntrustedError
from measurand.runtime.http import Answer, Sender, encoded

BODY: Mapping[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "yes or no?"}]}


def post(address: str, body: Mapping[str, Any] | bytes = BODY, *, path: str = "/chat/completions", headers: Any = (), **more: Any) -> Answer:
    async def run() -> Answer:
        sender = Sender(address, **{"timeout_s": 20.0, **more})
        try:
            return await sender.post(path, body, headers=headers)
        finally:
            await sender.close()

    return asyncio.run(run())


@pytest.mark.parametrize("slashes", ["", "/", "//"])
def test_a_base_url_may_end_in_slashes(slashes: str) -> None:  # P08
    with MockServer() as mock:
        assert post(mock.base_url + slashes).status == 200
        assert mock.log[0]["path"] == "/v1/chat/completions"


def test_headers_and_query_go_with_every_request_and_the_shown_address_has_no_secrets() -> None:
    with ScriptedServer(Says({})) as server:
        query = {"api-version": "2024 10", "sig": "planted"}
        post(f"{server.url}/a", headers=[("x-late", "2")], query=query, timeout_s=1.0)
        (sent,) = server.sent
    assert sent.path == "/a/chat/completions?api-version=2024+10&sig=planted"
    assert sent.headers["x-late"] == "2"
    assert sent.headers["content-type"] == "application/json"
    shown = Sender(server.url, query=query).url("/x")
    assert "planted" not in shown
    assert "api-version=2024+10" in shown


def test_the_body_is_compact_utf8_and_half_characters_become_question_marks() -> None:
    assert encoded({"a": "é日", "b": [1, 2]}) == '{"a":"é日","b":[1,2]}'.encode()
    assert encoded({"a": "x\ud800y"}) == b'{"a":"x?y"}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        encoded({"a": math.nan})


def test_any_status_is_an_answer_and_header_names_have_no_case() -> None:
    with MockServer(faults={"429": 1}, retry_after="7") as mock:
        answer = post(mock.base_url)
        assert (answer.status, answer.headers["Retry-After"], answer.headers["retry-after"]) == (429, "7", "7")


def test_nothing_is_sent_on_after_a_redirect() -> None:
    with MockServer() as elsewhere, MockServer(redirect_to=f"{elsewhere.base_url}/chat/completions") as mock:
        assert post(mock.base_url).status == 307
        assert elsewhere.log == []


def test_connections_are_kept_and_shared_by_four_pools() -> None:
    async def scene(address: str) -> None:
        sender = Sender(address, connections=8)
        for _ in range(3):
            await asyncio.gather(*(sender.post("/chat/completions", BODY) for _ in range(8)))
        await sender.close()

    with MockServer(latency_ms=20) as mock:
        asyncio.run(scene(mock.base_url))
        assert mock.stats()["most_in_flight"] == 8
        assert len(mock.log) == 24
        assert len(mock._connections) <= 8


def test_a_compressed_answer_is_read_and_a_bomb_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 1_000_000)
    packed = {"Content-Encoding": "gzip"}
    with ScriptedServer(Says(gzip.compress(b'{"a": 1}'), headers=packed), Says(gzip.compress(b" " * 3_000_000), headers=packed)) as server:
        assert json.loads(post(server.url).content) == {"a": 1}
        with pytest.raises(UnavailableError, match="sent more than 1 MB"):
            post(server.url)


def test_what_cannot_be_decompressed_is_no_answer() -> None:
    with ScriptedServer(Says(b"no gzip", headers={"Content-Encoding": "gzip"})) as server, pytest.raises(UnavailableError, match="cannot be decompressed"):
        post(server.url)


def test_a_hung_request_ends_after_its_time() -> None:
    with MockServer(faults={"hang": 1}) as mock, pytest.raises(HungError, match=r"gave no whole answer within 0\.2 s"):
        post(mock.base_url, timeout_s=0.2)


@pytest.mark.parametrize("fault", ["disconnect", "cut"])
def test_a_connection_that_breaks_is_no_answer(fault: str) -> None:
    with MockServer(faults={fault: 1}) as mock, pytest.raises(UnreachableError, match="no answer from http://127"):
        post(mock.base_url)


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(UnreachableError, match="no answer from"):
            post(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")


def test_a_header_that_is_none_stops_and_is_not_quoted() -> None:
    with MockServer() as mock:
        with pytest.raises(UntrustedError, match="a header holds what headers cannot") as error:
            post(mock.base_url, headers=[("authorization", "planted\nsecret")])
        assert "planted" not in str(error.value)
        assert post(mock.base_url).status == 200
        assert len(mock.log) == 1


def test_no_connection_in_time() -> None:
    async def scene() -> None:
        def unroutable(request: httpx2.Request) -> httpx2.Response:
            raise httpx2.ConnectTimeout("", request=request)  # no server on the loopback can be unreachable

        await Sender("https://gateway.example", transport=httpx2.MockTransport(unroutable)).post("/x", BODY)

    with pytest.raises(UnreachableError, match=r"no connection to https://gateway\.example/x within 10 s"):
        asyncio.run(scene())
