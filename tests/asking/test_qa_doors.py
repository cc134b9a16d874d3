"""What a user may get wrong before a call is made, and where the output may go."""

from __future__ import annotations

import io
import json
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.asking.project import Project, rag_row
from tests.servers.mock import MockServer


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('headers = { X-Team = "é" }', "headers.X-Team: holds what no HTTP header can"),
        ('headers = { X-Team = "a\\nb" }', "headers.X-Team: holds what no HTTP header can"),
        ('headers = { X-Team = " a" }', "headers.X-Team: holds what no HTTP header can"),
        ('headers = { "X Team" = "a" }', 'headers."X Team": is no name of an HTTP header'),
        ('headers = { Content-Length = "3" }', "headers.Content-Length: is a header of the connection"),
        ('headers_env = { "X:Team" = "TEAM" }', 'headers_env."X:Team": is no name of an HTTP header'),
    ],
)
def test_headers_that_cannot_be_sent_are_told_first(project: Project, line: str, said: str) -> None:
    project.config(judge=line)
    ran = project("run")
    assert ran.code == 2
    assert said in ran.err
    assert project.mock.log == []


@pytest.mark.parametrize(
    ("key", "said"), [("sk-first\nsk-second", "holds what no HTTP header can"), ("sk-é", "holds what no HTTP header can"), ("  ", "is not set")]
)
def test_a_key_that_cannot_be_sent_is_told_first(project: Project, monkeypatch: pytest.MonkeyPatch, key: str, said: str) -> None:
    monkeypatch.setenv("JUDGE_KEY", key)
    ran = project("check")
    assert ran.code == 2
    assert f"the variable JUDGE_KEY (api_key_env) {said}" in ran.err
    assert "sk-" not in ran.err


def test_a_key_may_end_in_a_line_break(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-judge-of-tests\n")
    assert project("run").code == 0


def test_a_budget_of_nothing_is_what_ends_the_run(project: Project) -> None:
    project.config(judge="price = { input = 1.0, output = 1.0 }")
    summary = project.run("--budget", "0", code=3)
    assert summary["reason"].startswith("the budget is used up: budget_usd = 0")
    assert project.mock.log == []


def test_a_refused_parameter_is_reported_by_this_run_and_the_next(project: Project, mock: MockServer) -> None:
    mock.configure(refuses=["max_tokens"])
    project.config(metrics=("llm_answer_relevance",), judge="max_output_tokens = 64")
    said = "[models.judge] mock refuses max_tokens: sent as max_completion_tokens"
    assert said in project("run").out.replace("\n  ", " ")
    project.rows([rag_row(9)])
    assert said in project("run").out.replace("\n  ", " ")
    assert 400 not in mock.statuses()[mock.statuses().index(400) + 1 :]


def test_embeddings_that_a_server_does_not_have_are_errors_of_their_cells(project: Project, mock: MockServer) -> None:
    mock.configure(no_embeddings=True)
    project.config(metrics=("embed_answer_similarity",))
    project.run(code=3)
    for result in project.results(_newest(project)):
        assert result["error"]["code"] == "provider_error"
        assert "does not support embeddings" in result["error"]["message"]


def test_a_cassette_goes_to_standard_output(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.run()
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stdout)
        ran = project("cache", "export", "-")
    assert ran.code == 0
    lines = stdout.buffer.getvalue().decode().splitlines()
    assert json.loads(lines[0])["format"] == "measurand-cassette"
    assert len(lines) > len(project.mock.bodies())
    assert not Path("-").exists()


def test_cache_alone_names_its_words(project: Project) -> None:
    ran = project("cache")
    assert ran.code == 2
    assert "there are info, export, import, prune" in ran.err


def test_score_takes_keys_of_the_models(project: Project) -> None:
    ran = project("score", "llm_answer_relevance", "--data", "rows.jsonl", "--set", "models.judge.temperature=0.5")
    assert ran.code == 0, ran.err
    assert {body.get("temperature") for body in project.mock.bodies()} == {0.5}


@pytest.mark.slow
def test_a_run_that_is_terminated_keeps_what_was_in_flight(project: Project, mock: MockServer) -> None:
    project.rows([rag_row(number) for number in range(200)])
    mock.configure(latency_ms=300)
    process = project.start("run", "--no-progress")
    while len(mock.log) < 20:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 3, err
    assert "INCOMPLETE: interrupted" in out
    mock.configure(latency_ms=0)
    project.run()
    assert mock.stats()["repeated_bodies"] == 0


def _newest(project: Project) -> str:
    return str(project("runs", "--json").json[0]["run_id"])
