"""What is told before anything is paid for: exit 2, and nothing in the server's log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.asking.project import RAG, Project, rag_row


def told(project: Project, *words: str) -> str:
    """What `check` and `run` say, which is the same, and nothing is sent."""
    ran, checked = project("run", *words), project("check", *words)
    assert (ran.code, checked.code) == (2, 2), ran.out + ran.err
    assert project.mock.log == []
    return checked.err


def test_a_field_missing_from_the_21st_row_on(project: Project) -> None:
    rows = [rag_row(number) for number in range(25)]
    for row in rows[20:]:
        del row["contexts"]
    project.rows(rows)
    said = told(project)
    assert "llm_faithfulness needs contexts; 5 of 25 rows lack it (r20, r21, r22" in said.replace("\n            ", " ")


def test_a_name_that_is_none(project: Project) -> None:
    project.config(metrics=("llm_faithfulnes",))
    assert "llm_faithfulness" in told(project)


def test_an_absent_key(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY")
    said = told(project)
    assert "JUDGE_KEY" in said
    assert "api_key_env" in said


def test_a_key_from_a_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY")
    (project.folder / "key").write_text("sk-from-a-file-0123456789\n")
    monkeypatch.setenv("JUDGE_KEY_FILE", str(project.folder / "key"))
    project.mock.configure(api_key="sk-from-a-file-0123456789")
    assert project.run()["status"] == "complete"


def test_no_judge(project: Project) -> None:
    (project.folder / "metrics.toml").write_text('[data]\npath = "rows.jsonl"\n[run]\nmetrics = ["llm_faithfulness"]\n')
    assert "judge" in told(project)


def test_a_run_of_code_alone_needs_no_key(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY")
    project.config(metrics=("code_token_f1",))
    assert project.run()["status"] == "complete"
    assert project.mock.log == []


def test_the_plan_before_and_the_run_after(project: Project) -> None:
    project.config(judge="price = { input = 1.0, output = 4.0 }")
    plan = project("check", "--json").json
    assert project.mock.log == []
    assert plan["ok"]
    assert [one["calls"] for one in plan["plan"]["metrics"]] == [11, 5, 5, 5]  # with the probe
    assert plan["plan"]["totals"]["calls"] == 26
    (destination,) = plan["plan"]["destinations"]
    assert (destination["host"], destination["models"], destination["rows"]) == (project.mock.host, ["mock"], 5)  # the model as the server knows it
    assert set(destination["metrics"]) == set(RAG)
    assert set(destination["fields"]) == {"contexts", "expected", "input", "output"}
    summary = project.run("--expect-plan", plan["plan_id"])
    assert summary["usage"]["calls"] == 26
    assert summary["estimated"]["calls"] == 26
    assert summary["usage"]["cost_usd"] == pytest.approx(plan["plan"]["totals"]["cost_usd"], rel=0.5)
    assert project("check", "--json").json["plan_id"] == plan["plan_id"]  # the probe changed nothing


def test_another_plan_is_refused(project: Project) -> None:
    plan = project("check", "--json").json["plan_id"]
    project.config(judge="temperature = 0.3")
    ran = project("run", "--expect-plan", plan)
    assert ran.code == 2
    assert "changed since plan" in ran.err
    assert project.mock.log == []


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [("METRICS_ALLOW_HOSTS", "api.example.com", "127.0.0.1"), ("METRICS_ALLOW_KEYS", "OTHER_KEY", "JUDGE_KEY")],
)
def test_what_the_operator_does_not_allow(project: Project, monkeypatch: pytest.MonkeyPatch, name: str, value: str, word: str) -> None:
    monkeypatch.setenv(name, value)
    said = told(project)
    assert word in said
    assert name in said


def test_a_path_outside(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_CONFINE", "1")
    project.config(judge='ca_file = "/etc/ssl/certs/ca-certificates.crt"')
    assert "leads out of the working directory" in told(project)


def test_a_redirect_is_not_followed(project: Project) -> None:
    project.mock.configure(redirect_to="http://127.0.0.1:9/elsewhere")
    summary = project.run(code=3)
    assert summary["status"] == "incomplete"
    assert "redirect" in summary["reason"]


def test_every_problem_at_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY")
    rows = [rag_row(number) for number in range(3)]
    del rows[1]["expected"]
    project.rows(rows)
    project.config(metrics=("llm_context_recall", "code_token_f"), judge="tempreature = 1")
    said = told(project)
    for word in ("JUDGE_KEY", "expected", "code_token_f1", "temperature"):
        assert word in said


def test_a_question_that_names_no_field(project: Project) -> None:
    project.config(metrics=("acme.q",), rest='[[questions]]\nname = "acme.q"\nask = "Is `outptu` polite?"')
    said = told(project)
    assert "outptu" in said
    assert "output" in said
    assert "no metric is called" not in said
    assert "metrics.toml:" in said


def test_a_question_is_planned_listed_shown_and_run(project: Project) -> None:
    question = (
        '[[questions]]\nname = "acme.formal"\nask = "Is `output` written in a formal register?"\ncategories = ["Fluency"]\ndescription = "Formal register"'
    )
    project.config(metrics=("acme.formal",), rest=question)
    assert "acme.formal" in project("list", "--format", "names").out
    shown = project("show", "acme.formal").out
    assert "Is `output` written in a formal register?" in shown
    assert project("check", "--json").json["plan"]["metrics"][0]["calls"] == 6  # with the probe
    summary = project.run()
    assert summary["metrics"][0]["name"] == "acme.formal"
    assert summary["metrics"][0]["pass_rate"] is not None


def test_what_show_prints_is_what_is_sent(project: Project, tmp_path: Path) -> None:
    shown = project("show", "llm_answer_relevance", "--json").json
    example = shown["example"]["fields"]
    project.rows([{"id": "x", **example}])
    project.config(metrics=("llm_answer_relevance",))
    project.run()
    sent = [body["messages"] for body in project.mock.bodies()]
    assert json.loads(json.dumps(shown["requests"][0]["sent"]["messages"])) in sent


def test_a_threshold_that_no_score_can_reach(project: Project) -> None:
    project.config(rest="[metrics.llm_faithfulness]\nthreshold = 2")
    assert "the threshold 2 is outside its range, 0 to 1" in told(project)
