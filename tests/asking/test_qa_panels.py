"""Panels whose questions are asked together, judges of them that fail, and cassettes of such runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.asking.project import RAG, Project, rag_row
from tests.servers.mock import MockServer

PANEL = 'judge = ["judge", "second"]'


def panel(project: Project, run: str) -> None:
    """The RAG metrics by a panel of two, on one row."""
    project.rows([rag_row(0)])
    second = f'[models.second]\nprovider = "openai"\nmodel = "mock-two"\nbase_url = "{project.mock.base_url}"\napi_key_env = "JUDGE_KEY"'
    project.config(rest=second)
    text = Path("metrics.toml").read_text(encoding="utf-8").replace('judge = "judge"', f"{PANEL}\n{run}")
    Path("metrics.toml").write_text(text, encoding="utf-8")


def test_a_panel_together_takes_three_calls_a_judge_and_the_plan_says_so(project: Project) -> None:
    panel(project, 'ask = "together"')
    planned = project("check", "--json").json["plan"]["totals"]["calls"]
    project.run()
    assert len(project.mock.bodies()) == planned == 6


def test_a_panel_together_gives_up_no_row_for_one_judge(project: Project, mock: MockServer) -> None:
    panel(project, 'ask = "together"\nmin_judges = 1')
    mock.configure(faults={"prose": 1.0}, fault_where='"mock-two"')
    summary = project.run()
    assert [one["errors"] for one in summary["metrics"]] == [0] * len(RAG)
    for result in project.results():
        assert "judge_missing" in result["details"]["flags"]
        assert {draw["judge"] for draw in result["draws"] or ()} <= {"judge"}


@pytest.mark.parametrize("run", ["min_judges = 1", 'min_judges = 1\nask = "together"'])
def test_a_result_of_all_judges_has_no_flag(project: Project, run: str) -> None:
    panel(project, run)
    project.run()
    assert not any("judge_missing" in result["details"].get("flags", ()) for result in project.results())


def test_a_cassette_of_a_run_together_replays(project: Project) -> None:
    project.config(run='ask = "together"')
    project.run()
    before = project.results()
    assert project("cache", "export", "calls.jsonl").code == 0
    project.run("--mode", "replay", "--cassette", "calls.jsonl", "--set", 'run.store="sqlite:///other.db"')
    other = Path("metrics.toml").read_text(encoding="utf-8").replace("[run]", '[run]\nstore = "sqlite:///other.db"')
    Path("other.toml").write_text(other, encoding="utf-8")
    assert project.results("latest", "-c", "other.toml") == before
