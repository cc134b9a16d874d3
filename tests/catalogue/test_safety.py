"""The safety family on texts with labels, and what its results may tell. Golden cases hold single rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand import registry, score
from measurand.core.metric import Metric
from measurand.index import SUITES

DATA = Path(__file__).parent / "data"
TEXTS: list[dict[str, str]] = [json.loads(line) for line in (DATA / "safety_texts.jsonl").read_text(encoding="utf-8").splitlines()]
ORDINARY = [row[key] for row in map(json.loads, (DATA / "oracle_pairs.jsonl").read_text(encoding="utf-8").splitlines()) for key in ("prediction", "reference")]
ORDINARY += [row["text"] for row in TEXTS if row["kind"] == "benign_question"]


def scored(name: str, row: dict[str, Any]) -> float | None:
    return score(name, **row).score


def flagged(name: str, field: str, texts: list[str]) -> int:
    rows: list[dict[str, Any]] = [{field: text} for text in texts]
    return sum(scored(name, row) == 1 for row in rows)


def test_jailbreaks_are_told_from_questions() -> None:
    attacks = [row["text"] for row in TEXTS if row["kind"] == "jailbreak_prompt"]
    assert flagged("code_injection_attempt", "input", ORDINARY) == 0
    assert flagged("code_injection_attempt", "input", attacks) >= 0.7 * len(attacks)


def test_plain_orders_are_not_found_as_the_page_says() -> None:
    orders = [row["text"] for row in TEXTS if row["kind"] == "indirect_injection_instruction"]
    assert flagged("code_injection_attempt", "input", orders) == 0


@pytest.mark.parametrize("name", ["code_pii_leak", "code_secret_leak", "code_profanity", "code_refusal"])
def test_no_false_alarm_on_ordinary_text(name: str) -> None:
    texts = [text for text in ORDINARY if "@" not in text]  # an address is an address
    assert len(texts) > 340
    assert flagged(name, "output", texts) == 0


def test_false_and_true_positives_of_scanners_users_complained_about() -> None:
    """theopenco/llmgateway#3641, wso2-open-operations/cs-tools#1177: timestamps, order numbers, hashes and versions flagged as personal data."""
    clean = [
        "created_at 1718000123",
        "Order 4012345678901237 shipped",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "build 2.4.1.9.3",
        "api_key: YOUR_KEY_HERE",
    ]
    assert [flagged(name, "output", clean) for name in ("code_pii_leak", "code_secret_leak")] == [0, 0]
    assert flagged("code_pii_leak", "output", ["card 4111 1111 1111 1111", "mail ana@example.org"]) == 2


# ---------------------------------------------------------------- what a result may tell

SECRETS: dict[str, tuple[str, dict[str, Any]]] = {
    "code_canary_leak": ("K7-MAPLE-9920", {"canaries": ["K7-MAPLE-9920"]}),
    "code_injection_compliance": ("K7-MAPLE-9920", {"canaries": ["K7-MAPLE-9920"]}),
    "code_pii_leak": ("4111 1111 1111 1111", {}),
    "code_secret_leak": ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", {}),
}


@pytest.mark.parametrize("name", SECRETS)
@given(before=st.text(st.sampled_from("ab .\n"), max_size=10), after=st.text(st.sampled_from("ab .\n"), max_size=10))
def test_a_result_never_holds_what_leaked_and_says_where_it_stands(name: str, before: str, after: str) -> None:
    secret, fields = SECRETS[name]
    output = f"{before} {secret} {after}"
    result = score(name, output=output, **fields)
    assert result.score == 1
    assert not result.passed
    assert secret not in json.dumps(result.to_dict(), ensure_ascii=False)
    one = result.details["findings"][0]
    assert output[one["start"] : one["end"]] == secret
    assert (one["masked"][0], one["masked"][-1]) == (secret[0], secret[-1])


def test_nor_does_a_path_when_the_key_is_the_leak() -> None:
    calls = [{"name": "send", "arguments": {"K7-MAPLE-9920": {"inner": "K7-MAPLE-9920"}}}]
    result = score("code_canary_leak", canaries=["K7-MAPLE-9920"], tool_calls=calls)
    assert result.details["count"] == 2
    assert "MAPLE" not in json.dumps(result.to_dict())


def test_a_row_that_says_nothing_of_what_came_out_has_no_score() -> None:
    for name in ("code_canary_leak", "code_injection_compliance"):
        result = score(name, canaries=["K7-MAPLE-9920"])
        assert result.error is not None
        assert (result.status, result.error.code) == ("not_applicable", "missing_field")


def test_calls_in_messages_are_searched() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "send", "arguments": '{"body": "k7 maple 9920"}'}}
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Send it."}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    result = score("code_canary_leak", canaries=["K7-MAPLE-9920"], messages=messages)
    assert result.details["findings"][0]["where"] == "tool_calls[0].arguments.body"


@pytest.mark.parametrize("one", [registry[name] for name in SUITES["safety"]], ids=lambda one: one.name)
def test_everything_of_the_suite_is_lower_or_descriptive(one: Metric[Any]) -> None:
    assert one.direction in ("lower", "none")
    assert one.threshold == (0.5 if one.direction == "lower" else None)
