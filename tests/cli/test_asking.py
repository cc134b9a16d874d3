"""`metrics check` and `metrics run` where metrics ask a judge: what is said before anything is paid, and what it came to, against a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.mock import MockServer

from .here import Here, valid  # noqa: TID252  # tests are imported by path, there is no package to name

NAMES = ("llm_faithfulness", "llm_hallucination", "llm_answer_relevance", "llm_context_precision", "llm_context_recall")


def row(number: int) -> dict[str, Any]:
    """A row that is like no other."""
    passages = [f"Refund {number} is paid within {days} days of the request, whatever the reason was. " * 4 for days in range(2, 6)]
    return {
        "id": f"r{number}",
        "input": f"How long does refund {number} take, and is there a fee?",
        "output": f"Refund {number} takes five days. There is no fee for it. It goes to the card that was charged.",
        "expected": f"Refund {number} takes five days. It is free.",
        "contexts": passages,
    }


def config(mock: MockServer, *, model: str = "", run: str = "", metrics: tuple[str, ...] = NAMES) -> str:
    return f"""
project = "p"
[data]
path = "rows.jsonl"
[models.judge]
provider = "openai"
model = "mini"
base_url = "{mock.base_url}"
api_key_env = "JUDGE_KEY"
{model}
[run]
judge = "judge"
metrics = {json.dumps(metrics)}
{run}
"""


PRICED = "price = { input = 250.0, output = 2000.0 }"


@pytest.fixture
def mock() -> Iterator[MockServer]:
    with MockServer() as server:
        yield server


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    made = Here(tmp_path, monkeypatch, capsys)
    made.rows("rows.jsonl", [row(number) for number in range(12)])
    monkeypatch.setenv("JUDGE_KEY", "sk-planted-0123456789")
    return made


def test_what_a_run_will_ask_and_cost_is_told_and_nothing_is_sent(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, model=PRICED))
    ran = here("check")
    assert (ran.code, ran.err, mock.log) == (0, "", [])
    lines = ran.out.splitlines()
    assert lines[0] == "12 rows, 5 metrics, judge mini"
    assert lines[2].split() == ["METRIC", "ROWS", "CALLS", "TOKENS", "IN", "USD"]
    assert [line.split()[:3] for line in lines[3:8]] == [[name, "12", calls] for name, calls in zip(NAMES, ("25", "0", "12", "12", "12"), strict=True)]
    assert lines[8].split()[:2] == ["total", "61"]
    said = " ".join(line.strip() for line in lines)
    assert f"sends input, output, expected, contexts of 12 rows to {mock.base_url.split('/')[2]} (judge)" in said
    assert "p: not probed yet" in said
    assert "2 s a call, no call to the model is recorded yet" in said
    assert "--budget " in said
    assert max(map(len, lines)) <= 80
    assert not (here.folder / ".metrics").exists()


def test_the_document_of_a_plan(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, model=PRICED))
    document = valid(here("check", "--json").document, "check")
    plan = document["plan"]
    assert plan["destinations"] == [
        {"host": mock.base_url.split("/")[2], "models": ["mini"], "metrics": list(NAMES), "fields": ["input", "output", "expected", "contexts"], "rows": 12}
    ]
    for key in ("calls", "calls_min", "input_tokens", "output_tokens"):
        assert plan["totals"][key] == sum(one[key] for one in plan["metrics"])
    assert plan["totals"]["cost_usd"] == pytest.approx((250 * plan["totals"]["input_tokens"] + 2000 * plan["totals"]["output_tokens"]) / 1e6)
    assert plan["totals"]["minutes"] == pytest.approx(61 * 2 / 16 / 60)
    assert [one["judges"] for one in plan["metrics"]] == [["judge"]] * 5


@pytest.mark.parametrize("ask", ["separately", "together"])
@pytest.mark.parametrize("p", ["auto", "sampled"])
def test_what_was_planned_is_what_the_server_counts(here: Here, mock: MockServer, ask: str, p: str) -> None:
    here.text("metrics.toml", config(mock, model=f'{PRICED}\np = "{p}"', run=f'ask = "{ask}"'))
    first = here("check", "--json").document
    ran = here("run", "--json", "--no-progress")
    assert ran.code == 0, ran.out
    stats = mock.stats()
    planned = here("check", "--json").document  # now that the probe is recorded
    assert planned["plan_id"] == first["plan_id"]
    assert planned["plan"]["totals"]["calls"] == stats["calls"]["chat"] == len(mock.log)
    assert planned["plan"]["totals"]["input_tokens"] == pytest.approx(stats["prompt_tokens"], rel=0.15)
    assert first["plan"]["totals"]["input_tokens"] >= 0.95 * planned["plan"]["totals"]["input_tokens"]  # corrected by what was counted since
    usage = valid(ran.document, "run")["usage"]
    assert (usage["calls"], usage["cached_calls"], usage["input_tokens"]) == (stats["calls"]["chat"], 0, stats["prompt_tokens"])
    assert usage["cost_usd"] == pytest.approx((250 * stats["prompt_tokens"] + 2000 * stats["completion_tokens"]) / 1e6)


def test_what_a_run_came_to(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, model=f'{PRICED}\nnote = "a mock, whose verdicts mean nothing"'))
    ran = here("run", "--no-progress")
    assert ran.code == 0, ran.out
    lines = [line.strip() for line in ran.out.splitlines()]
    costs = {line.split()[0]: line.split()[-1] for line in lines if line.startswith("llm_") and ":" not in line.split()[0]}
    assert float(costs["llm_faithfulness"]) > float(costs["llm_answer_relevance"]) > 0
    assert costs["llm_hallucination"] == "0"
    assert any(line.startswith("llm_faithfulness: ") for line in lines)
    said = " ".join(lines)
    assert said.count("p by logprobs") == 5
    assert "reused 0, asked 61 · " in said
    assert "paid $" in said
    assert "mini: a mock, whose verdicts mean nothing" in said
    again = " ".join(line.strip() for line in here("run", "--name", "again", "--no-progress").out.splitlines())
    assert "reused 61, asked 0 · " in again
    assert "paid $0" in again
    assert len(mock.log) == 61


def test_the_share_of_the_prefix_cache_is_told_where_it_is_used(here: Here, mock: MockServer) -> None:
    mock.configure(usage="details")
    here.text("metrics.toml", config(mock, model="prefix_cache = true", metrics=("llm_answer_relevance", "llm_context_precision")))
    said = " ".join(line.strip() for line in here("run", "--no-progress").out.splitlines())
    assert "% of the tokens sent came from the server's cache" in said


def test_a_server_that_counts_no_tokens_is_told(here: Here, mock: MockServer) -> None:
    mock.configure(usage="absent")
    here.text("metrics.toml", config(mock, metrics=("llm_answer_relevance",)))
    said = " ".join(line.strip() for line in here("run", "--no-progress").out.splitlines())
    assert "the tokens of 13 calls are estimates, the server reports none" in said


def test_once_calls_are_recorded_the_time_is_no_guess(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, metrics=("llm_answer_relevance",)))
    here("run", "--no-progress")
    said = here("check").out
    assert "the time is a guess" not in said
    assert "p: by logprobs" in said


def test_what_is_recorded_already_is_told_with_what_the_rest_costs(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, model=PRICED))
    here("run", "--no-progress")
    assert "what judges are asked is recorded already" in here("check").out
    here.rows("rows.jsonl", [row(number) for number in range(16)])
    said = " ".join(line.strip() for line in here("check").out.splitlines())
    assert "about 75 % of what judges are asked is recorded already; the rest costs about $" in said
    assert "recorded already" not in here("check", "--set", "models.judge.temperature=0.5").out
    assert "recorded already" not in here("check", "--mode", "live").out


def test_another_selection_asked_together_cannot_use_what_is_recorded(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, run='ask = "together"'))
    run_id = here("run", "--json", "--no-progress").document["run_id"]
    assert "with other questions" not in here("check").out
    here.text("metrics.toml", config(mock, run='ask = "together"', metrics=(*NAMES[:2], NAMES[3], NAMES[4])))
    said = " ".join(line.strip() for line in here("check").out.splitlines())
    told = f"asked together with other questions than in run {run_id}, so that its answers cannot be used: "
    assert told + "llm_faithfulness, llm_hallucination sends" in said  # those that see a reference are asked as before


def test_a_probe_in_a_cassette_is_known_too(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, metrics=("llm_answer_relevance",)))
    here("run", "--no-progress")
    assert here("cache", "export", "calls.jsonl").code == 0
    here.text("metrics.toml", config(mock, metrics=("llm_answer_relevance",), run='store = "sqlite:///other.db"'))
    assert "p: not probed yet" in here("check").out
    assert "p: by logprobs" in here("check", "--cassette", "calls.jsonl").out
    asked = len(mock.log)
    replayed = here("run", "--mode", "replay", "--cassette", "calls.jsonl", "--no-progress")
    assert replayed.code == 0
    assert len(mock.log) == asked


def test_without_a_price_nothing_is_said_of_usd(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, metrics=("llm_answer_relevance", "code_token_f1")))
    assert here("check", "--json").document["plan"]["totals"]["cost_usd"] is None
    assert "--budget" not in here("check").out
    lines = here("run", "--no-progress").out.splitlines()
    assert [line.split()[-1] for line in lines[1:3]] == ["–", "0"]
    assert any("no price is known" in line for line in lines)


def test_a_judge_of_its_own_family_is_told_in_every_summary(here: Here, mock: MockServer) -> None:
    own = config(mock, metrics=("llm_answer_relevance",), run='subject_family = "mini"\nallow_self_judging = true')
    here.text("metrics.toml", own)
    here("run", "--no-progress")
    assert "mini judged its own family (mini): allow_self_judging" in here("runs", "latest").out


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": 'base_url2 = "x"'}, "unknown key base_url2"),
        ({"run": "budget_usd = 1.0"}, "the price of mini is not known"),
        ({"metrics": ("llm_faithfulnes",)}, "did you mean llm_faithfulness"),
        ({"metrics": ("llm_faithfulness", "embed_answer_similarity")}, "an embedding model, and none is named"),
    ],
)
def test_whatever_is_wrong_is_told_before_anything_is_sent(here: Here, mock: MockServer, change: dict[str, Any], told: str) -> None:
    here.text("metrics.toml", config(mock, **change))
    for command in ("check", "run"):
        ran = here(command)
        assert (ran.code, mock.log) == (2, [])
        assert told in ran.sentence
    assert not (here.folder / ".metrics").exists()


def test_an_absent_key_is_told_with_its_line(here: Here, mock: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    here.text("metrics.toml", config(mock))
    monkeypatch.delenv("JUDGE_KEY")
    ran = here("run")
    assert (ran.code, mock.log) == (2, [])
    assert ran.err.splitlines()[0] == "metrics.toml:9: [models.judge] api_key_env: the variable JUDGE_KEY (api_key_env) is not set"


def test_a_column_that_lacks_in_late_rows_is_told_before_anything_is_sent(here: Here, mock: MockServer) -> None:
    rows = [row(number) for number in range(30)]
    del rows[20]["contexts"]
    here.rows("rows.jsonl", rows)
    here.text("metrics.toml", config(mock))
    ran = here("run")
    assert (ran.code, mock.log) == (2, [])
    assert "llm_faithfulness needs contexts; 1 of 30 rows lack it (r20)" in ran.sentence


def test_the_operator_bounds_what_a_config_can_reach(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock))
    for bound in ({"METRICS_ALLOW_HOSTS": "api.openai.com"}, {"METRICS_ALLOW_KEYS": "OPENAI_API_KEY"}):
        ran = here("run", **bound)
        assert (ran.code, mock.log) == (2, [])
        assert "not_allowed" in {problem["code"] for problem in here("check", "--json", **bound).document["problems"]}
    inside = here("check", METRICS_ALLOW_HOSTS="127.0.0.1", METRICS_ALLOW_KEYS="JUDGE_KEY", METRICS_CONFINE="1")
    assert inside.code == 0
    assert "METRICS_ALLOW_HOSTS: requests go only to 127.0.0.1" in inside.out


def test_a_replay_of_nothing_sends_nothing(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock))
    ran = here("check", "--mode", "replay")
    assert ran.code == 0
    assert "replay: nothing is sent; every reply comes from the record" in ran.out
    assert here("check", "--mode", "replay", "--json").document["plan"]["destinations"] == []
    assert here("run", "--mode", "replay").code == 3
    assert mock.log == []


def test_a_cassette_that_is_not_there(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock))
    for command in ("check", "run"):
        ran = here(command, "--cassette", "nowhere.jsonl")
        assert ran.code == 2
        assert ran.err.startswith("--cassette: there is no file 'nowhere.jsonl'")


# ---------------------------------------------------------------- list


def test_prices_of_metrics_are_looked_up_where_they_are_asked_for(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, model=PRICED))
    plain = {one["name"]: one for one in here("list", "--method", "llm", "--json").document}
    assert {one["estimated_cost_usd"] for one in plain.values()} == {None}
    priced = {one["name"]: one for one in valid(here("list", "--method", "llm", "--json", "-c", "metrics.toml").document, "list")}
    assert {one["cost_model"] for one in priced.values()} == {"mini"}
    assert priced["llm_faithfulness"]["estimated_cost_usd"] == priced["llm_hallucination"]["estimated_cost_usd"]
    assert priced["llm_faithfulness"]["estimated_cost_usd"] > priced["llm_answer_relevance"]["estimated_cost_usd"] > 0
    assert mock.log == []


def test_max_cost_keeps_what_costs_no_more_and_drops_what_has_no_price(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, model=PRICED))
    costs = {one["name"]: one["estimated_cost_usd"] for one in here("list", "--json", "-c", "metrics.toml").document}
    most = costs["llm_answer_relevance"]
    kept = {one["name"] for one in here("list", "--json", "--max-cost", repr(most)).document}
    assert kept == {name for name, usd in costs.items() if usd is not None and usd <= most}
    assert "llm_faithfulness" not in kept
    here.text("metrics.toml", config(mock))
    assert here("list", "--method", "llm", "--max-cost", "1000", "--json").document == []


def test_the_table_shows_prices_without_exponents(here: Here, mock: MockServer) -> None:
    here.text("metrics.toml", config(mock, model="price = { input = 0.25, output = 2.0 }"))
    assert "llm_answer_relevance" in here("list", "--method", "llm", "-c", "metrics.toml").out
    assert "e-0" not in here("list", "--method", "llm", "-c", "metrics.toml").out
