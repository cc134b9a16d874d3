"""What a plan says it will ask: counted by hand on rows of known shape."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from measurand.config import from_mapping
from measurand.core.errors import CellError
from measurand.core.metric import metric
from measurand.core.request import Ask, Embed, Embedder, Judge, Prefer, Steps, Verdict, Write
from measurand.core.taxonomy import MetricCategory
from measurand.judge import Row, Ways, asked, probe, together
from measurand.judge.explain import REASON_TOKENS, explain
from measurand.report.plan_text import plan_lines
from measurand.run.cost import Spent, _Line
from measurand.run.known import ENOUGH
from measurand.run.plan import Plan, RunOptions, make_plan
from measurand.run.record import Ledger, NewCall, request_json
from measurand.run.sample import MOST, Sizes
from measurand.run.store import open_store
from measurand.runtime.tokens import estimate, estimate_request

from .planning import known  # noqa: TID252  # tests are imported by path, there is no package to name
from .recording import a_call, a_run, within  # noqa: TID252  # the same

FOUR_PASSAGES = ["Refunds take five days.", "Shipping is free from 50 euros.", "Refunds go to the card.", "The shop opens at nine."]
ROW: dict[str, Any] = {
    "id": "r",
    "input": "How long do refunds take?",
    "output": "Refunds take five days. They are free.",
    "expected": "Five days. To the card that was charged.",
    "contexts": FOUR_PASSAGES,
}
JUDGE = {"provider": "openai", "model": "mini", "base_url": "http://127.0.0.1:1/v1", "p": "sampled"}
"""Sampled: so that nothing is to be found out first, and no call is planned for that."""
EMBED = {"provider": "openai", "model": "e5", "base_url": "http://127.0.0.1:1/v1"}


def rows(n: int, **more: Any) -> list[dict[str, Any]]:
    """Rows that differ in what was asked and answered."""
    return [
        {**ROW, "id": str(at), "input": f"How long do refunds of order {at} take?", "output": f"Refund {at} takes five days. It is free.", **more}
        for at in range(n)
    ]


def plan(
    data: Sequence[Mapping[str, Any]],
    *metrics: str,
    run: Mapping[str, Any] | None = None,
    models: Mapping[str, Any] | None = None,
    store: str = "sqlite:///nowhere.db",
) -> Plan:
    tables = {"models": models or {"judge": JUDGE}, "embeddings": {"e": EMBED}, "run": {"judge": "judge", "embedding": "e", **(run or {})}}
    made = make_plan(from_mapping(tables, Path.cwd(), environ={}), RunOptions(data=list(data), metrics=metrics, store=store), environ={})
    assert made.ok, made.problems
    return made


def calls(made: Plan) -> list[int]:
    return [one.forecast.calls for one in made.metrics]


# ---------------------------------------------------------------- calls


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("llm_faithfulness", 2),
        ("llm_hallucination", 2),
        ("llm_answer_relevance", 1),
        ("llm_context_precision", 1),
        ("llm_context_recall", 1),
        ("llm_agent_goal", 1),
        ("llm_task_completion", 1),
        ("embed_answer_similarity", 1),
        ("code_token_f1", 0),
    ],
)
def test_calls_of_a_row_with_four_passages(name: str, number: int) -> None:
    assert calls(plan([ROW], name)) == [number]


def test_a_request_that_two_metrics_make_is_charged_to_the_first() -> None:
    made = plan(rows(3), "llm_faithfulness", "llm_hallucination")
    assert calls(made) == [6, 0]
    assert made.metrics[1].forecast.input_tokens == 0
    assert made.metrics[1].forecast.cost_usd is None or made.metrics[1].forecast.cost_usd == 0


def test_rows_that_are_alike_ask_once() -> None:
    assert calls(plan([{**ROW, "id": str(at)} for at in range(5)], "llm_faithfulness")) == [2]


def test_draws_repeat_questions_and_not_the_claims() -> None:
    assert calls(plan([ROW], "llm_faithfulness", run={"draws": 5})) == [6]


def test_every_judge_of_a_panel_is_asked() -> None:
    made = plan([ROW], "llm_faithfulness", run={"judge": ["a", "b"]}, models={"a": JUDGE, "b": {**JUDGE, "model": "large"}})
    assert calls(made) == [3]  # the claims are the first judge's, so that both judge the same


def test_what_nobody_is_asked_costs_nothing() -> None:
    made = plan([{**ROW, "contexts": [], "output": ""}], "llm_faithfulness", "llm_answer_relevance", "llm_context_precision")
    assert calls(made) == [0, 0, 0]
    assert made.to_dict()["plan"]["totals"]["cost_usd"] == 0


def test_rows_that_lack_a_field_are_not_planned() -> None:
    made = plan([*rows(3), {"id": "x", "input": "q", "output": "o"}], "llm_context_precision", "llm_answer_relevance", run={"on_missing": "skip"})
    assert calls(made) == [3, 4]
    assert [one.applicable_rows for one in made.metrics] == [3, 4]


def test_together_takes_a_wave_for_each_step_and_class_of_visibility() -> None:
    names = ["llm_faithfulness", "llm_hallucination", "llm_answer_relevance", "llm_context_precision", "llm_context_recall"]
    made = plan(rows(4), *names, run={"ask": "together"})
    # Claims and relevance go first, and the two that see `expected`; then the claims are verified: three requests a row.
    assert sum(calls(made)) == 12
    assert made.cost.total.calls == 12
    apart = plan(rows(4), *names).cost.total
    assert apart.calls == 20
    assert made.cost.total.input_tokens < apart.input_tokens


def test_the_tokens_of_a_wave_are_those_of_its_requests() -> None:
    made = plan([ROW], "llm_answer_relevance", "llm_agent_goal", run={"ask": "together"})
    row = Row(ROW)
    wordings = [one.instance.metric.judged.wording(frozenset(ROW)) for one in made.metrics]
    # agent goal names `expected`: it goes by itself
    requests = [[Ask(wordings[0])], [Ask(wordings[1])]]
    assert made.cost.total.input_tokens == sum(estimate_request(together(one, row, draw=0).request) for one in requests)


# ---------------------------------------------------------------- tokens


def test_tokens_are_counted_on_the_very_requests_that_a_run_sends() -> None:
    made = plan([ROW], "llm_answer_relevance")
    question = Ask(made.metrics[0].instance.metric.judged.wording(frozenset(ROW)))
    (part,) = asked(question, Row(ROW), Ways("sampled", "sampled"), count=estimate).parts
    assert (made.cost.total.input_tokens, made.cost.total.output_tokens) == (estimate_request(part.request), part.output_tokens)


def test_usd_are_tokens_times_price_and_unknown_without_one() -> None:
    made = plan([ROW], "llm_answer_relevance", models={"judge": {**JUDGE, "price": {"input": 2.0, "output": 8.0}}})
    total = made.cost.total
    assert total.cost_usd == pytest.approx((2 * total.input_tokens + 8 * total.output_tokens) / 1e6)
    assert plan([ROW], "llm_answer_relevance").to_dict()["plan"]["totals"]["cost_usd"] is None
    assert plan([ROW], "llm_answer_relevance", "code_token_f1").metrics[1].forecast.cost_usd == 0


def test_a_model_that_is_not_probed_is_probed_once_and_planned_the_dearer_way() -> None:
    unknown = {**JUDGE, "p": "auto"}
    made = plan(rows(3), "llm_answer_relevance", "llm_faithfulness", models={"judge": unknown})
    assert calls(made) == [4, 6]
    assert made.cost.probed == {"judge": ""}
    exchange = probe()
    either = [plan(rows(3), "llm_answer_relevance", "llm_faithfulness", models={"judge": {**JUDGE, "p": way}}).cost.total for way in ("sampled", "logprobs")]
    assert made.cost.total.input_tokens >= either[0].input_tokens + estimate_request(exchange.request)


def test_a_row_that_does_not_fit_is_planned_in_chunks() -> None:
    long = {**ROW, "contexts": [f"Refund {at} is paid within five days of the request. " * 8 for at in range(6)]}
    whole = plan([long], "llm_context_precision")
    cut = plan([long], "llm_context_precision", models={"judge": {**JUDGE, "max_input_tokens": 500}})
    assert calls(whole) == [1]
    assert 1 < cut.cost.total.calls <= 6
    none = plan([long], "llm_context_precision", models={"judge": {**JUDGE, "max_input_tokens": 100}})
    assert calls(none) == [0]
    assert none.cost.unasked["llm_context_precision"][0] == 1


# ---------------------------------------------------------------- reasons


def reasons(made: Plan) -> list[tuple[int, int]]:
    return [(one.reasons.calls, one.reasons.calls_min) for one in made.metrics]


def test_a_reason_is_one_request_more_for_each_row() -> None:
    made = plan(rows(3), "llm_faithfulness", "llm_answer_relevance", "code_token_f1", run={"explain": "all"})
    assert (calls(made), reasons(made)) == ([6, 3, 0], [(3, 3), (3, 3), (0, 0)])
    assert made.cost.total.calls == 15
    assert calls(plan(rows(3), "llm_faithfulness", run={"explain": "off"})) == [6]


def test_the_tokens_of_a_reason_are_those_of_its_request() -> None:
    made = plan([ROW], "llm_answer_relevance", run={"explain": "all"})
    question = Ask(made.metrics[0].instance.metric.judged.wording(frozenset(ROW)))
    sent = {estimate_request(explain(question, Verdict.yes(p), Row(ROW)).request) for p in (0.0, 1.0)}
    assert made.metrics[0].reasons.input_tokens in sent
    assert made.metrics[0].reasons.output_tokens == REASON_TOKENS


def test_reasons_are_asked_of_one_judge_once_whatever_the_draws() -> None:
    made = plan([ROW], "llm_answer_relevance", run={"judge": ["a", "b"], "draws": 3, "explain": "all"}, models={"a": JUDGE, "b": {**JUDGE, "model": "large"}})
    assert (calls(made), reasons(made)) == ([6], [(1, 1)])


def test_what_is_not_scored_is_not_explained() -> None:
    made = plan([{**ROW, "contexts": []}, *rows(2)], "llm_context_precision", run={"explain": "all"})
    assert (calls(made), reasons(made)) == ([2], [(2, 2)])


def test_every_row_may_fail_and_none_where_there_is_a_threshold() -> None:
    made = plan(rows(3), "llm_answer_relevance", "llm_faithfulness", run={"explain": "failed"})  # the second has none
    assert reasons(made) == [(3, 0), (0, 0)]
    assert made.to_dict()["plan"]["metrics"][0]["calls"] == 6
    assert (made.cost.total.calls, made.cost.total.calls_min) == (12, 9)


# ---------------------------------------------------------------- what the server counted before


def counted(number: int, times: float, **changes: Any) -> NewCall:
    """A recorded call of which the server counted so many times the tokens that are estimated."""
    (part,) = asked(Ask("Is `output` polite?"), Row({"output": f"Refund {number} is on its way."}), Ways("sampled", "sampled"), count=estimate).parts
    usage = {"input_tokens": round(times * estimate_request(part.request)), **changes.pop("usage", {})}
    return a_call(**{"model": "mini", "request": request_json(part.request), "usage": usage, **changes})


def record(folder: Path, *calls: NewCall) -> str:
    """The URL of a store that holds the calls, recorded in this order."""
    url = f"sqlite:///{folder}/calls.db"
    with open_store(url) as store, Ledger(store, a_run(store)) as ledger:

        async def work() -> None:
            assert not any(await asyncio.gather(*(ledger.claim(f"key {number}") for number in range(len(calls)))))
            await asyncio.gather(*(ledger.record(f"key {number}", call) for number, call in enumerate(calls)))

        within(20, work)
    return url


PRICED = {"judge": {**JUDGE, "price": {"input": 2.0, "output": 8.0}}}


@pytest.mark.parametrize(("calls", "times"), [(ENOUGH - 1, 1), (ENOUGH, 3)])
def test_estimates_follow_what_the_server_counted_from_twenty_calls_on(tmp_path: Path, calls: int, times: int) -> None:
    url = record(tmp_path, *(counted(number, 3) for number in range(calls)))
    before, after = plan([ROW], "llm_answer_relevance", models=PRICED), plan([ROW], "llm_answer_relevance", models=PRICED, store=url)
    assert after.cost.total.input_tokens == times * before.cost.total.input_tokens
    assert after.cost.total.output_tokens == before.cost.total.output_tokens
    added = 2.0 * (after.cost.total.input_tokens - before.cost.total.input_tokens) / 1e6
    assert after.cost.total.cost_usd == pytest.approx((before.cost.total.cost_usd or 0) + added)
    assert (after.plan_id, after.cost.total.calls) == (before.plan_id, before.cost.total.calls)
    told = [line for line in plan_lines(after, ()) if "counted" in line]
    assert told == (["tokens as this server counted them before: × 3.00"] if times == 3 else [])


@pytest.mark.parametrize(
    "changes",
    [{"status": "unreadable"}, {"kind": "embedding"}, {"usage": {"reported": False}}, {"usage": {"calls": 0}}, {"request": None}],
)
def test_calls_that_say_nothing_of_a_request_do_not_count(tmp_path: Path, changes: dict[str, Any]) -> None:
    url = record(tmp_path, *(counted(number, 3, **changes) for number in range(2 * ENOUGH)))
    assert plan([ROW], "llm_answer_relevance", store=url).cost.corrected == {}


def test_calls_of_another_model_and_from_elsewhere_do_not_count(tmp_path: Path) -> None:
    url = record(tmp_path, *(counted(number, 3, model="large") for number in range(ENOUGH)))
    with open_store(url) as store:
        store.import_calls([(f"imported {number}", counted(number, 3)) for number in range(ENOUGH)])
    assert plan([ROW], "llm_answer_relevance", store=url).cost.corrected == {}
    models = {"judge": JUDGE, "large": {**JUDGE, "model": "large"}}
    both = plan([ROW], "llm_answer_relevance", run={"judge": ["judge", "large"]}, models=models, store=url)
    assert both.cost.corrected == {"large": pytest.approx(3, rel=0.02)}
    assert "tokens of large as this server counted them before: × 3.00" in plan_lines(both, ())


def test_the_newest_calls_count(tmp_path: Path) -> None:
    old = [counted(number, 9) for number in range(50)]
    url = record(tmp_path, *old, *(counted(number, 2) for number in range(100)))
    assert plan([ROW], "llm_answer_relevance", store=url).cost.corrected == {"judge": pytest.approx(2)}


def test_of_questions_that_went_together_a_share_of_what_was_sent_counts(tmp_path: Path) -> None:
    row = Row(ROW)
    sent = together([Ask("Is `output` polite?"), Ask("Is `output` short?")], row, draw=0).request
    share = {"input_tokens": round(1.5 * estimate_request(sent) / 2)}
    parts = []
    for number in range(ENOUGH):
        first, second = counted(number, 1, usage=share), counted(number, 1, usage={**share, "calls": 0})
        parts += [evolve(first, request={**(first.request or {}), "sent": request_json(sent)}), second]
    assert plan([ROW], "llm_answer_relevance", store=record(tmp_path, *parts)).cost.corrected == {"judge": pytest.approx(1.5, rel=0.01)}


# ---------------------------------------------------------------- other generators


@metric("test.asks_more_when_yes", categories=MetricCategory.Relevance)
def asks_more_when_yes(output: str) -> Steps[Judge, float]:
    """Asks a second question only where the first is answered with yes."""
    first: Verdict = yield Ask("Is `output` polite?")
    if first.value and first.value > 0.5:
        yield Ask("Is `output` friendly?")
    return first.value


@metric("test.never_ends", categories=MetricCategory.Relevance)
def never_ends(output: str) -> Steps[Judge, float]:
    """Asks on and on."""
    number = 0
    while True:
        number += 1
        yield Ask(f"Is `output` the number {number}?")


@metric("test.everything", categories=MetricCategory.Relevance)
def everything(output: str) -> Steps[Judge | Embedder, float]:
    """One request of each of the other kinds."""
    texts = yield Write("Write two questions that `output` answers.", 2)
    yield Prefer(output, texts[0], "Which is shorter?")
    yield Embed([output, *texts])
    return 1.0


@metric("test.fails", categories=MetricCategory.Relevance)
def fails(output: str) -> Steps[Judge, float]:
    """Fails after its first answer."""
    yield Ask("Is `output` polite?")
    raise CellError("no")


def test_the_dearer_of_both_verdicts_is_planned_and_the_cheaper_one_told() -> None:
    with known(asks_more_when_yes):
        made = plan(rows(2), "test.asks_more_when_yes")
    one = made.to_dict()["plan"]["metrics"][0]
    assert (one["calls"], one["calls_min"]) == (4, 2)


def test_a_generator_without_end_is_left_at_last() -> None:
    with known(never_ends):
        assert 0 < plan([ROW], "test.never_ends").cost.total.calls <= 1_000


def test_a_metric_that_fails_is_planned_up_to_there() -> None:
    with known(fails):
        assert calls(plan([ROW], "test.fails")) == [1]


def test_texts_are_written_once_compared_in_both_orders_and_embedded_in_one_request() -> None:
    with known(everything):
        made = plan([ROW], "test.everything")
    assert calls(made) == [1 + 2 + 1]


def test_texts_embedded_before_are_not_embedded_again() -> None:
    same = plan(rows(4, output=ROW["output"]), "embed_answer_similarity")  # the input is not embedded: four rows have the same two texts
    assert (same.cost.total.calls, same.cost.total.calls_min) == (1, 1)
    assert same.cost.total.input_tokens == estimate(ROW["output"]) + estimate(ROW["expected"])


def test_full_batches_are_the_least_there_can_be() -> None:
    made = plan([{**ROW, "id": str(at), "output": f"text {at}"} for at in range(200)], "embed_answer_similarity")
    assert made.cost.total.calls == 200
    assert made.cost.total.calls_min == 3  # 201 texts, at most 96 a request


# ---------------------------------------------------------------- from the sample to all rows


def test_more_rows_than_are_sampled_cost_in_proportion() -> None:
    some = plan(rows(MOST), "llm_faithfulness", "llm_answer_relevance").cost.total
    more = plan(rows(4 * MOST), "llm_faithfulness", "llm_answer_relevance").cost.total
    assert more.calls == 4 * some.calls
    assert more.input_tokens == pytest.approx(4 * some.input_tokens, rel=0.01)


def test_what_the_sample_missed_is_carried_over_by_characters() -> None:
    """A third of the rows is long, and no even sample of these 1 200 rows holds a long one in its proportion; all are counted for comparison."""
    data = rows(1_200)
    for at in range(1, 1_200, 4):
        data[at]["output"] *= 2  # at odd places, which the sample of every fourth row does not have
    for at in range(0, 1_200, 40):
        data[at]["output"] *= 6
    planned = plan(data, "llm_answer_relevance").cost.total.input_tokens
    counted = sum(plan(data[at : at + MOST], "llm_answer_relevance").cost.total.input_tokens for at in (0, MOST, 2 * MOST))
    assert planned == pytest.approx(counted, rel=0.02)


@given(st.lists(st.integers(0, 1_000), min_size=2, max_size=40), st.integers(0, 50), st.integers(0, 9), st.lists(st.integers(0, 5_000), max_size=40))
def test_a_cost_that_is_linear_in_characters_is_carried_over_exactly(sizes: list[int], fixed: int, rate: int, others: list[int]) -> None:
    line = _Line()
    for size in sizes:
        line.count(size)
        line.see(size, Spent(1, 1, fixed + rate * size, 2))
    every = Sizes(len(sizes) + len(others), sum(sizes) + sum(others))
    found = line.over(every)
    assert found.calls == pytest.approx(every.rows)
    assert found.output_tokens == pytest.approx(2 * every.rows)
    if len(set(sizes)) > 1:
        assert found.input_tokens == pytest.approx(fixed * every.rows + rate * every.characters, rel=1e-6, abs=1e-3)


def test_a_plan_is_made_in_less_than_three_seconds() -> None:
    names = [
        "llm_faithfulness", "llm_hallucination", "llm_answer_relevance", "llm_context_precision", "llm_context_recall", "llm_agent_goal", "llm_task_completion",
    ]  # fmt: skip
    data = rows(MOST, contexts=[f"{text} " * 15 for text in FOUR_PASSAGES])
    began = time.process_time()
    made = plan(data, *names)
    assert time.process_time() - began < 3
    assert made.cost.total.calls == MOST * 7
