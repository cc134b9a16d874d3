"""Who answers: what of the instruments is in a signature, and everything that keeps a plan from asking them, told at once and before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from measurand.config import Settings, from_mapping
from measurand.core.errors import Problem
from measurand.run.plan import Plan, RunOptions, make_plan

ROW = {"id": "a", "input": "How long?", "output": "Five days. It is free.", "expected": "Five days.", "contexts": ["Refunds take five days."]}
HERE = {"provider": "openai", "model": "mini", "base_url": "http://127.0.0.1:1/v1"}
JUDGED = ("llm_faithfulness", "llm_answer_relevance")


def settings(run: Mapping[str, Any] | None = None, **models: Mapping[str, Any]) -> Settings:
    embeddings = {name: models.pop(name) for name in list(models) if name.startswith("embed")}
    return from_mapping({"models": models or {"judge": HERE}, "embeddings": embeddings, "run": {"judge": "judge", **(run or {})}}, Path.cwd(), environ={})


def plan(made: Settings, *metrics: str, environ: Mapping[str, str] | None = None, rows: Any = (ROW,)) -> Plan:
    return make_plan(made, RunOptions(data=list(rows), metrics=metrics or JUDGED), environ=environ or {})


def problems(made: Settings, *metrics: str, environ: Mapping[str, str] | None = None) -> list[Problem]:
    return list(plan(made, *metrics, environ=environ).problems)


def signature(made: Settings, metric: str = "llm_answer_relevance") -> str:
    (one,) = plan(made, metric).instances
    return one.signature.rpartition("|lib:")[0]


# ---------------------------------------------------------------- signatures


def test_what_was_asked_of_whom_is_in_the_signature() -> None:
    whole = signature(settings())
    assert whole.startswith("llm_answer_relevance|v:1|judge:mini|draws:1|ask:separately|prompt:")
    assert len(whole.rpartition(":")[2]) == 6


def test_every_sampling_parameter_that_was_set_is_in_it_and_nothing_else_of_the_model() -> None:
    set_ones = {"temperature": 0.0, "extra_body": {"top_p": 0.5, "cache_prompt": False, "seed": 7}, "timeout_seconds": 3.0, "max_concurrency": 2}
    assert "|judge:mini|t:0,seed=7,top_p=0.5|draws:3|" in signature(settings({"draws": 3}, judge={**HERE, **set_ones}))


def test_a_panel_and_questions_that_go_together() -> None:
    both = settings({"judge": ["a", "b"], "ask": "together"}, a=HERE, b={**HERE, "model": "large"})
    made = plan(both, *JUDGED)
    parts = [one.signature.split("|") for one in made.instances]
    assert all(part[2] == "judge:mini+large" for part in parts)
    assert parts[0][4] == parts[1][4]
    assert parts[0][4].startswith("ask:together:")
    assert plan(both, "llm_faithfulness").instances[0].signature.split("|")[4] != parts[0][4]


def test_an_embedding_model_is_in_the_signature_and_code_has_no_such_part() -> None:
    made = plan(settings({"embedding": "embed"}, judge=HERE, embed={**HERE, "model": "e5"}), "embed_answer_similarity", "code_token_f1")
    assert [one.signature.rpartition("|lib:")[0] for one in made.instances] == ["embed_answer_similarity|v:1|embed:e5", "code_token_f1|v:1"]


@pytest.mark.parametrize(
    "changed",
    [
        {"api_key_env": "OTHER"},
        {"timeout_seconds": 3.0},
        {"max_concurrency": 2},
        {"price": {"input": 1.0, "output": 1.0}},
        {"headers": {"X-Team": "search"}},
        {"note": "small"},
        {"max_retries": 0},
    ],
)
def test_how_a_model_is_reached_and_what_it_costs_is_no_part_of_a_plan(changed: dict[str, Any]) -> None:
    assert plan(settings()).plan_id == plan(settings(judge={**HERE, **changed})).plan_id


@pytest.mark.parametrize("changed", [{"temperature": 0.0}, {"model": "large"}, {"extra_body": {"top_k": 1}}, {"base_url": "http://127.0.0.1:2/v1"}])
def test_what_decides_a_reply_is_part_of_a_plan(changed: dict[str, Any]) -> None:
    assert plan(settings()).plan_id != plan(settings(judge={**HERE, **changed})).plan_id


@pytest.mark.parametrize("run", [{"mode": "live"}, {"budget_calls": 3}, {"budget_tokens": 10}])
def test_neither_mode_nor_budget_is_part_of_a_plan(run: dict[str, Any]) -> None:
    assert plan(settings()).plan_id == plan(settings(run)).plan_id


def test_who_answers_stands_for_the_address_where_it_is_named() -> None:
    one, other = ({**HERE, "identity": "gateway", "base_url": f"http://127.0.0.1:{port}/v1"} for port in (1, 2))
    assert plan(settings(judge=one)).plan_id == plan(settings(judge=other)).plan_id


# ---------------------------------------------------------------- problems


def test_nothing_is_ever_chosen_implicitly() -> None:
    made = from_mapping({"models": {"judge": HERE}}, Path.cwd(), environ={})
    (problem,) = problems(made)
    assert (problem.code, problem.message) == ("no_judge", "llm_faithfulness, llm_answer_relevance ask a judge, and none is named")
    assert problem.hint == 'write judge = "judge" under [run]; there are: judge'


def test_without_any_model_the_table_is_named_too() -> None:
    (problem,) = problems(from_mapping({}, Path.cwd(), environ={}), "embed_answer_similarity")
    assert problem.code == "no_embedding"
    assert problem.hint == 'write embedding = "NAME" under [run]; and a table [embeddings.NAME] with provider = "…" and model = "…"'


def test_a_selection_by_category_is_told_how_to_do_without() -> None:
    made = from_mapping({"models": {"judge": HERE}}, Path.cwd(), environ={})
    found = next(problem for problem in problems(made, "category:rag & faithfulness") if problem.code == "no_judge")
    assert '"category:… & !llm-based"' in found.hint


def test_absent_keys_are_named_with_their_variable_and_their_place(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-planted\n")
    keyed = {**HERE, "api_key_env": "JUDGE_KEY", "headers_env": {"X-Key": "GATE_KEY"}}
    found = problems(settings(judge=keyed))
    assert [(problem.code, problem.message) for problem in found] == [
        ("missing_variable", "the variable JUDGE_KEY (api_key_env) is not set"),
        ("missing_variable", "the variable GATE_KEY (headers_env, X-Key) is not set"),
    ]
    assert "[models.judge] api_key_env" in found[0].where
    assert problems(settings(judge=keyed), environ={"JUDGE_KEY_FILE": str(tmp_path / "key"), "GATE_KEY": "x"}) == []
    (problem,) = problems(settings(judge=keyed), environ={"JUDGE_KEY_FILE": str(tmp_path / "none"), "GATE_KEY": "x"})
    assert problem.code == "unreadable_variable"


def test_an_empty_key_is_none() -> None:
    (problem,) = problems(settings(judge={**HERE, "api_key_env": "JUDGE_KEY"}), environ={"JUDGE_KEY": ""})
    assert problem.code == "missing_variable"


def test_a_replay_needs_no_key_and_no_file() -> None:
    keyed = {**HERE, "api_key_env": "JUDGE_KEY", "ca_file": "nowhere.pem"}
    assert problems(settings({"mode": "replay"}, judge=keyed)) == []


def test_a_run_of_code_needs_no_key_whatever_the_config_names() -> None:
    made = plan(settings(judge={**HERE, "api_key_env": "JUDGE_KEY"}), "code_token_f1")
    assert made.ok
    assert not made.asks


def test_a_key_that_no_variable_is_named_for() -> None:
    (problem,) = problems(settings(judge={"provider": "openai", "model": "mini"}))
    assert (problem.code, problem.hint) == ("missing_key", 'write api_key_env = "OPENAI_API_KEY"')


def test_certificates_that_are_not_there_or_are_none(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    secure = {**HERE, "base_url": "https://127.0.0.1:1/v1"}
    (missing,) = problems(settings(judge={**secure, "ca_file": "nowhere.pem"}))
    assert (missing.code, missing.message) == ("no_such_file", "there is no file 'nowhere.pem'")
    (wrong,) = problems(settings(judge={**secure, "ca_file": str(tmp_path / "ca.pem")}))
    assert "[models.judge] ca_file" in wrong.where


def test_providers_that_nobody_brings() -> None:
    (problem,) = problems(settings(judge={**HERE, "provider": "opnai"}))
    assert (problem.code, problem.hint) == ("unknown_provider", "did you mean openai?")


def test_a_budget_in_usd_needs_a_price() -> None:
    (problem,) = problems(settings({"budget_usd": 1.0}))
    assert problem.code == "unpriced_model"
    assert "budget_calls or budget_tokens" in problem.hint
    assert problems(settings({"budget_usd": 1.0}, judge={**HERE, "price": {"input": 0.0, "output": 0.0}})) == []
    assert problems(settings({"budget_calls": 10})) == []


def test_a_judge_of_typed_questions_cannot_write() -> None:
    typed = {"provider": "systemone", "model": "s1", "base_url": "http://127.0.0.1:1"}
    (problem,) = problems(settings(judge=typed))
    assert (problem.code, problem.message) == (
        "cannot_ask", "systemone answers typed questions and writes no texts; llm_faithfulness needs claims to be extracted",
    )  # fmt: skip
    assert problems(settings(judge=typed), "llm_answer_relevance") == []
    (problem,) = problems(settings({"ask": "together"}, judge=typed), "llm_answer_relevance")
    assert problem.hint == 'write ask = "separately"'


def test_a_judge_of_typed_questions_gives_no_reasons() -> None:
    typed = {"provider": "systemone", "model": "s1", "base_url": "http://127.0.0.1:1"}
    (problem,) = problems(settings({"explain": "failed"}, judge=typed), "llm_answer_relevance", "code_token_f1")
    assert (problem.code, problem.message, problem.hint) == (
        "cannot_ask", "systemone answers typed questions and writes no texts; llm_answer_relevance would be without reasons", 'write explain = "off"',
    )  # fmt: skip
    both = settings({"explain": "all", "judge": ["judge", "typed"]}, judge=HERE, typed=typed)
    assert problems(both, "llm_answer_relevance") == []  # reasons are the first judge's


def test_reasons_are_no_part_of_a_signature() -> None:
    assert {signature(settings({"explain": explain})) for explain in ("off", "failed", "all")} == {signature(settings())}


def test_nobody_judges_their_own_family_unless_that_is_said() -> None:
    own = {**HERE, "model": "acme/gpt-5.4-mini"}
    (problem,) = problems(settings({"subject_family": "GPT"}, judge=own))
    assert problem.code == "self_judging"
    assert problems(settings({"subject_family": "gpt", "allow_self_judging": True}, judge=own)) == []
    assert problems(settings({"subject_family": "gpt"}, judge={**own, "family": "house"})) == []
    assert problems(settings({"subject_family": "claude"}, judge=own)) == []


def test_everything_that_is_wrong_is_told_at_once() -> None:
    made = settings({"budget_usd": 1.0, "subject_family": "mini"}, judge={**HERE, "api_key_env": "JUDGE_KEY", "ca_file": "nowhere.pem"})
    assert [problem.code for problem in problems(made, "llm_answer_relevance", "embed_answer_similarity")] == [
        "no_embedding", "missing_variable", "no_such_file", "unpriced_model", "self_judging",
    ]  # fmt: skip
