"""Judged metrics through the other doors: the filter `metrics score`, and Python."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.asking.project import RAG, Project, rag_row

import measurand
from measurand.core.errors import ProblemsError


def asked(project: Project) -> dict[str, Any]:
    return {"judge": {"provider": "openai", "model": "mock", "base_url": project.mock.base_url, "p": "sampled"}}


def test_the_filter_keeps_the_order_and_says_what_each_cost(project: Project) -> None:
    project.mock.configure(jitter_ms=40.0)
    project.rows([rag_row(number) for number in range(12)])
    ran = project("score", *RAG, "code_token_f1", "--data", "rows.jsonl")
    assert ran.code == 0, ran.err
    assert [(one["sample_id"], one["metric"]) for one in ran.lines] == [(f"r{number}", name) for number in range(12) for name in (*RAG, "code_token_f1")]
    assert [one["usage"]["calls"] for one in ran.lines[:5]] == [2, 1, 1, 1, 0]
    assert all("|p:" in one["signature"] for one in ran.lines if one["metric"] in RAG)
    before = len(project.mock.log)
    assert project("score", *RAG, "--data", "rows.jsonl").code == 0
    assert len(project.mock.log) == before


def test_the_filter_tells_problems_first(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY")
    ran = project("score", "llm_faithfulness", "--data", "rows.jsonl")
    assert ran.code == 2
    assert "JUDGE_KEY" in ran.err
    assert project.mock.log == []


def test_one_row_in_python(project: Project) -> None:
    row = {key: value for key, value in rag_row(0).items() if key != "id"}
    result = measurand.score("llm_context_precision", models=asked(project), **row)
    assert (result.status, result.usage.calls) == ("ok", 1)
    assert result.score is not None


def test_one_row_by_a_config_pays_once(project: Project) -> None:
    row = {key: value for key, value in rag_row(0).items() if key != "id"}
    first = measurand.score("llm_faithfulness", config="metrics.toml", **row)
    before = len(project.mock.log)
    assert measurand.score("llm_faithfulness", config="metrics.toml", **row).score == first.score
    assert len(project.mock.log) == before


def test_without_a_judge_it_says_what_to_write() -> None:
    with pytest.raises(ProblemsError, match="judge"):
        measurand.score("llm_answer_relevance", input="a", output="b")


def test_a_dataset_in_python(project: Project) -> None:
    run = measurand.evaluate([rag_row(0), rag_row(1)], ["llm_answer_relevance", "code_token_f1"], config={"run": {"judge": "judge"}}, models=asked(project))
    assert [one.metric.name for one in run.summary().metrics] == ["llm_answer_relevance", "code_token_f1"]
    assert run.summary().to_dict()["usage"]["calls"] == 2


def test_inside_a_running_loop(project: Project) -> None:
    async def several() -> list[Any]:
        one = [[rag_row(number)] for number in range(3)]
        every = (measurand.aevaluate(rows, ["llm_answer_relevance"], config={"run": {"judge": "judge"}}, models=asked(project)) for rows in one)
        return list(await asyncio.gather(*every))

    runs = asyncio.run(several())
    assert [run.summary().to_dict()["metrics"][0]["rows_scored"] for run in runs] == [1, 1, 1]


def test_a_panel_scores_the_mean_and_keeps_every_judge(project: Project) -> None:
    project.config(
        metrics=("llm_answer_relevance",),
        judge='p = "sampled"',
        rest=f'[models.other]\nprovider = "openai"\nmodel = "mock-2"\np = "sampled"\nbase_url = "{project.mock.base_url}"\n',
    )
    config = (project.folder / "metrics.toml").read_text().replace('judge = "judge"', 'judge = ["judge", "other"]')
    (project.folder / "metrics.toml").write_text(config)
    project.mock.configure(verdict="mixed")
    project.run()
    assert project.chats == 10
    for one in project.results():
        answers = {draw["judge"]: draw["probabilities"]["yes"] for draw in one["draws"]}
        assert one["score"] == pytest.approx(sum(answers.values()) / 2)
        assert answers.keys() == {"judge", "other"}
    assert "judge:mock+mock-2" in project.results()[0]["signature"]


def test_long_records_are_fitted_or_are_errors(project: Project) -> None:
    project.rows([{**rag_row(0), "contexts": [f"Passage {at}. " + "Refunds are paid within five days. " * 12 for at in range(6)]}])
    project.config(metrics=("llm_context_recall", "llm_context_precision"), judge="max_input_tokens = 400")
    project.run()
    assert all(one["status"] == "ok" and "chunked" in one["details"]["flags"] for one in project.results())
    assert project.chats > 4
    project.config(metrics=("llm_context_recall",), judge="max_input_tokens = 60")
    project.run(code=3)
    one = json.loads(project("results", project("runs", "--json").json[0]["run_id"], "--json").out.splitlines()[0])
    assert one["error"]["code"] == "invalid_field"
    assert "60" in one["error"]["message"]


def test_the_filter_keeps_no_text_where_none_is_kept(project: Project) -> None:
    project.config(run='content = "none"')
    assert project("score", *RAG, "--data", "rows.jsonl").code == 0
    stored = b"".join(path.read_bytes() for path in (project.folder / ".metrics").iterdir() if path.is_file())
    assert b"refunds are paid within" not in stored
    assert b"how long do refunds take" not in stored
