"""An incomplete run taken up again: what failed only because a call did is scored anew, once."""

from __future__ import annotations

import json

import pytest

from measurand.core.errors import ERROR_CODES, NOT_APPLICABLE_CODES
from measurand.run.record import Ledger
from measurand.run.store import ResultRow, SampleRow, Store
from measurand.run.store.resume import FAILED_CALLS

from .recording import a_call, a_run, claimed, recorded  # noqa: TID252  # tests are imported by path, there is no package to name


def sample(ordinal: int) -> SampleRow:
    return ordinal, f"id{ordinal}", "t", 0, None, "{}", None, None, '{"output": "x"}'


def failed(ordinal: int, metric: int, code: str) -> ResultRow:
    return ordinal, metric, 2, None, json.dumps({"error": {"code": code, "message": "m"}})


@pytest.mark.parametrize("code", sorted(ERROR_CODES - NOT_APPLICABLE_CODES))
def test_which_errors_are_tried_again(file_store: Store, code: str) -> None:
    a_run(file_store)
    writer, _ = file_store.continue_("r")
    writer.add([sample(0), sample(1)], [(0, 0, 0, 1.0, None), failed(0, 1, code), (1, 0, 0, 1.0, None), (1, 1, 1, None, None)])
    _, ordinals = file_store.continue_("r")
    again = code not in ("invalid_field", "invalid_score", "internal")
    assert (code in FAILED_CALLS) is again
    assert ordinals.tolist() == ([1] if again else [0, 1])
    assert file_store.resolve("r").result_count() == (2 if again else 4)


def test_a_resumed_run_has_each_row_once_and_pays_only_for_what_failed(store: Store) -> None:
    a_run(store, metrics=1)
    with Ledger(store, "r") as ledger:
        recorded(ledger, *((f"k{i}", a_call(status="ok" if i < 4 else "fault"), (i, 0)) for i in range(6)))
    writer, _ = store.continue_("r")
    writer.add([sample(i) for i in range(6)], [(i, 0, 0, 1.0, None) if i < 4 else failed(i, 0, "provider_error") for i in range(6)])

    paid = []
    for _ in range(2):  # and once more
        writer, ordinals = store.continue_("r")
        missing = [i for i in range(6) if i not in ordinals.tolist()]
        with Ledger(store, "r") as ledger:
            for i in missing:
                if claimed(ledger, f"k{i}", (i, 0)) is None:
                    recorded(ledger, (f"k{i}", a_call("now"), (i, 0)))
                    paid.append(i)
        writer.add([sample(i) for i in missing], [(i, 0, 0, 1.0, None) for i in missing])
    assert paid == [4, 5]
    run = store.resolve("r")
    assert [one.ordinal for one in run.samples()] == list(range(6))
    assert [one.usage.calls for one in run.results()] == [1] * 6
    assert (run.call_totals().calls, run.paid_totals().calls) == (6, 8)


def test_good_replies_of_a_row_that_failed_are_reused(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r", mode="live") as ledger:
        recorded(ledger, ("claims", a_call(), (0, 0)), ("verify", a_call(status="fault"), (0, 0)))
    writer, _ = store.continue_("r")
    writer.add([sample(0)], [failed(0, 0, "rate_limited"), (0, 1, 0, 1.0, None)])
    _, ordinals = store.continue_("r")
    assert ordinals.tolist() == []
    with Ledger(store, "r", mode="live") as ledger:
        assert claimed(ledger, "claims", (0, 0)) is not None
        assert claimed(ledger, "verify", (0, 0)) is None
