"""The mock server does what its settings say, seen through an HTTP client of the standard library."""

from __future__ import annotations

import base64
import http.client
import json
import math
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.servers.mock import MockServer
from tests.servers.mock_replies import spoiled

Reply = tuple[int, dict[str, str], Any]
LIST = "Claims:\n1. Paris is in France.\n2. Rome is in Spain.\n3. It rains.\n\nIs each claim supported? Answer with one line for each claim:\n1. yes\n2. no"


def post(mock: MockServer, path: str, body: dict[str, Any], key: str = "", timeout: float = 5) -> Reply:
    connection = http.client.HTTPConnection(mock.host, timeout=timeout)
    try:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        connection.request("POST", f"/v1/{path}", json.dumps(body), headers)
        response = connection.getresponse()
        raw = response.read()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, json.loads(raw) if raw.startswith((b"{", b"[")) else raw
    finally:
        connection.close()


def chat(mock: MockServer, text: str, **more: Any) -> Reply:
    return post(mock, "chat/completions", {"model": "m", "messages": [{"role": "user", "content": text}], **more})


def content(reply: Reply) -> str:
    return str(reply[2]["choices"][0]["message"]["content"])


def test_a_numbered_list_gets_a_line_for_each_item_with_logprobs_on_each_verdict() -> None:
    with MockServer(p_yes=0.75, answer_mass=0.9) as mock:
        reply = chat(mock, LIST, logprobs=True, top_logprobs=20)
    assert content(reply) == "1. yes\n2. yes\n3. yes"
    tokens = reply[2]["choices"][0]["logprobs"]["content"]
    assert "".join(one["token"] for one in tokens) == content(reply)
    verdicts = [one for one in tokens if one["token"].strip() == "yes"]
    assert len(verdicts) == 3
    for one in verdicts:
        mass = {alt["token"]: math.exp(alt["logprob"]) for alt in one["top_logprobs"]}
        yes, no = mass[" yes"] + mass[" Yes"], mass[" no"] + mass[" NO"]
        assert yes + no == pytest.approx(0.9)
        assert yes / (yes + no) == pytest.approx(0.75)


def test_a_schema_is_satisfied_with_as_many_verdicts_as_it_prescribes() -> None:
    schema = {"type": "object", "properties": {"answers": {"type": "array", "items": {"enum": ["yes", "no"]}, "minItems": 3, "maxItems": 3}}}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    with MockServer(verdict="no") as mock:
        assert json.loads(content(chat(mock, LIST, response_format=form))) == {"answers": ["no", "no", "no"]}
        mock.configure(ignore_schema=True)
        assert content(chat(mock, LIST, response_format=form)) == "Sure! I would give it a 7."
        mock.configure(ignore_schema=False, wrap="fence")
        assert content(chat(mock, LIST, response_format=form)).startswith("```json\n{")


def test_levels_are_answered_with_a_distribution_over_them() -> None:
    with MockServer(score=2) as mock:
        reply = chat(mock, "Rate it.\n0: bad\n1: middling\n2: good\nReply with the number alone.", logprobs=True, top_logprobs=5)
    assert content(reply) == "2"
    assert {one["token"] for one in reply[2]["choices"][0]["logprobs"]["content"][0]["top_logprobs"]} == {"0", "1", "2", "The"}


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("truncate", lambda text, finish: text == "y" and finish == "length"),
        ("malformed", lambda text, finish: "unexpected" in text),
        ("prose", lambda text, finish: "broadly" in text),
        ("badjson", lambda text, finish: text == "{yes"),
        ("nan", lambda text, finish: text == "NaN"),
        ("empty", lambda text, finish: text == ""),
        ("refuse", lambda text, finish: text == "None"),
    ],
)
def test_faults_in_the_text(fault: str, seen: Any) -> None:
    with MockServer(faults={fault: 1.0}) as mock:
        reply = chat(mock, "Is it so? Answer yes or no.")
        assert mock.stats()["faults"] == {fault: 1}
    assert seen(content(reply), reply[2]["choices"][0]["finish_reason"])


@pytest.mark.parametrize(
    ("content", "fault", "spoilt"),
    [
        ("yes", "range", "99"),
        ("1. yes\n2. no", "range", "1. 99\n2. no"),
        ("1. yes\n2. no", "nan", "1. NaN\n2. no"),
        ("1. yes\n2. no", "count", "1. yes"),
        ('{"answers": ["0", "2"]}', "range", '{"answers": ["99", "2"]}'),
        ('{"answers": [true, false]}', "range", '{"answers": [99, false]}'),
        ('{"answers": [true, false]}', "nan", '{"answers": [NaN, false]}'),
        ('{"answers": [true, false]}', "count", '{"answers": [true]}'),
        ('{"answer": false}', "range", '{"answer": 99}'),
        ('{"answer": "2"}', "range", '{"answer": "99"}'),
        ('{"answer": 2}', "range", '{"answer": 99}'),
        ('{"answer": "B"}', "nan", '{"answer": NaN}'),
    ],
)
def test_a_fault_spoils_every_form_of_reply(content: str, fault: str, spoilt: str) -> None:
    assert spoiled(content, fault) == spoilt


def test_faults_of_the_server_first_n_and_once_a_body() -> None:
    with MockServer(faults={"429": 1.0}, fault_first=2, retry_after="soon") as mock:
        replies = [chat(mock, "one") for _ in range(3)]
        assert [one[0] for one in replies] == [429, 429, 200]
        assert replies[0][1]["retry-after"] == "soon"
        mock.reset()
        mock.configure(faults={"503": 1.0}, fault_first=0, fault_once=True)
        assert [chat(mock, text)[0] for text in ("a", "a", "b", "b")] == [503, 200, 503, 200]
        mock.configure(fault_on="embeddings", fault_once=False)
        assert chat(mock, "c")[0] == 200


@pytest.mark.parametrize("fault", ["disconnect", "cut"])
def test_a_connection_ends_instead_of_an_answer(fault: str) -> None:
    with MockServer(faults={fault: 1.0}) as mock:
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            chat(mock, "one")
        assert (mock.log[0]["status"], mock.log[0]["fault"], mock.log[0]["gone"]) == (None, fault, True)


def test_a_hang_ends_when_the_client_goes_away() -> None:
    with MockServer(faults={"hang": 1.0}) as mock:
        with pytest.raises(TimeoutError):
            post(mock, "chat/completions", {"messages": []}, timeout=0.1)
        deadline = time.monotonic() + 5
        while mock.stats()["in_flight"] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert mock.stats()["in_flight"] == 0
        assert mock.stats()["gone"] == 1


def test_requests_at_once_are_counted_and_limited() -> None:
    with MockServer(latency_ms=150, max_inflight=2) as mock:
        statuses: list[int] = []
        threads = [threading.Thread(target=lambda text=str(number): statuses.append(chat(mock, text)[0])) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert sorted(statuses) == [200, 200, 429, 429]
        assert 2 < mock.stats()["most_in_flight"] <= 4
        assert all(one["t1"] - one["t0"] >= 0.14 for one in mock.log if one["status"] == 200)


@pytest.mark.parametrize(
    ("refused", "sent", "param", "code"),
    [
        ("max_tokens", {"max_tokens": 5}, "max_tokens", "unsupported_parameter"),
        ("temperature", {"temperature": 0}, "temperature", "unsupported_value"),
        ("json_schema", {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}, "response_format", None),
        ("logprobs", {"logprobs": True}, "logprobs", "unsupported_parameter"),
        ("seed", {"seed": 1}, "seed", "unsupported_parameter"),
    ],
)
def test_parameters_are_refused(refused: str, sent: dict[str, Any], param: str, code: str | None) -> None:
    with MockServer(refuses=[refused]) as mock:
        status, _, body = chat(mock, "one", **sent)
        assert (status, body["error"]["param"], body["error"]["code"]) == (400, param, code)
        assert chat(mock, "one")[0] == 200


def test_keys_redirects_filters_sizes() -> None:
    with MockServer(api_key="right", echo_authorization=True) as mock:
        assert post(mock, "chat/completions", {"messages": []}, key="right")[0] == 200
        refused = post(mock, "chat/completions", {"messages": []}, key="wrong-key")
        assert refused[0] == 401
        assert "Bearer wrong-key" in refused[2]["error"]["message"]
        mock.configure(api_key=None, redirect_to="http://other.invalid/")
        assert chat(mock, "one")[:1] == (307,)
        mock.configure(redirect_to=None, content_filter="secret plan")
        assert chat(mock, "the secret plan")[2]["error"]["code"] == "content_filter"
        mock.configure(context_size=10)
        error = chat(mock, "word " * 30)[2]["error"]
        assert (error["type"], error["n_prompt_tokens"] > 10, error["n_ctx"]) == ("exceed_context_size_error", True, 10)


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("absent", lambda body: "usage" not in body),
        ("null", lambda body: body["usage"] is None),
        ("partial", lambda body: body["usage"] == {"prompt_tokens": 8, "completion_tokens": None}),
        ("details", lambda body: body["usage"]["completion_tokens_details"] == {"reasoning_tokens": 1}),
    ],
)
def test_usage_is_as_whole_as_wanted(kind: str, seen: Any) -> None:
    with MockServer(usage=kind) as mock:
        assert seen(chat(mock, "one")[2])  # 1 token + 4 for the message + 3


def test_scripted_answers_are_used_in_order_and_so_often() -> None:
    answers = [{"match": "one", "reply": "first", "times": 1}, {"match": "one", "reply": {"error": {"message": "gone"}}, "status": 410}]
    with MockServer(answers=answers) as mock:
        assert content(chat(mock, "one")) == "first"
        assert chat(mock, "one")[0] == 410
        assert content(chat(mock, "Answer yes or no.")) == "yes"


def test_embeddings_are_the_same_for_a_text_in_both_encodings_and_in_any_order() -> None:
    def vectors(mock: MockServer, **more: Any) -> dict[int, Any]:
        data = post(mock, "embeddings", {"input": ["a", "b"], **more})[2]["data"]
        return {one["index"]: one["embedding"] for one in data}

    with MockServer(dim=8) as mock:
        plain = vectors(mock)
        coded = vectors(mock, encoding_format="base64")
        assert [struct.unpack("<8f", base64.b64decode(coded[index])) for index in (0, 1)] == [pytest.approx(plain[0]), pytest.approx(plain[1])]
        mock.configure(reversed_embeddings=True)
        assert list(vectors(mock)) == [1, 0]
        assert vectors(mock) == plain
        mock.configure(bad_embeddings={"^b$": "zero"})
        assert vectors(mock)[1] == [0.0] * 8
        mock.configure(no_embeddings=True)
        assert post(mock, "embeddings", {"input": "a"})[0] == 501


def test_unknown_settings_and_faults_are_refused() -> None:
    with pytest.raises(ValueError, match="no setting 'latency'"):
        MockServer(latency=1)
    with pytest.raises(ValueError, match="'418' is none of"):
        MockServer(faults={"418": 1.0})


def test_runs_as_a_process_and_is_steered_from_outside() -> None:
    command = [sys.executable, "-m", "tests.servers.mock", "--set", "latency_ms=1", "--set", 'faults={"500": 1.0}', "--keep-bodies"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        root = process.stdout.readline().strip().removesuffix("/v1")
        host = urlsplit(root).netloc

        def ask(path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
            connection = http.client.HTTPConnection(host, timeout=5)
            connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            status, value = response.status, json.loads(response.read())
            connection.close()
            return status, value

        question = {"messages": [{"role": "user", "content": "yes or no?"}]}
        assert ask("/v1/chat/completions", question)[0] == 500
        assert ask("/__config", {"faults": {}})[1]["latency_ms"] == 1
        assert ask("/__config", {"nonsense": 1})[0] == 400
        assert ask("/v1/chat/completions", question)[0] == 200
        assert ask("/__stats")[1]["status"] == {"500": 1, "200": 1}
        assert [one["body"] for one in ask("/__log")[1]] == [question, question]
        with urllib.request.urlopen(f"{root}/v1/models", timeout=5) as models:
            assert json.load(models)["data"][0]["id"] == "mock"
    finally:
        process.terminate()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()
