"""What results and runs cost: charged once, to the first user, whatever finished first."""

from __future__ import annotations

import math
import random

import pytest

from measurand.core.errors import UsageError
from measurand.core.result import NO_USAGE, CallUsage
from measurand.run.record import OF_THE_RUN, Ledger
from measurand.run.results import stored_results
from measurand.run.store import CallTotals, ServedModel, Store

from .recording import a_call, a_run, recorded, rows, within  # noqa: TID252  # tests are imported by path, there is no package to name


def used(store: Store, uses: dict[str, list[tuple[int, int]]], run_id: str = "r", **usage: object) -> None:
    """Records a call for each key, in a random order, and says who uses it, in a random order."""
    order = list(uses)
    random.Random(7).shuffle(order)
    with Ledger(store, run_id) as ledger:
        for key in order:
            users = list(uses[key])
            random.Random(key).shuffle(users)
            recorded(ledger, (key, a_call(usage=usage), users[0]))
            for user in users[1:]:
                within(20, lambda key=key, user=user: ledger.use(key, user))  # type: ignore[misc]  # mypy does not infer lambdas with defaults


def test_a_call_is_charged_to_its_first_user(store: Store) -> None:
    used_by = {"claims": [(0, 0), (0, 1)], "verify": [(0, 0)], "own": [(0, 1)], "across": [(2, 0), (1, 1), (2, 1)]}
    a_run(store)
    used(store, used_by)
    run = rows(store.resolve("r"), store, 3)
    found = {(one.ordinal, one.metric): one.usage for one in run.results()}
    assert found == {
        (0, 0): CallUsage(2, 0, 20, 2, 1.0, 0.5),
        (0, 1): CallUsage(1, 1, 10, 1, 0.5, 0.25),
        (1, 0): NO_USAGE,
        (1, 1): CallUsage(1, 0, 10, 1, 0.5, 0.25),
        (2, 0): CallUsage(0, 1, 0, 0, 0.0, 0.0),
        (2, 1): CallUsage(0, 1, 0, 0, 0.0, 0.0),
    }
    assert run.call_totals() == CallTotals(calls=4, cached_calls=0, unreported_calls=0, input_tokens=40, output_tokens=4, cost_usd=2.0)
    assert run.usage_by_metric() == {0: CallUsage(2, 2 - 1, 20, 2, 1.0, 0.5), 1: CallUsage(2, 2, 20, 2, 1.0, 0.5)}
    assert run.cost_by_metric() == {0: 1.0, 1: 1.0}


@pytest.mark.slow
def test_the_results_add_up_to_the_run_whatever_is_shared(store: Store) -> None:
    draw = random.Random(11)
    cells = [(ordinal, metric) for ordinal in range(25) for metric in range(2)]
    uses = {f"k{i}": draw.sample(cells, draw.randint(1, 4)) for i in range(150)}
    uses["probe"] = [OF_THE_RUN]
    a_run(store)
    used(store, uses)
    run = rows(store.resolve("r"), store, 60)
    results = [one.usage for one in stored_results(run)]
    totals = run.call_totals()
    assert sum(one.calls for one in results) == totals.calls == 151
    assert sum(one.input_tokens for one in results) == totals.input_tokens
    assert sum(one.output_tokens for one in results) == totals.output_tokens
    assert math.isclose(math.fsum(one.cost_usd or 0 for one in results), totals.cost_usd or 0)
    assert sum(one.shared_calls for one in results) == sum(len(set(users)) for users in uses.values()) - 151
    by_metric = run.usage_by_metric()
    assert sum(one.calls for one in by_metric.values()) == totals.calls
    assert [one.usage for one in stored_results(run, metric="m1")] == results[1::2]
    assert [one.usage for one in stored_results(run, sample_id="id7")] == results[14:16]


def test_a_probe_is_charged_to_the_first_result_that_asked_its_model(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(
            ledger,
            ("p1", a_call(kind="probe"), OF_THE_RUN),
            ("p2", a_call(kind="probe", model="second"), OF_THE_RUN),
            ("p3", a_call(kind="probe", model="never asked"), OF_THE_RUN),
            ("a", a_call(model="second"), (0, 1)),
            ("b", a_call(), (1, 0)),
        )
    run = rows(store.resolve("r"), store, 2)
    assert [one.usage.calls for one in run.results()] == [0, 3, 2, 0]
    assert run.call_totals().calls == 5


def test_a_probe_of_a_run_without_results_is_in_its_totals(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(ledger, ("p", a_call(kind="probe"), OF_THE_RUN))
    run = store.resolve("r")
    assert run.usage_by_metric() == {-1: CallUsage(1, 0, 10, 1, 0.5, 0.25)}
    assert run.call_totals().calls == 1


def test_what_was_found_recorded_counts_as_cached_at_its_recorded_cost(store: Store) -> None:
    for run_id in ("r1", "r2"):
        a_run(store, run_id)
    used(store, {"k": [(0, 0)]}, "r1")
    with Ledger(store, "r2") as ledger:
        assert within(20, lambda: ledger.claim("k", (0, 0))) is not None
        recorded(ledger, ("l", a_call(), (0, 1)))
    first, second = (rows(store.resolve(run_id), store, 1) for run_id in ("r1", "r2"))
    assert second.call_totals() == CallTotals(calls=2, cached_calls=1, unreported_calls=0, input_tokens=20, output_tokens=2, cost_usd=1.0)
    assert second.paid_totals() == CallTotals(calls=1, cached_calls=0, unreported_calls=0, input_tokens=10, output_tokens=1, cost_usd=0.5)
    assert next(first.results()).usage == next(second.results()).usage


def test_an_unknown_price_is_not_zero_and_an_estimate_is_told(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(ledger, ("k", a_call(usage={"cost_usd": None, "reported": False}), (0, 0)), ("l", a_call(), (0, 1)))
    run = rows(store.resolve("r"), store, 1)
    assert [one.usage.cost_usd for one in run.results()] == [None, 0.5]
    assert run.cost_by_metric() == {0: None, 1: 0.5}
    assert (run.call_totals().cost_usd, run.call_totals().unreported_calls) == (None, 1)


def test_texts_of_one_embedding_request_are_one_call(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(ledger, *((f"k{i}", a_call(kind="embedding", usage={"calls": int(i == 0)}), (i, 0)) for i in range(5)))
    assert store.resolve("r").call_totals().calls == 1


def test_sums_do_not_depend_on_the_order_of_the_calls(store: Store) -> None:
    costs = [0.1, 0.2, 0.3, 1e-17, 1e16, -0.0, 0.7]
    sums = []
    for run_id, order in (("r1", costs), ("r2", costs[::-1])):
        a_run(store, run_id)
        with Ledger(store, run_id) as ledger:
            recorded(ledger, *((f"{run_id}{i}", a_call(usage={"cost_usd": cost}), (0, 0)) for i, cost in enumerate(order)))
        sums.append(next(rows(store.resolve(run_id), store, 1).results()).usage.cost_usd)
    assert sums[0] == sums[1]


def test_a_run_without_calls_costs_nothing(store: Store) -> None:
    a_run(store)
    run = rows(store.resolve("r"), store, 2)
    assert {one.usage for one in run.results()} == {NO_USAGE}
    assert run.call_totals() == CallTotals()
    assert run.usage_by_metric() == {}
    assert run.served_models() == []


def test_the_requests_of_a_row_are_in_the_order_they_were_made(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(ledger, ("b", a_call("first"), (0, 1)), ("a", a_call("second"), (0, 0)), ("c", a_call("another row"), (1, 0)))
        within(20, lambda: ledger.use("b", (0, 0)))
    run = rows(store.resolve("r"), store, 2)
    calls = run.calls("id0")
    assert [(one.key, one.reply and one.reply["text"], one.uses, one.paid) for one in calls] == [
        ("b", "first", ((0, 0), (0, 1)), True),
        ("a", "second", ((0, 0),), True),
    ]
    assert calls[0].request == {"messages": [{"role": "user", "content": "asked for first"}]}
    with pytest.raises(UsageError, match="has no row 'nope'"):
        run.calls("nope")


def test_models_that_answered_are_told_with_their_fingerprints(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        for i, fingerprint in enumerate(["a", "a", "b"]):
            recorded(ledger, (f"k{i}", a_call(served={"model": "judge-2026", "fingerprint": fingerprint}), (i, 0)))
        recorded(ledger, ("l", a_call(served=None), (3, 0)))
    assert store.resolve("r").served_models() == [ServedModel("judge", "judge-2026", "a", 2), ServedModel("judge", "judge-2026", "b", 1)]


def test_every_draw_is_kept_and_charged(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(ledger, *((f"draw{i}", a_call(f"reason {i}"), (0, 0)) for i in range(3)))
    writer, _ = store.continue_("r")
    draws = '[{"draw": 0, "values": [1]}, {"draw": 1, "values": [0]}, {"draw": 2, "values": [1]}]'
    writer.add([(0, "id0", "t", 0, None, "{}", None, None, None)], [(0, 0, 0, 0.5, f'{{"draws": {draws}}}')])
    run = store.resolve("r")
    (result,) = stored_results(run)
    assert result.draws is not None
    assert [draw["values"] for draw in result.draws] == [[1], [0], [1]]
    assert result.usage.calls == 3
    assert [one.reply and one.reply["text"] for one in run.calls("id0")] == ["reason 0", "reason 1", "reason 2"]
