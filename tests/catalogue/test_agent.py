from __future__ import annotations

from typing import Any

import pytest
from tests.catalogue.answered import judging, scored

from measurand.core.request import Ask, Request, Verdict
from measurand.index import registry

REFUND = registry["llm_agent_goal"].example


def test_the_example_of_the_page_that_described_it_first() -> None:
    """Score p(yes), label "18% yes", confidence |p − 0.5| · 2, both probabilities, passed at a threshold of 0.5."""
    found = scored("agent_goal", judging([0.18]), **REFUND)
    assert (found.metric, found.score, found.label, found.passed, found.threshold) == ("llm_agent_goal", 0.18, "18% yes", False, 0.5)
    assert found.confidence == pytest.approx(0.64)
    assert found.probabilities == {"yes": 0.18, "no": pytest.approx(0.82)}


@pytest.mark.parametrize("name", ["llm_agent_goal", "llm_task_completion"])
def test_only_what_the_row_has_is_asked_about(name: str) -> None:
    asked: list[Request[Any]] = []

    def answer(request: Request[Any]) -> Verdict:
        asked.append(request)
        assert isinstance(request, Ask)
        return Verdict(request.form, {option: 1 / len(request.form.options) for option in request.form.options})

    full = {**REFUND, "messages": [{"role": "user", "content": "Refund it."}]}
    for left_out in ((), ("messages",), ("expected",), ("messages", "expected")):
        scored(name, answer, **{key: value for key, value in full.items() if key not in left_out})
    questions = [request.question for request in asked if isinstance(request, Ask)]
    assert [("`messages`" in one, "`expected`" in one) for one in questions] == [(True, True), (False, True), (True, False), (False, False)]
    assert all("`input`" in one and "`output`" in one and "?`" not in one for one in questions)


def test_completion_is_the_expected_level_with_its_distribution() -> None:
    form = registry["llm_task_completion"].judged.form
    found = scored("task_completion", lambda request: Verdict(form, {"0": 0.1, "1": 0.2, "2": 0.3, "3": 0.4}), **REFUND)
    assert found.score == pytest.approx((0.2 + 2 * 0.3 + 3 * 0.4) / 3)
    assert (found.label, found.passed) == ("3", None)
    assert found.probabilities == {"0": 0.1, "1": 0.2, "2": 0.3, "3": 0.4}
