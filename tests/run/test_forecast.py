"""Minutes, destinations and prices of a plan, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from measurand.config import EmbeddingSettings, ModelSettings, from_mapping
from measurand.run.bind import BoundModel
from measurand.run.cost import Expected, Spent
from measurand.run.forecast import LATENCY_S, Forecast, _time, total
from measurand.run.plan import Plan, RunOptions, make_plan

ROW = {"id": "a", "input": "q", "output": "One. Two.", "expected": "One.", "contexts": ["c"], "lang": "en"}
JUDGE: dict[str, Any] = {"provider": "openai", "model": "mini", "base_url": "https://user-none.example:8443/v1", "p": "sampled"}


def model(**changed: Any) -> BoundModel:
    return BoundModel("judge", ModelSettings(**{**JUDGE, **changed}), None)


def seconds(one: BoundModel, calls: int, tokens: int = 0, **latency: float) -> float:
    return _time(one, [Expected(0, one, Spent(calls, calls, tokens, 0))], latency)[0]


@pytest.mark.parametrize(
    ("settings", "calls", "tokens", "wanted"),
    [
        ({"max_concurrency": 16}, 160, 0, 160 * LATENCY_S / 16),
        ({"max_concurrency": 16}, 4, 0, LATENCY_S),  # four at once, not sixteen
        ({"requests_per_minute": 60}, 600, 0, 9 * 60),  # the first minute's are there at once
        ({"tokens_per_minute": 1_000}, 10, 5_000, 4 * 60),
        ({"requests_per_minute": 1_000}, 160, 0, 20.0),
    ],
)
def test_minutes_are_bounded_by_concurrency_and_by_both_limits(settings: dict[str, Any], calls: int, tokens: int, wanted: float) -> None:
    assert seconds(model(**settings), calls, tokens) == pytest.approx(wanted)


def test_the_recorded_time_of_a_call_stands_for_the_guess() -> None:
    one = model(max_concurrency=1)
    assert seconds(one, 10, mini=0.3) == pytest.approx(3)
    assert _time(one, [], {"mini": 0.3})[2] is None
    assert _time(one, [], {})[2] == LATENCY_S


def test_an_encoder_on_this_machine_works_alone() -> None:
    local = BoundModel("e", EmbeddingSettings(provider="local", model="use-multilingual"), None)
    assert seconds(local, 50) == pytest.approx(5)


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    assert total([Forecast(1, 1, 10, 1, 0.25), Forecast(2, 1, 20, 2, 0.5)]) == Forecast(3, 2, 30, 3, 0.75)
    assert total([Forecast(1, 1, 10, 1, 0.1), Forecast(2, 1, 20, 2, None)]).cost_usd is None
    assert total([]) == Forecast()


def plan(metrics: tuple[str, ...], run: Mapping[str, Any] | None = None, **models: Mapping[str, Any]) -> Plan:
    tables = {"models": models or {"judge": JUDGE}, "embeddings": {"e": {"provider": "local", "model": "use-multilingual"}}}
    made = from_mapping({**tables, "run": {"judge": "judge", "embedding": "e", **(run or {})}}, Path.cwd(), environ={})
    return make_plan(made, RunOptions(data=[ROW], metrics=metrics, store="sqlite:///nowhere.db"), environ={})


def test_every_host_is_told_with_what_goes_there() -> None:
    panel = {"a": JUDGE, "b": {**JUDGE, "model": "large"}, "c": {**JUDGE, "base_url": "http://127.0.0.1:9/v1"}}
    made = plan(("llm_answer_relevance", "llm_faithfulness", "code_token_f1", "embed_answer_similarity"), {"judge": ["a", "b", "c"]}, **panel)
    assert [one.to_dict() for one in made.cost.destinations] == [
        {
            "host": "user-none.example:8443",
            "models": ["mini", "large"],
            "metrics": ["llm_answer_relevance", "llm_faithfulness"],
            "fields": ["input", "output", "contexts"],
            "rows": 1,
        },
        {
            "host": "127.0.0.1:9",
            "models": ["mini"],
            "metrics": ["llm_answer_relevance", "llm_faithfulness"],
            "fields": ["input", "output", "contexts"],
            "rows": 1,
        },
    ]


def test_what_stays_on_this_machine_has_no_destination() -> None:
    made = plan(("embed_answer_similarity",))
    assert made.cost.destinations == ()
    assert made.cost.total.cost_usd == 0


def test_a_replay_goes_nowhere_and_takes_no_time() -> None:
    made = plan(("llm_answer_relevance",), {"mode": "replay"})
    assert made.cost.destinations == ()
    assert made.cost.minutes == 0
    assert made.cost.total.calls == 1
