"""Reasons: asked for after the verdict is fixed, planned as what is asked, and never part of a score."""

from __future__ import annotations

from typing import Any

import pytest
from tests.asking.project import RAG, Project
from tests.servers.mock import Answer

WHY = "Say why in at most two sentences"
TOLD = "It says so. It is short."


@pytest.fixture(autouse=True)
def reasons(project: Project) -> None:
    project.mock.configure(verdict="mixed", seed=1, answers=[Answer(match=WHY, reply={"reason": f"{TOLD} Nothing else matters."})])


def asked(project: Project) -> int:
    """Requests for a reason."""
    return sum(WHY in body["messages"][-1]["content"] for body in project.mock.bodies())


def planned(project: Project) -> dict[str, Any]:
    plan: dict[str, Any] = project("check", "--json").json["plan"]
    return plan


def scores(project: Project) -> list[tuple[Any, ...]]:
    """All that a reason must not touch."""
    return [(one["metric"], one["sample_id"], one["status"], one["score"], one["passed"], one["signature"]) for one in project.results()]


def with_threshold(*names: str) -> str:
    return "\n".join(f"[metrics.{name}]\nthreshold = 0.5" for name in names)


@pytest.mark.parametrize("ask", ["separately", "together"])
@pytest.mark.parametrize("judge", ["", 'p = "sampled"'])
def test_every_cell_has_its_reason_and_the_score_it_has_without(project: Project, ask: str, judge: str) -> None:
    project.config(run=f'ask = "{ask}"', judge=judge)
    project.run()
    before, paid = scores(project), len(project.mock.log)
    assert asked(project) == 0
    project.config(run=f'ask = "{ask}"\nexplain = "all"', judge=judge)
    summary = project.run()
    assert scores(project) == before
    assert asked(project) == len(project.mock.log) - paid == 20
    assert {one["details"]["reason"] for one in project.results() if one["score"] is not None} == {TOLD}
    assert summary["usage"]["calls"] == summary["usage"]["cached_calls"] + 20


@pytest.mark.parametrize("ask", ["separately", "together"])
def test_reasons_are_planned_as_they_are_asked(project: Project, ask: str) -> None:
    project.config(run=f'ask = "{ask}"', judge='p = "sampled"')
    without = planned(project)
    project.config(run=f'ask = "{ask}"\nexplain = "all"', judge='p = "sampled"')
    plan = planned(project)
    added = [one["calls"] - before["calls"] for one, before in zip(plan["metrics"], without["metrics"], strict=True)]
    assert added == [5, 5, 5, 5]
    assert plan["totals"]["calls_min"] == without["totals"]["calls_min"] + 20
    summary = project.run()
    stats = project.mock.stats()
    assert plan["totals"]["calls"] == summary["usage"]["calls"] == len(project.mock.log)
    assert plan["totals"]["input_tokens"] == pytest.approx(stats["prompt_tokens"], rel=0.15)


def test_only_what_does_not_pass_is_explained(project: Project) -> None:
    project.config(run='explain = "failed"', rest=with_threshold(*RAG))
    plan = planned(project)
    project.run()
    found = project.results()
    failed = [one for one in found if one["passed"] is False]
    assert 0 < len(failed) < len(found)
    assert asked(project) == len(failed)
    assert {one["details"].get("reason") for one in failed} == {TOLD}
    assert not any("reason" in one["details"] for one in found if one["passed"])
    assert plan["totals"]["calls"] == 26 + 20  # every row may fail
    assert plan["totals"]["calls_min"] == 26
    assert plan["totals"]["calls_min"] <= len(project.mock.log) <= plan["totals"]["calls"]


def test_what_has_no_threshold_never_fails_and_that_is_said(project: Project) -> None:
    project.config(metrics=("llm_faithfulness", "llm_answer_relevance"), run='explain = "failed"')
    said = " ".join(project("check").out.split())
    assert 'explain = "failed": no reasons for llm_faithfulness, which has no threshold to fail' in said
    assert "llm_faithfulness: reasons" not in said
    assert "llm_answer_relevance: reasons 5 " in said
    assert "16 to 21 calls, depending on the verdicts; the most is planned" in said
    assert [one["calls"] - one["calls_min"] for one in planned(project)["metrics"]] == [0, 5]


def test_one_metric_may_be_explained_and_has_a_line_of_its_own(project: Project) -> None:
    project.config(metrics=RAG, judge='p = "sampled"\nprice = { input = 1.0, output = 4.0 }', rest='[metrics.llm_faithfulness]\nexplain = "all"')
    lines = project("check").out.splitlines()
    rows = {line.partition("  ")[0]: line.split()[-4:] for line in lines if line.startswith(("llm_", "total"))}
    assert list(rows) == ["llm_faithfulness", "llm_faithfulness: reasons", "llm_answer_relevance", "llm_context_precision", "llm_context_recall", "total"]
    assert rows["llm_faithfulness"][1] == "10"
    assert rows["llm_faithfulness: reasons"][1] == "5"
    assert rows["total"][1] == "30"
    plan = planned(project)
    assert plan["metrics"][0]["calls"] == 15
    for key in ("calls", "calls_min", "input_tokens", "output_tokens", "cost_usd"):
        assert plan["totals"][key] == pytest.approx(sum(one[key] for one in plan["metrics"]))
    project.run()
    assert asked(project) == 5
    assert {one["metric"] for one in project.results() if "reason" in one["details"]} == {"llm_faithfulness"}


@pytest.mark.parametrize("fault", ["prose", "empty", "refuse", "truncate"])
def test_a_reason_that_cannot_be_had_leaves_the_score(project: Project, fault: str) -> None:
    project.config(metrics=("llm_answer_relevance",))
    project.run()
    before = scores(project)
    project.mock.configure(faults={fault: 1.0}, fault_where=WHY)
    project.config(metrics=("llm_answer_relevance",), run='explain = "all"')
    assert project.run()["status"] == "complete"
    assert scores(project) == before
    for one in project.results():
        assert "no_reason" in one["details"]["flags"]
        assert "reason" not in one["details"]
        assert one["error"] is None
    assert asked(project) == (5 if fault == "refuse" else 10)  # one repair request each


def test_a_run_again_pays_for_no_reason_and_the_plan_knows(project: Project) -> None:
    project.run()
    paid = len(project.mock.log)
    project.config(run='explain = "all"')
    assert "% of what judges are asked is recorded already" in project("check").out
    project.run()
    assert len(project.mock.log) == paid + 20
    assert "\nwhat judges are asked is recorded already" in project("check").out
    first = project.results()
    project.run("--name", "again")
    assert len(project.mock.log) == paid + 20
    project.run("--name", "replayed", "--mode", "replay")
    reasons = [one["details"]["reason"] for one in first]
    assert [one["details"]["reason"] for one in project.results("again")] == [one["details"]["reason"] for one in project.results("replayed")] == reasons


def test_a_panel_is_explained_by_its_first_judge(project: Project) -> None:
    second = f'[models.second]\nprovider = "openai"\nmodel = "other"\nbase_url = "{project.mock.base_url}"\napi_key_env = "JUDGE_KEY"\np = "sampled"'
    project.config(
        metrics=("llm_answer_relevance",), judge='p = "sampled"', rest=f'[metrics.llm_answer_relevance]\njudge = ["judge", "second"]\nexplain = "all"\n{second}'
    )
    plan = planned(project)
    project.run()
    assert [body["model"] for body in project.mock.bodies() if WHY in body["messages"][-1]["content"]] == ["mock"] * 5
    assert plan["totals"]["calls"] == len(project.mock.log) == 15
