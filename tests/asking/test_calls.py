"""How many calls a row takes, which of them are shared, and what each costs."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from tests.asking.project import RAG, Project, rag_row

AGENT = {"id": "a", "input": "Refund order 4471 and notify the customer.", "output": "Customer notified; refund pending.", "expected": "Refund issued."}


@pytest.mark.parametrize(
    ("metrics", "calls"),
    [
        (("llm_faithfulness",), 2),
        (("llm_faithfulness", "llm_hallucination"), 2),
        (("llm_answer_relevance",), 1),
        (("llm_context_precision",), 1),
        (("llm_context_recall",), 1),
        (RAG, 5),
    ],
)
def test_calls_a_row(project: Project, metrics: tuple[str, ...], calls: int) -> None:
    project.rows([rag_row(0)])
    project.config(metrics=metrics)
    summary = project.run()
    assert project.chats == calls
    assert summary["usage"]["calls"] == calls + 1  # the probe
    assert all(one["errors"] == 0 for one in summary["metrics"])


def test_the_goal_of_an_agent_takes_one_call(project: Project) -> None:
    project.rows([AGENT])
    project.config(metrics=("llm_agent_goal", "llm_task_completion"))
    project.run()
    assert project.chats == 2
    goal = project.results("latest", "--metric", "llm_agent_goal")[0]
    assert goal["label"].endswith("% yes")
    assert goal["probabilities"].keys() == {"yes", "no"}
    assert goal["confidence"] == pytest.approx(abs(goal["score"] - 0.5) * 2)
    assert goal["passed"] is (goal["score"] >= 0.5)


def test_together_takes_three(project: Project) -> None:
    project.rows([rag_row(0)])
    project.config(run='ask = "together"')
    summary = project.run()
    assert project.chats <= 3
    assert [one["errors"] for one in summary["metrics"]] == [0, 0, 0, 0]
    assert all("|ask:together:" in one["signature"] and "|p:sampled|" in one["signature"] for one in summary["metrics"])


def test_together_never_shows_a_reference_to_a_question_without_one(project: Project) -> None:
    project.rows([rag_row(0)])
    project.config(run='ask = "together"')
    project.run()
    texts = [body["messages"][-1]["content"] for body in project.mock.bodies()]
    with_reference = [text for text in texts if "It costs nothing" in text]  # the expected answer
    assert 0 < len(with_reference) < len(texts)
    assert any("Does `output` answer" in text for text in texts)
    for text in with_reference:
        assert "Does `output` answer" not in text
        assert "It is free of charge" not in text  # the output, which no question with a reference names here


def test_the_usage_of_results_adds_up_to_the_run(project: Project) -> None:
    project.config(metrics=("llm_faithfulness", "llm_hallucination", *RAG[1:], "embed_answer_similarity"), judge="price = { input = 1.0, output = 2.0 }")
    summary = project.run()
    usages = [one["usage"] for one in project.results()]
    for key in ("calls", "input_tokens", "output_tokens"):
        assert sum(one[key] for one in usages) == summary["usage"][key]
    by_metric: Counter[str] = Counter()
    for one in project.results():
        by_metric[one["metric"]] += one["usage"]["calls"]
        assert one["usage"]["shared_calls"] == (2 if one["metric"] == "llm_hallucination" else 0)
    assert by_metric["llm_hallucination"] == 0


def test_tokens_agree_with_the_server(project: Project) -> None:
    project.run()  # from here on it is known where probabilities come from
    project.mock.reset()
    summary = project.run("--mode", "live")
    stats = project.mock.stats()
    assert summary["usage"]["input_tokens"] == stats["prompt_tokens"]
    assert summary["usage"]["output_tokens"] == stats["completion_tokens"]
    assert summary["estimated"]["input_tokens"] == pytest.approx(stats["prompt_tokens"], rel=0.15)


def test_embeddings_of_many_rows_go_together_and_none_twice(project: Project) -> None:
    project.rows([{**rag_row(number), "expected": "The same for all."} for number in range(30)])
    project.config(metrics=("embed_answer_similarity",))
    project.run()
    asked = [text for body in project.mock.bodies("embeddings") for text in body["input"]]
    assert len(asked) == len(set(asked)) == 31
    assert len(project.mock.bodies("embeddings")) <= 3


def test_identical_rows_pay_once(project: Project) -> None:
    project.rows([{**rag_row(0), "id": f"same{at}"} for at in range(6)])
    project.config(metrics=("llm_answer_relevance",))
    project.run()
    assert project.chats == 1
    usages = [one["usage"] for one in project.results()]
    assert [one["calls"] for one in usages] in ([1, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0])  # the first one also carries the probe
    assert [one["shared_calls"] for one in usages] == [0, 1, 1, 1, 1, 1]


def test_results_belong_to_their_rows(project: Project) -> None:
    """Rows end in another order than they began; each keeps its own sentences."""
    project.mock.configure(jitter_ms=60.0)
    project.rows([rag_row(number) for number in range(20)])
    project.config(metrics=("llm_context_recall",))
    project.run()
    for one in project.results():
        number = one["sample_id"].removeprefix("r")
        assert f"Refund {number} takes" in json.dumps(one["details"]["items"])
