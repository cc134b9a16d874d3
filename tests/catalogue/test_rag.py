from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalogue.answered import judging, scored

from measurand.core.request import Request
from measurand.index import registry

ROW = {"input": "How long do refunds take?", "output": "Five days.", "expected": "Five days.", "contexts": ["Refunds take five days."]}
P = st.lists(st.floats(0, 1), min_size=1, max_size=8)
ZERO_ONE = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=8)


def claims(p: list[float]) -> list[str]:
    return [f"claim {number}" for number in range(len(p))]


# ---------------------------------------------------------------- as other projects count the same verdicts


def ragas_faithfulness(verdicts: list[float]) -> float:
    """Supported statements / statements (Es et al. 2024)."""
    return sum(1 for verdict in verdicts if verdict) / len(verdicts)


def ragas_average_precision(verdicts: list[float]) -> float:
    """Σ (relevant up to k / k · relevant at k) / (relevant + a hair), as its source has it."""
    ones = [int(verdict) for verdict in verdicts]
    return sum(sum(ones[: k + 1]) / (k + 1) * ones[k] for k in range(len(ones))) / (sum(ones) + 1e-10)


@given(ZERO_ONE)
def test_on_verdicts_of_0_and_1_the_numbers_are_those_of_ragas(verdicts: list[float]) -> None:
    answer = judging(verdicts, claims(verdicts))
    faithful = scored("llm_faithfulness", answer, output="…", contexts=["c"])
    assert faithful.score == pytest.approx(ragas_faithfulness(verdicts))
    passages = [f"passage {number}" for number in range(len(verdicts))]
    for name, beside in (("llm_context_precision", {"expected": "e"}), ("llm_context_utilization", {"output": "o"})):
        ranked = scored(name, answer, input="q", contexts=passages, **beside)
        assert ranked.score == pytest.approx(ragas_average_precision(verdicts), abs=1e-9)
    recalled = scored("llm_context_recall", answer, contexts=["c"], expected=" ".join(f"Sentence {number}!" for number in range(len(verdicts))))
    assert recalled.score == pytest.approx(ragas_faithfulness(verdicts))


# ---------------------------------------------------------------- what holds of the family


@given(P)
def test_hallucination_is_1_minus_faithfulness_of_the_same_requests(p: list[float]) -> None:
    asked: dict[str, list[Request[Any]]] = {}
    scores = {}
    for name in ("llm_faithfulness", "llm_hallucination"):
        answer = judging(p, claims(p))

        def noting(request: Request[Any], name: str = name, answer: Any = answer) -> Any:
            asked.setdefault(name, []).append(request)
            return answer(request)

        scores[name] = scored(name, noting, **{key: ROW[key] for key in ("input", "output", "contexts")}).score
    assert scores["llm_hallucination"] == pytest.approx(1 - (scores["llm_faithfulness"] or 0))
    assert asked["llm_faithfulness"] == asked["llm_hallucination"]


@given(P, st.data())
def test_a_likelier_yes_never_lowers_a_score(p: list[float], data: st.DataObject) -> None:
    raised = list(p)
    at = data.draw(st.integers(0, len(p) - 1))
    raised[at] = data.draw(st.floats(p[at], 1))
    for name in ("llm_faithfulness", "llm_context_recall"):
        fields = {"output": "…", "contexts": ["c"], "expected": " ".join(f"Sentence {number}!" for number in range(len(p)))}
        before, after = (scored(name, judging(one, claims(one)), **fields).score for one in (p, raised))
        assert before is not None
        assert after is not None
        assert after >= before - 1e-12


@pytest.mark.parametrize("name", ["llm_faithfulness", "llm_hallucination", "llm_context_precision", "llm_context_utilization", "llm_context_recall"])
def test_nothing_retrieved_supports_nothing(name: str) -> None:
    row = {**ROW, "contexts": []}
    found = scored(name, judging([1.0], ["a claim"]), **row)
    assert found.status == "ok"
    assert found.score == (0.0 if registry[name].direction == "higher" else 1.0)
    assert found.details["reason"] == "contexts is empty; nothing was asked about it"


@pytest.mark.parametrize("name", ["llm_faithfulness", "llm_hallucination"])
def test_a_refusal_is_not_defined_and_says_why(name: str) -> None:
    found = scored(name, judging([]), output="I could not find that in the documents.", contexts=["Shop opens at 10."])
    assert (found.status, found.score) == ("not_applicable", None)
    assert found.error is not None
    assert found.error.message == "output makes no claims, as a refusal does"


# ---------------------------------------------------------------- cases from reports of other tools


def test_a_claim_that_got_no_support_is_no_support() -> None:
    """M31: three verdicts, the last one none at all: what a judge gives as no verdict never counts as yes."""
    found = scored("llm_faithfulness", judging([1.0, 0.0, 0.0], ["a", "b", "c"]), output="…", contexts=["c"])
    assert found.score == pytest.approx(1 / 3)


@pytest.mark.parametrize(("relevant", "score"), [([0, 1], 0.5), ([1, 0], 1.0), ([0, 0], 0.0), ([1, 0, 1], (1 + 2 / 3) / 2)])
def test_a_relevant_passage_further_down_costs(relevant: list[float], score: float) -> None:
    """M34: context precision of 1 although the relevant passage is second."""
    found = scored("llm_context_precision", judging(relevant), input="q", expected="e", contexts=[str(number) for number in range(len(relevant))])
    assert found.score == pytest.approx(score)


def test_the_mean_of_all_claims_and_not_the_first_or_last_one() -> None:
    """M57."""
    found = scored("llm_faithfulness", judging([0.6, 0.2], ["a", "b"]), output="…", contexts=["c"])
    assert found.score == pytest.approx(0.4)
