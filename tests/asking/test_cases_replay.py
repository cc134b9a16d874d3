"""Whatever went wrong in a run, its replay says the same: scores, errors, details and usage."""

from __future__ import annotations

from typing import Any

import pytest
from tests.asking.project import RAG, Project, rag_row

FAULTS = ("badjson", "truncate", "malformed", "empty", "count", "refuse", "429", "500", "hang", "cut")


def told(project: Project, *words: str) -> list[Any]:
    run = project("run", "--json", *words)
    assert run.code in (0, 3), run.err
    return project("results", run.json["run_id"], "--json").lines


@pytest.mark.slow
@pytest.mark.parametrize("ask", ["separately", "together"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_the_same_in_a_replay(project: Project, fault: str, ask: str) -> None:
    project.rows([rag_row(number) for number in range(3)])
    project.config(
        metrics=(*RAG, "llm_hallucination", "embed_answer_similarity"),
        judge='p = "sampled"\nmax_retries = 0\ntimeout_seconds = 0.4',
        embedding="max_retries = 0\ntimeout_seconds = 0.4",
        run=f'ask = "{ask}"\nmax_error_rate = 1.0',
    )
    project.mock.configure(faults={fault: 1.0}, fault_where="(Question|Refund|Passage) 1", retry_after="0")
    first = told(project)
    sent = len(project.mock.log)
    assert {one["status"] for one in first if one["sample_id"] == "r1"} >= {"error"}
    assert told(project, "--mode", "replay") == first
    assert len(project.mock.log) == sent


def test_questions_that_are_pending_at_once_go_at_once(project: Project) -> None:
    """Two metrics with the same question after the same split: one of them, awake first, does not go without the other."""
    project.rows([rag_row(0)])
    project.config(metrics=("llm_faithfulness", "llm_hallucination"), judge='p = "sampled"', run='ask = "together"\nmax_error_rate = 1.0')
    project.mock.configure(faults={"count": 1.0}, fault_where=r"items\W[^a-z]*n1\.")
    told(project)
    assert project.chats == 1 + 2  # the split; the question of both, and its one repair


def test_what_is_unreadable_together_keeps_the_beginning_of_the_reply(project: Project) -> None:
    project.rows([rag_row(0)])
    project.config(metrics=("llm_answer_relevance",), judge='p = "sampled"', run='ask = "together"\nmax_error_rate = 1.0')
    project.mock.configure(faults={"prose": 1.0})
    (only,) = told(project)
    assert only["error"]["code"] == "invalid_response"
    assert only["details"]["reply"].startswith("I think the answer is broadly fine")
