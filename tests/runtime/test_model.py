"""A named model: what it is known by, how it is opened, and how its limits hold with all the rest."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.asking import SCHEMA, ask, asks
from tests.servers.mock import MockServer

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import ConfigError
from measurand.core.exchange import Completion
from measurand.runtime.model import family_of, identity_of, open_model


def table(**more: Any) -> ModelSettings:
    return ModelSettings(**{"provider": "openai", "model": "m", **more})


def test_the_identity_has_what_changes_answers_and_nothing_else() -> None:
    settings = table(
        base_url="https://gateway.example/v1",
        temperature=0.0,
        max_output_tokens=5,
        extra_body={"cache_prompt": False},
        query={"api-version": "1"},
        api_key_env="K",
        headers={"X-Team": "t"},
        proxy="none",
        timeout_seconds=3,
        max_concurrency=2,
    )
    assert identity_of(settings) == {
        "provider": "openai",
        "identity": "https://gateway.example/v1",
        "model": "m",
        "temperature": 0.0,
        "max_output_tokens": 5,
        "extra_body": {"cache_prompt": False},
        "query": {"api-version": "1"},
    }
    assert identity_of(table(identity="corp-gw")) == {"provider": "openai", "identity": "corp-gw", "model": "m"}
    assert identity_of(table())["identity"] == "https://api.openai.com/v1"
    assert "temperature" not in identity_of(table())  # absent is not 0
    json.dumps(identity_of(settings))


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-5-mini", "gpt"),
        ("openai/gpt-5", "gpt"),
        ("o3-mini", "gpt"),
        ("chatgpt-5o", "gpt"),
        ("claude-sonnet-9", "claude"),
        ("meta-llama/Llama-3.3-70B", "llama"),
        ("Qwen/Qwen3-8B", "qwen"),
        ("7b-chat", None),
    ],
)
def test_the_family_is_the_first_word_of_the_name(model: str, family: str | None) -> None:
    assert family_of(model) == family
    assert open_model("j", table(model=model, family="own"), environ={}, resolve=Path).family == "own"


def test_opening_needs_no_key_no_server_and_no_socket() -> None:
    settings = table(base_url="http://127.0.0.1:9/v1", api_key_env="ABSENT")
    model = open_model("judge", settings, environ={}, resolve=Path)
    assert (model.name, model.stopped, model.notes, model.learned, model.counters.attempts) == ("judge", None, [], {}, 0)
    assert repr(model) == "Model('judge', openai, 'm')"


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, [float("inf")]])
def test_an_extra_body_that_is_no_json_is_a_problem_of_the_config(value: Any) -> None:
    settings = table().model_copy(update={"extra_body": {"x": value}})
    with pytest.raises(ConfigError, match=r"\[models.judge\] extra_body: cannot be sent as JSON"):
        open_model("judge", settings, environ={}, resolve=Path)


def test_an_address_that_is_none_is_a_problem_of_the_config() -> None:
    settings = ModelSettings(provider="openai", model="m", base_url="http://256.1.1.1/v1")
    with pytest.raises(ConfigError, match=r"\[models.judge\] base_url: is no address"):
        open_model("judge", settings, environ={}, resolve=Path)


def test_a_200_is_not_trusted_to_be_what_was_asked_for() -> None:  # P07: the text is handed on as it is, to be read as a reply and validated
    with MockServer(ignore_schema=True) as mock:
        completion = ask(mock.base_url, asks(schema=SCHEMA)).completion
    assert completion.text == "Sure! I would give it a 7."
    assert completion.finish == "stop"


def test_a_local_server_needs_no_key() -> None:  # P11
    with MockServer() as mock:
        assert ask(mock.base_url, environ={}).completion.text
        assert "authorization" not in mock.log[0]["headers"]


def test_never_more_in_flight_than_asked_for_and_lower_orders_go_first() -> None:
    with MockServer(latency_ms=15) as mock:
        outcome = ask(mock.base_url, *(asks(f"row {at:02}: yes or no?") for at in range(24)), max_concurrency=4)
        assert mock.stats()["most_in_flight"] == 4
        rows = [body["messages"][-1]["content"][4:6] for body in mock.bodies()]
    assert all(isinstance(one, Completion) for one in outcome.results)
    assert all(abs(at - int(row)) <= 4 for at, row in enumerate(rows))


def test_concurrency_of_the_command_line_replaces_that_of_the_table() -> None:
    async def scene(address: str) -> int:
        model = open_model("judge", table(base_url=address, max_concurrency=2), environ={}, resolve=Path, concurrency=6)
        await asyncio.gather(*(model.complete(asks(str(at))) for at in range(12)))
        await model.close()
        return model.concurrency

    with MockServer(latency_ms=30) as mock:
        assert asyncio.run(scene(mock.base_url)) == 6
        assert mock.stats()["most_in_flight"] == 6


def test_tokens_a_minute_are_estimated_before_and_settled_after() -> None:
    with MockServer() as mock:
        outcome = ask(mock.base_url, *(asks(f"{at}: yes or no?") for at in range(4)), tokens_per_minute=100_000)
    bucket = outcome.model._asked.line.limiter._tokens
    assert bucket is not None
    spent = sum(one.usage.input_tokens + one.usage.output_tokens for one in outcome.results if isinstance(one, Completion))
    assert bucket.level == pytest.approx(100_000 - spent, abs=100)


def test_what_does_not_fit_into_the_minute_is_not_sent() -> None:
    async def scene(address: str) -> None:
        model = open_model("judge", table(base_url=address, requests_per_minute=30), environ={}, resolve=Path)
        await asyncio.gather(*(model.complete(asks(str(at))) for at in range(30)))
        one_more = asyncio.create_task(model.complete(asks("one more")))
        await asyncio.sleep(0.2)
        assert not one_more.done()
        one_more.cancel()
        await model.close()

    with MockServer(rpm=30) as mock:
        asyncio.run(scene(mock.base_url))
        assert mock.statuses() == [200] * 30


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_more_at_once_than_there_may_be_open_files_is_lowered_and_said(tmp_path: Path) -> None:  # R16
    script = tmp_path / "many.py"
    script.write_text(
        "import asyncio, resource, sys\n"
        "from pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "from measurand.config.runtimes import ModelSettings\n"
        "from measurand.core.exchange import ChatMessage, ModelRequest\n"
        "from measurand.runtime.model import open_model\n"
        "async def main():\n"
        "    settings = ModelSettings(provider='openai', model='m', base_url=sys.argv[1], max_concurrency=1200, max_retries=0)\n"
        "    model = open_model('judge', settings, environ={}, resolve=Path)\n"
        "    await asyncio.gather(*(model.complete(ModelRequest((ChatMessage('user', str(at)),))) for at in range(1500)))\n"
        "    await model.close()\n"
        "    print(model.concurrency, *model.notes)\n"
        "asyncio.run(main())\n"
    )
    with MockServer(latency_ms=5) as mock:
        done = subprocess.run([sys.executable, str(script), mock.base_url], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert mock.stats()["most_in_flight"] <= 96
        assert mock.statuses() == [200] * 1500
    assert done.stdout.startswith("96 [models.judge] 1200 requests at once need more open files than this process may have; 96 are in flight")


@pytest.mark.slow
def test_the_wall_is_near_the_ideal_and_the_cpu_is_small() -> None:
    calls, at_once, latency = 640, 64, 0.2

    async def scene(address: str) -> tuple[float, float]:
        model = open_model("judge", table(base_url=address, max_concurrency=at_once), environ={}, resolve=Path)
        await asyncio.gather(*(model.complete(asks(f"warm {at}")) for at in range(at_once)))
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.gather(*(model.complete(asks(f"{at}: yes or no? " * 40, logprobs=True)) for at in range(calls)))
        took = time.process_time() - cpu, time.perf_counter() - wall
        await model.close()
        return took

    address = subprocess.Popen([sys.executable, "-m", "tests.servers.mock", "--set", f"latency_ms={latency * 1000}"], stdout=subprocess.PIPE, text=True)
    try:
        assert address.stdout is not None
        cpu, wall = asyncio.run(scene(address.stdout.readline().strip()))
    finally:
        address.terminate()
        address.wait()
        assert address.stdout is not None
        address.stdout.close()
    print(f"{cpu / calls * 1000:.2f} ms of CPU a call, {wall / (calls / at_once * latency):.2f} of the ideal wall time")
    assert cpu / calls < 0.0018
    assert wall < 1.3 * calls / at_once * latency
