"""Every call is kept: what is reused, what is asked again, what a replay gives, what a killed run costs."""

from __future__ import annotations

import json
import random
import signal
import socket
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.asking.project import KEY, RAG, Project, rag_row

RAG_AND_NEAR = (*RAG, "embed_answer_similarity")


def test_the_same_command_again_pays_nothing(project: Project) -> None:
    project.config(metrics=RAG_AND_NEAR)
    first = project.run()
    asked = len(project.mock.log)
    second = project.run()
    assert len(project.mock.log) == asked
    assert second["usage"]["cached_calls"] == second["usage"]["calls"] == first["usage"]["calls"]
    assert first["usage"]["cached_calls"] == 0
    assert [one["mean"] for one in first["metrics"]] == [one["mean"] for one in second["metrics"]]


def test_live_asks_anew(project: Project) -> None:
    project.run()
    project.mock.reset()
    project.run("--mode", "live")
    assert project.chats == 25


def test_a_replay_is_the_same_to_the_last_byte_and_opens_no_socket(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.config(metrics=RAG_AND_NEAR)
    project.run()
    first = project("results", "latest", "--json").out
    project.mock.stop()
    monkeypatch.delenv("JUDGE_KEY")

    def refused(*given: Any, **named: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    again = project.run("--mode", "replay")
    assert project("results", "latest", "--json").out == first
    assert again["usage"]["cached_calls"] == again["usage"]["calls"]


def test_a_replay_without_a_record_is_an_error(project: Project) -> None:
    project.run()
    project.rows([rag_row(number) for number in range(6)])
    summary = project.run("--mode", "replay", code=3)
    assert Counter(one["errors"] for one in summary["metrics"]) == {1: 4}
    statuses = [one["error"]["code"] for one in project.results(summary["run_id"]) if one["error"]]
    assert statuses == ["cache_miss"] * 4


@pytest.mark.parametrize(
    "change",
    [
        {"judge": "temperature = 0.5"},
        {"judge": "temperature = 0.0"},
        {"judge": "max_output_tokens = 99"},
        {"judge": "extra_body = { top_k = 1 }"},
        {"judge": 'query = { version = "2" }'},
        {"judge": 'identity = "another"'},
    ],
)
def test_what_changes_an_answer_is_another_call(project: Project, change: dict[str, str]) -> None:
    project.config(metrics=("llm_answer_relevance",))
    project.run()
    project.mock.reset()
    project.config(metrics=("llm_answer_relevance",), **change)
    project.run()
    assert project.chats == 5


def test_another_model_is_another_call(project: Project) -> None:
    project.config(metrics=("llm_answer_relevance",))
    project.run()
    project.mock.reset()
    project.run("--set", 'models.judge.model="mock-2"')
    assert project.chats == 5


@pytest.mark.parametrize("change", ["timeout_seconds = 9", "max_concurrency = 3", 'headers = { X-Team = "a" }', "max_retries = 1", 'proxy = "none"'])
def test_what_does_not_change_an_answer_is_not(project: Project, change: str) -> None:
    project.config(metrics=("llm_answer_relevance",))
    project.run()
    project.mock.reset()
    project.config(metrics=("llm_answer_relevance",), judge=change)
    project.run()
    assert project.chats == 0


def test_draws_are_calls_of_their_own(project: Project) -> None:
    project.mock.configure(verdict="mixed")
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"\ntemperature = 0.8', run="draws = 5")
    project.run()
    assert project.chats == 25
    first = project.results()
    assert all(len(one["draws"]) == 5 for one in first)
    project.run()
    assert project.chats == 25
    assert project.results() == first


def test_a_question_that_changes_is_asked_anew(project: Project) -> None:
    ask = '[[questions]]\nname = "acme.formal"\nask = "{}"\ncategories = ["Fluency"]'
    project.config(metrics=("acme.formal",), rest=ask.format("Is `output` formal?"))
    first = project.run()
    project.config(metrics=("acme.formal",), rest=ask.format("Is `output` written formally?"))
    second = project.run()
    assert project.chats == 10
    assert first["metrics"][0]["signature"] != second["metrics"][0]["signature"]


def test_a_row_that_failed_is_asked_again_by_the_same_command(project: Project) -> None:
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"\nmax_retries = 0')
    project.mock.configure(faults={"500": 1.0}, fault_where="Question [34]")
    broken = project.run(code=3)
    assert (broken["status"], broken["metrics"][0]["errors"]) == ("incomplete", 2)
    project.mock.configure(faults={})
    mended = project.run("--name", "mended")
    assert (mended["run_id"], mended["name"]) == (broken["run_id"], "mended")
    assert (mended["status"], mended["metrics"][0]["errors"], mended["metrics"][0]["rows_scored"]) == ("complete", 0, 5)
    assert project.chats == 7


def test_a_budget_of_calls_stops_and_continues(project: Project) -> None:
    project.rows([rag_row(number) for number in range(20)])
    project.config(metrics=("llm_answer_relevance",), run="budget_calls = 8")
    stopped = project.run(code=3)
    assert stopped["status"] == "incomplete"
    assert "budget_calls" in stopped["reason"]
    assert len(project.mock.log) == 8
    project.config(metrics=("llm_answer_relevance",), run="budget_calls = 100")
    ended = project.run()
    assert ended["run_id"] == stopped["run_id"]
    assert len(project.mock.log) == 21
    assert ended["metrics"][0]["rows_scored"] == 20


def test_a_budget_in_dollars_is_never_overspent(project: Project) -> None:
    project.rows([rag_row(number) for number in range(40)])
    project.mock.configure(latency_ms=20)
    project.config(judge="price = { input = 10.0, output = 30.0 }\nmax_output_tokens = 60\nmax_concurrency = 8")
    stopped = project.run("--budget", "0.10", code=3)
    assert "budget_usd" in stopped["reason"]
    assert 0.05 < stopped["usage"]["cost_usd"] <= 0.10
    spent = project.mock.stats()
    assert spent["prompt_tokens"] * 10e-6 + spent["completion_tokens"] * 30e-6 <= 0.10


def test_a_budget_without_a_price_is_a_problem(project: Project) -> None:
    ran = project("run", "--budget", "1.0")
    assert ran.code == 2
    assert "models.judge" in ran.err
    assert "price" in ran.err
    assert project.mock.log == []


def test_a_cassette_replays_in_a_fresh_folder_without_a_key(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.config(metrics=RAG_AND_NEAR)
    project.run()
    first = project("results", "latest", "--json").out
    assert project("cache", "export", "cassette.jsonl").code == 0
    assert KEY not in (project.folder / "cassette.jsonl").read_text()
    assert "how long do refunds take" not in (project.folder / "cassette.jsonl").read_text()
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    for name in ("metrics.toml", "rows.jsonl", "cassette.jsonl"):
        (fresh / name).write_bytes((project.folder / name).read_bytes())
    project.mock.stop()
    monkeypatch.delenv("JUDGE_KEY")
    monkeypatch.chdir(fresh)
    project.run("--mode", "replay", "--cassette", "cassette.jsonl")
    assert project("results", "latest", "--json").out == first


def test_a_cassette_answers_outside_a_replay_only_when_it_is_trusted(project: Project) -> None:
    project.config(metrics=("llm_answer_relevance",))
    project.run()
    project("cache", "export", "cassette.jsonl")
    (project.folder / ".metrics" / "store.db").rename(project.folder / "old.db")
    project.mock.reset()
    project.run("--cassette", "cassette.jsonl")
    assert project.chats == 5
    for path in (project.folder / ".metrics").glob("store.db*"):
        path.unlink()
    project.mock.reset()
    project.run("--cassette", "cassette.jsonl", "--trust-imported")
    assert len(project.mock.log) == 0


def test_content_none_keeps_no_text(project: Project) -> None:
    project.config(run='content = "none"')
    project.run()
    stored = b"".join(path.read_bytes() for path in (project.folder / ".metrics").iterdir() if path.is_file())
    assert b"refunds are paid within" not in stored
    assert b"how long do refunds take" not in stored


def test_secrets_are_nowhere(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "team-token-of-tests-987654321")
    project.config(judge='headers_env = { X-Team-Token = "TEAM_TOKEN" }\nmax_retries = 0', run="max_error_rate = 1.0")
    project.mock.configure(echo_authorization=True, faults={"500": 0.3}, seed=5)
    said = [
        project("check"),
        project("run", "--json"),
        project("run", "-v"),
        project("results", "latest", "--json"),
        project("results", "latest", "--id", "r0"),
    ]
    project("cache", "export", "cassette.jsonl", "--with-requests")
    project("export", "latest", "-o", "run.jsonl.gz", "--format", "run")
    assert any(one["headers"].get("x-team-token") == "team-token-of-tests-987654321" for one in project.mock.log)
    files = b"".join(path.read_bytes() for path in project.folder.rglob("*") if path.is_file() and path.suffix != ".gz")
    for secret in (KEY, "team-token-of-tests-987654321"):
        assert secret.encode() not in files
        assert all(secret not in one.out + one.err for one in said)
    import gzip

    assert KEY.encode() not in gzip.decompress((project.folder / "run.jsonl.gz").read_bytes())


def test_one_row_shows_every_request_and_reply(project: Project) -> None:
    project.run()
    shown = project("results", "latest", "--id", "r1").out
    assert "Question 1: how long do refunds take" in shown
    assert "Do `contexts` alone imply `item`" in shown


# ---------------------------------------------------------------- processes


def _store_is_whole(project: Project, rows: int) -> None:
    results = project.results()
    assert len({(one["sample_id"], one["metric"]) for one in results}) == len(results) == rows * len(RAG)
    assert {one["status"] for one in results} == {"ok"}


@pytest.mark.slow
def test_a_killed_run_pays_only_for_what_was_in_flight(project: Project) -> None:
    """Twenty kills at random moments; then the command is typed once more."""
    rows, at_once = 60, 8
    project.rows([rag_row(number) for number in range(rows)])
    project.mock.configure(latency_ms=50)
    project.config(judge=f"max_concurrency = {at_once}")
    chance = random.Random(1)
    kills = 0
    for _ in range(20):
        before = len(project.mock.log)
        process = project.start("run", "--json")
        until = time.monotonic() + 20
        target = before + chance.randint(1, 14)
        while len(project.mock.log) < target and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
    assert kills >= 15
    project.run()
    _store_is_whole(project, rows)
    answered = Counter(one["hash"] for one in project.mock.log if one["status"] == 200)
    repeated = sum(count - 1 for count in answered.values())
    assert repeated <= kills * at_once
    assert len(project("runs", "--json").json) == 1


@pytest.mark.slow
def test_two_processes_on_one_store_pay_once(project: Project) -> None:
    rows = 40
    project.rows([rag_row(number) for number in range(rows)])
    project.mock.configure(latency_ms=40)
    project.config(judge="max_concurrency = 8")
    both = [project.start("run", "--json", "--name", name) for name in ("one", "two")]
    documents = []
    for process in both:
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        documents.append(json.loads(out))
    assert documents[0]["run_id"] != documents[1]["run_id"]
    assert Counter(one["hash"] for one in project.mock.log).most_common(1)[0][1] == 1
    assert project.chats == rows * 5
    assert sum(one["usage"]["cached_calls"] for one in documents) == rows * 5 + 1


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_done_and_says_how_to_go_on(project: Project) -> None:
    project.rows([rag_row(number) for number in range(60)])
    project.mock.configure(latency_ms=100)
    project.config(judge="max_concurrency = 4")
    process = project.start("run", "--json")
    while len(project.mock.log) < 30:
        time.sleep(0.01)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - start < 5
    assert process.returncode == 3, err
    document = json.loads(out)
    assert (document["status"], document["reason"]) == ("incomplete", "interrupted")
    seen = Counter(one["hash"] for one in project.mock.log)
    project.run()
    again = Counter(one["hash"] for one in project.mock.log)
    assert sum(again[key] - 1 for key in seen) == 0  # what was in flight was waited for


@pytest.mark.slow
def test_a_call_that_never_ends_does_not_hold_an_interrupt(project: Project) -> None:
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"')
    project.mock.configure(faults={"hang": 1.0})
    process = project.start("run", "--json")
    while not project.mock.log:
        time.sleep(0.01)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - start < 6
    assert process.returncode == 3, err


@pytest.mark.slow
def test_more_at_once_than_files_may_be_open(project: Project) -> None:
    project.rows([{"id": f"q{number}", "input": f"Question {number}?", "output": "Yes."} for number in range(1500)])
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"\nmax_concurrency = 1200')
    process = project.start("-c", "metrics.toml", "run", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["metrics"][0]["errors"] == 0
