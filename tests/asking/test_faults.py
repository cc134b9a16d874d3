"""What goes wrong at a server, and what a run makes of it; the mock's log is the evidence."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.asking.project import Project, rag_row
from tests.servers.mock import Answer


def scored(project: Project, run: str = "latest") -> Counter[str]:
    return Counter(one["status"] for one in project.results(run))


def test_one_in_ten_too_many_requests(project: Project) -> None:
    project.rows([rag_row(number) for number in range(20)])
    project.mock.configure(faults={"429": 0.1}, retry_after="0.3", seed=4)
    summary = project.run()
    refused = [one for one in project.mock.log if one["status"] == 429]
    assert refused
    assert scored(project) == {"ok": 80}
    assert len(project.mock.log) == summary["usage"]["calls"] + len(refused)
    for one in refused:
        again = next(later for later in project.mock.log if later["hash"] == one["hash"] and later["t0"] > one["t0"])
        assert again["t0"] - one["t1"] >= 0.3 - 0.02


@pytest.mark.parametrize("fault", ["badjson", "truncate", "malformed", "prose", "nan", "empty"])
def test_one_in_ten_unusable(project: Project, fault: str) -> None:
    """One repair request each: a value is lost only where the repair is unusable too, and every lost one is counted and shown."""
    project.rows([rag_row(number) for number in range(40)])
    project.mock.configure(faults={fault: 0.1}, seed=11)
    summary = project.run()
    hit = [one for one in project.mock.log if one["fault"] == fault]
    twice = [one for one in hit if "Your last reply could not be used" in one["body"]["messages"][-1]["content"]]
    assert len(hit) > 5
    lost = sum(one["errors"] for one in summary["metrics"])
    assert lost <= len(twice) <= 9  # about 20 repairs, one in ten of them hit again: 10 are one run in 100 000
    assert scored(project) == Counter({"ok": 160 - lost, "error": lost}) - Counter()
    assert all(one["error"]["code"] == "invalid_response" for one in project.results("latest", "--errors"))


@pytest.mark.parametrize("fault", ["malformed", "prose", "empty", "truncate"])
def test_unusable_for_ever_is_an_error_and_no_score(project: Project, fault: str) -> None:
    project.rows([rag_row(0)])
    project.config(metrics=("llm_context_precision",), judge='p = "sampled"')
    project.mock.configure(faults={fault: 1.0})
    project.run(code=3)
    one = _only(project)
    assert (one["status"], one["score"], one["error"]["code"]) == ("error", None, "invalid_response")
    assert project.chats == 2
    if fault != "empty":
        assert one["details"]["reply"]


def _only(project: Project) -> dict[str, Any]:
    run = project("runs", "--json").json
    listed = run if isinstance(run, list) else [run]
    return project.results(listed[0]["run_id"])[0]  # type: ignore[no-any-return]


def test_refusals_are_errors(project: Project) -> None:
    project.rows([rag_row(0)])
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"')
    project.mock.configure(faults={"refuse": 1.0})
    project.run(code=3)
    one = _only(project)
    assert (one["status"], one["error"]["code"]) == ("error", "refused")
    assert project.chats == 1


def test_a_content_filter_is_asked_once(project: Project) -> None:
    project.rows([rag_row(0), rag_row(1)])
    project.config(metrics=("llm_answer_relevance",), run="max_error_rate = 0.5")
    project.mock.configure(content_filter="Question 1")
    project.run()
    statuses = {one["sample_id"]: one for one in project.results()}
    assert statuses["r0"]["status"] == "ok"
    assert statuses["r1"]["error"]["code"] == "refused"
    assert project.chats == 2


def test_too_many_requests_for_ever(project: Project) -> None:
    project.rows([rag_row(number) for number in range(3)])
    project.config(metrics=("llm_answer_relevance",), judge='p = "logprobs"\nmax_retries = 1')
    project.run("--metric", "llm_answer_relevance")  # the probe is recorded
    project.mock.reset()
    project.mock.configure(faults={"429": 1.0}, retry_after="0")
    summary = project.run("--mode", "live", code=3)
    assert summary["status"] == "incomplete"


def test_a_row_that_is_rate_limited_is_an_error(project: Project) -> None:
    project.rows([rag_row(number) for number in range(3)])
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"\nmax_retries = 1')
    project.mock.configure(faults={"429": 1.0}, retry_after="0")
    summary = project.run(code=3)
    assert summary["metrics"][0]["errors"] == 3
    assert [one["error"]["code"] for one in project.results(summary["run_id"])] == ["rate_limited"] * 3
    assert len(project.mock.log) == 3 * 2  # one and its retry


def test_a_hung_call_costs_one_timeout(project: Project) -> None:
    project.rows([rag_row(number) for number in range(8)])
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"\ntimeout_seconds = 0.5\nmax_retries = 1')
    project.mock.configure(faults={"hang": 1.0}, fault_first=1, fault_once=True)
    summary = project.run()
    assert summary["metrics"][0]["errors"] == 0
    assert 0.5 <= summary["elapsed_s"] < 3


def test_a_row_that_never_answers_is_one_error(project: Project) -> None:
    project.rows([rag_row(number) for number in range(5)])
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"\ntimeout_seconds = 0.3\nmax_retries = 1', run="max_error_rate = 0.5")
    project.mock.configure(faults={"hang": 1.0}, fault_where="Question 3")
    summary = project.run()
    assert summary["metrics"][0]["errors"] == 1
    statuses = {one["sample_id"]: (one["error"] or {}).get("code") for one in project.results()}
    assert statuses == {"r0": None, "r1": None, "r2": None, "r3": "timeout", "r4": None}


@pytest.mark.parametrize("wrap", ["fence", "think", "prose", "single_quotes", "trailing_comma"])
def test_what_stands_around_a_reply(project: Project, wrap: str) -> None:
    project.config(judge='p = "sampled"')
    project.mock.configure(wrap=wrap)
    project.run()
    assert scored(project) == {"ok": 20}


def test_a_server_that_ignores_the_schema_is_never_trusted(project: Project) -> None:
    project.rows([rag_row(0)])
    project.config(metrics=("llm_context_precision",), judge='p = "sampled"')
    project.mock.configure(ignore_schema=True)
    project.run(code=3)
    assert _only(project)["error"]["code"] == "invalid_response"


def test_a_refused_key_stops_the_run(project: Project) -> None:
    project.rows([rag_row(number) for number in range(50)])
    project.mock.configure(api_key="another")
    summary = project.run(code=3)
    assert summary["status"] == "incomplete"
    assert "JUDGE_KEY" in summary["reason"]
    assert len(project.mock.log) <= 2


def test_a_parameter_that_the_config_sets_and_the_model_refuses_stops_the_run(project: Project) -> None:
    project.config(judge="temperature = 0.0")
    project.mock.configure(refuses=("temperature",))
    summary = project.run(code=3)
    assert "temperature" in summary["reason"]


def test_parameters_that_nobody_set_are_learned_once_and_kept(project: Project) -> None:
    project.config(judge='p = "sampled"')
    project.mock.configure(refuses=("json_schema",))
    project.run()
    refused = [one for one in project.mock.log if one["status"] == 400]
    assert len(refused) <= 20  # those that were in flight when it was learned
    project.mock.reset()
    project.run("--mode", "live")
    assert not [one for one in project.mock.log if one["status"] == 400]


def test_a_broken_connection_is_tried_again(project: Project) -> None:
    project.mock.configure(faults={"disconnect": 0.2, "500": 0.1}, fault_once=True, seed=3)
    project.run()
    assert scored(project) == {"ok": 20}


def test_usage_that_is_not_reported_is_estimated_and_counted(project: Project) -> None:
    project.rows([rag_row(0)])
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"')
    project.mock.configure(usage="absent")
    summary = project.run()
    assert summary["usage"]["unreported_calls"] == 1
    assert summary["usage"]["input_tokens"] > 50


def test_one_row_never_disturbs_another(project: Project) -> None:
    project.rows([rag_row(number) for number in range(6)])
    project.config(metrics=("llm_context_precision",), judge='p = "sampled"', run="max_error_rate = 0.5")
    project.mock.configure(answers=(Answer(match="Question 2:", reply="not JSON at all"),))
    project.run()
    assert Counter((one["sample_id"], one["status"]) for one in project.results()) == {
        (f"r{number}", "error" if number == 2 else "ok"): 1 for number in range(6)
    }
