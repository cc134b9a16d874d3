"""The conversation family: laws, and the cases that users reported. Golden cases hold single rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand import score

WORDS = st.sampled_from(["Lund", "peanuts", "10:30", "1,000", "北京", "C++", "the blue room"])
ROLES = st.sampled_from(["user", "assistant", "system", "tool"])
MESSAGES = st.lists(st.fixed_dictionaries({"role": ROLES, "content": st.sampled_from(["", " ", "Yes."])}), max_size=8)


def test_a_number_within_a_time_is_not_the_number_asked_for() -> None:
    """sierra-research/tau-bench#16: the required output "10" was found in "Your table is at 10:30."."""
    assert score("code_fact_recall", output="Your table is at 10:30.", facts=["10"]).score == 0
    assert score("code_fact_recall", output="That makes 10 in all.", facts=["10"]).score == 1


@pytest.mark.parametrize("fact", ["1000", "1,000", "1 000".replace(" ", "\u202f"), "1000.0", "1'000", "$1,000.00"])
@pytest.mark.parametrize("output", ["It is $1,000.", "It is $1000.00!", "$1\u00a0000"])
def test_numbers_are_equal_by_value(fact: str, output: str) -> None:
    assert score("code_fact_recall", output=output, facts=[fact]).score == 1


@pytest.mark.parametrize(
    ("fact", "output"), [("1", "1.5"), ("000", "1,000"), ("5", "1.50"), ("1.2", "1.2.3"), ("2024", "2024/05"), ("007", "7"), ("100", "10000")]
)
def test_other_numbers_are_not(fact: str, output: str) -> None:
    assert score("code_fact_recall", output=output, facts=[fact]).score == 0


@given(facts=st.lists(WORDS, min_size=1, max_size=6), said=st.lists(WORDS, max_size=6))
def test_facts_said_in_a_sentence_are_those_found(facts: list[str], said: list[str]) -> None:
    result = score("code_fact_recall", output=f"You said: {', then '.join(said)}.", facts=facts)
    assert result.score == pytest.approx(sum(fact in said for fact in facts) / len(facts))
    assert result.details.get("missing", []) == [fact for fact in facts if fact not in said]


@given(output=st.text(max_size=60), facts=st.lists(st.text(max_size=10), min_size=1, max_size=4), more=st.text(max_size=20))
def test_saying_more_loses_no_fact(output: str, facts: list[str], more: str) -> None:
    before, after = (score("code_fact_recall", output=text, facts=facts) for text in (output, f"{output}\n\n| {more}"))
    assert before.status == after.status
    if before.score is not None and after.score is not None:
        assert after.score >= before.score


@given(MESSAGES)
def test_an_answer_to_every_message_of_the_user_is_all_there_can_be(messages: list[dict[str, Any]]) -> None:
    answered = [one for message in messages for one in (message, {"role": "assistant", "content": "Yes."})]
    result = score("code_response_rate", messages=answered)
    assert result.score == (1 if any(one["role"] == "user" for one in messages) else None)
    silent = [one for one in messages if one["role"] != "assistant"]
    assert score("code_response_rate", messages=silent).score in (0, None)
