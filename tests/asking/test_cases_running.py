"""What a run does about servers that refuse, cut, and lie: once, and told."""

from __future__ import annotations

import sys

import pytest
from tests.asking.project import Project, rag_row

ONE = ("llm_answer_relevance",)


def learned(project: Project, judge: str, refuses: str, refusals: int) -> str:
    """What `runs latest` says after a run with a server that refuses a parameter."""
    project.rows([rag_row(number) for number in range(6)])
    project.config(metrics=ONE, judge=f"max_concurrency = 1\n{judge}")
    project.mock.configure(refuses=(refuses,))
    assert {one["errors"] for one in project.run()["metrics"]} == {0}
    assert [one["status"] for one in project.mock.log].count(400) == refusals
    return " ".join(project("runs", "latest").out.split())


@pytest.mark.parametrize(
    ("judge", "refuses", "refusals", "told"),
    [
        ('p = "logprobs"', "max_tokens", 1, "mock refuses max_tokens: sent as max_completion_tokens"),  # P01
        ('p = "sampled"', "json_schema", 1, "mock refuses response_format: sent as json_object"),  # P06
        ('p = "sampled"', "response_format", 2, "mock refuses response_format"),
    ],
)
def test_a_refusal_is_met_once_also_by_calls_that_wait_and_is_told(project: Project, judge: str, refuses: str, refusals: int, told: str) -> None:
    assert told in learned(project, judge, refuses, refusals)


@pytest.mark.skipif(sys.platform == "win32", reason="no descriptor limit there")
def test_r16_fewer_connections_than_asked_for_are_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (128, 128))
    project.rows([rag_row(number) for number in range(60)])
    project.config(metrics=ONE, judge='p = "sampled"\nmax_concurrency = 1200')
    project.mock.configure(latency_ms=20)
    assert project.run()["metrics"][0]["errors"] == 0
    assert project.mock.stats()["most_in_flight"] <= 32
    assert "need more open files" in " ".join(project("runs", "latest").out.split())


def test_an_address_that_is_none_is_told_before_anything_is_sent(project: Project) -> None:
    config = project.folder / "metrics.toml"
    config.write_text(config.read_text().replace(project.mock.base_url, "http://256.1.1.1/v1"))
    for command in ("check", "run"):
        ran = project(command)
        assert ran.code == 2
        assert "base_url" in ran.err
    assert project.mock.log == []
