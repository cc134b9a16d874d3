"""The record of calls at work: what is reused, what is paid once, what happens when it cannot be kept."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import CacheMissError, StoreError
from measurand.core.exchange import ChatMessage, ModelRequest
from measurand.run.record import OF_THE_RUN, Ledger, Mode, request_json
from measurand.run.store import Store, open_store, schema
from measurand.run.store.calls import CallRow

from .recording import a_call, a_run, claimed, recorded, within  # noqa: TID252  # tests are imported by path, there is no package to name


def rows_of(store: Store, table: str) -> list[tuple[object, ...]]:
    with store.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(schema.metadata.tables[table].select())]


def test_a_call_is_claimed_recorded_and_found_again(store: Store) -> None:
    with Ledger(store, a_run(store)) as ledger:
        recorded(ledger, ("k", a_call("yes"), (3, 1)))
        found = claimed(ledger, "k", (4, 0))
    assert found is not None
    assert (found.status, found.kind, found.imported, found.served) == ("ok", "chat", False, {"model": "judge-2026"})
    assert found.reply == {"text": "yes", "finish": "stop"}
    assert found.usage["cost_usd"] == 0.5
    assert rows_of(store, "run_calls") == [(1, 3, 1, found.call), (1, 4, 0, found.call)]
    assert rows_of(store, "leases") == []


def test_it_is_committed_before_record_returns(file_store: Store, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "kept" / "store.db")
    with Ledger(file_store, a_run(file_store)) as ledger:

        async def work() -> None:
            assert await ledger.claim("k") is None
            assert other.execute("SELECT key FROM leases").fetchall() == [("k",)]
            await ledger.record("k", a_call())
            assert other.execute("SELECT key, run, imported FROM calls").fetchall() == [("k", 1, 0)]
            assert other.execute("SELECT key FROM leases").fetchall() == []

        within(20, work)
    other.close()


def test_a_later_run_reuses_what_an_earlier_one_paid(store: Store) -> None:
    with Ledger(store, a_run(store, "r1")) as ledger:
        recorded(ledger, ("k", a_call(), (0, 0)))
    with Ledger(store, a_run(store, "r2")) as ledger:
        assert claimed(ledger, "k", (0, 0)) is not None
    assert [row[0] for row in rows_of(store, "run_calls")] == [1, 2]


BAD = ("unreadable", "refused", "truncated", "fault")


@pytest.mark.parametrize("status", BAD)
def test_what_is_not_ok_is_asked_again_but_replayed(store: Store, status: str) -> None:
    with Ledger(store, a_run(store, "r1")) as ledger:
        recorded(ledger, ("k", a_call("?", status=status), None))
        assert claimed(ledger, "k") is None
    with Ledger(store, a_run(store, "r2"), mode="replay") as ledger:
        found = claimed(ledger, "k")
    assert found is not None
    assert (found.status, found.reply["text"]) == (status, "?")


def test_the_newest_one_answers(store: Store) -> None:
    run = a_run(store)
    with Ledger(store, run) as ledger:
        recorded(ledger, ("k", a_call("?", status="unreadable"), None), ("k", a_call("first"), None))
        found = claimed(ledger, "k")
        assert found is not None
        assert found.reply["text"] == "first"
        within(20, lambda: ledger.record("k", a_call("late fault", status="fault")))
        found = claimed(ledger, "k")
        assert found is not None
        assert found.reply["text"] == "first"
    with Ledger(store, run, mode="replay") as ledger:
        found = claimed(ledger, "k")
        assert found is not None
        assert found.status == "fault"


def test_live_ignores_other_runs_and_resumes_within_its_own(store: Store) -> None:
    with Ledger(store, a_run(store, "r1")) as ledger:
        recorded(ledger, ("k", a_call("old"), None))
    run = a_run(store, "r2")
    with Ledger(store, run, mode="live") as ledger:
        assert claimed(ledger, "k") is None
        recorded(ledger, ("k", a_call("new"), None))
    with Ledger(store, run, mode="live") as ledger:  # typed again after a kill
        found = claimed(ledger, "k")
    assert found is not None
    assert found.reply["text"] == "new"


def test_a_replay_without_a_record_is_a_miss_and_takes_no_lease(store: Store) -> None:
    with Ledger(store, a_run(store), mode="replay") as ledger, pytest.raises(CacheMissError, match="no reply to this request is recorded"):
        claimed(ledger, "k")
    assert rows_of(store, "leases") == []


@pytest.mark.parametrize(("mode", "trusted", "answers"), [("replay", False, True), ("cache", False, False), ("cache", True, True), ("live", True, False)])
def test_imported_replies_answer_where_they_are_trusted(store: Store, mode: Mode, trusted: bool, answers: bool) -> None:
    assert store.import_calls([("k", a_call("from elsewhere"))]).calls == 1
    with Ledger(store, a_run(store), mode=mode, trust_imported=trusted) as ledger:
        found = claimed(ledger, "k")
    assert (found is not None) is answers
    assert found is None or found.imported


def test_without_texts_only_the_cost_is_kept_and_nothing_is_reused(store: Store) -> None:
    run = a_run(store)
    probe = a_call("1. yes", kind="probe")
    with Ledger(store, run, keep_texts=False) as ledger:
        recorded(ledger, ("k", a_call("PLANTED"), (0, 0)), ("p", probe, OF_THE_RUN))
        assert claimed(ledger, "k") is None
        assert claimed(ledger, "p") is not None  # about the model, not about a row
    with Ledger(store, run, mode="replay", keep_texts=False) as ledger, pytest.raises(CacheMissError):
        claimed(ledger, "k")
    assert "PLANTED" not in json.dumps(rows_of(store, "calls"))
    assert store.resolve(run).call_totals().input_tokens == 20


def test_a_shared_reply_is_linked_to_each_who_uses_it(store: Store) -> None:
    with Ledger(store, a_run(store)) as ledger:
        recorded(ledger, ("k", a_call(), (0, 0)))
        within(20, lambda: ledger.use("k", (0, 1)))
        within(20, lambda: ledger.use("k", (0, 1)))
        within(20, lambda: ledger.use("unknown", (0, 1)))
    assert [row[:3] for row in rows_of(store, "run_calls")] == [(1, 0, 0), (1, 0, 1)]


def test_what_another_run_learned_can_be_linked(store: Store) -> None:
    with Ledger(store, a_run(store, "r1")) as ledger:
        recorded(ledger, ("learned", a_call(kind="learned", reply={"max_tokens": "max_completion_tokens"}), OF_THE_RUN))
    with Ledger(store, a_run(store, "r2")) as ledger:
        within(20, lambda: ledger.use("learned", OF_THE_RUN))
    assert [row[:3] for row in rows_of(store, "run_calls")] == [(1, -1, -1), (2, -1, -1)]


def test_one_of_several_who_claim_makes_the_call(store: Store) -> None:
    calls = 0

    async def cell(ledger: Ledger, ordinal: int) -> str:
        nonlocal calls
        found = await ledger.claim("k", (ordinal, 0))
        if found is not None:
            return str(found.reply["text"])
        calls += 1
        await asyncio.sleep(0.05)
        await ledger.record("k", a_call("yes"), (ordinal, 0))
        return "yes"

    async def work(ledger: Ledger) -> list[str]:
        return await asyncio.gather(*(cell(ledger, i) for i in range(50)))

    with Ledger(store, a_run(store)) as ledger:
        assert within(20, lambda: work(ledger)) == ["yes"] * 50
    assert calls == 1
    assert len(rows_of(store, "run_calls")) == 50


def test_a_released_key_goes_to_the_next_who_waits(store: Store) -> None:
    order: list[str] = []

    async def work(ledger: Ledger) -> None:
        assert await ledger.claim("k") is None
        second = asyncio.create_task(ledger.claim("k"))
        await asyncio.sleep(0.05)
        order.append("released")
        await ledger.release("k")
        assert await second is None
        order.append("claimed")

    with Ledger(store, a_run(store)) as ledger:
        within(20, lambda: work(ledger))
    assert order == ["released", "claimed"]


def test_a_caller_who_goes_away_holds_no_key(store: Store) -> None:
    async def work(ledger: Ledger) -> None:
        leaving = [asyncio.create_task(ledger.claim("k")) for _ in range(3)]
        await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        assert await ledger.claim("k") is None

    with Ledger(store, a_run(store)) as ledger:
        within(20, lambda: work(ledger))


def test_thousands_at_once_are_recorded_in_groups(store: Store) -> None:
    async def one(ledger: Ledger, i: int) -> None:
        assert await ledger.claim(f"k{i}", (i, 0)) is None
        await ledger.record(f"k{i}", a_call(), (i, 0))

    async def work(ledger: Ledger) -> None:
        await asyncio.gather(*(one(ledger, i) for i in range(1_500)))

    run = a_run(store)
    with Ledger(store, run) as ledger:
        within(60, lambda: work(ledger))
    assert store.resolve(run).call_totals().calls == 1_500
    assert rows_of(store, "leases") == []


def test_rows_and_calls_are_written_at_the_same_time(store: Store) -> None:
    """The temporary store has one connection for both threads."""
    run = a_run(store)
    writer, _ = store.continue_(run)

    async def cell(ledger: Ledger, i: int) -> None:
        assert await ledger.claim(f"k{i}", (i, 0)) is None
        await ledger.record(f"k{i}", a_call(), (i, 0))

    async def work(ledger: Ledger) -> None:
        for block in range(20):
            asking = [asyncio.create_task(cell(ledger, i)) for i in range(block * 20, block * 20 + 20)]
            await asyncio.sleep(0)
            writer.add([(i, f"id{i}", "t", 0, None, "{}", None, None, None) for i in range(block * 20, block * 20 + 20)], [])
            assert len(list(store.resolve(run).samples())) == block * 20 + 20  # a reader who ends undoes nothing
            await asyncio.gather(*asking)

    with Ledger(store, run) as ledger:
        within(60, lambda: work(ledger))
    assert (len(store.resolve(run)), store.resolve(run).call_totals().calls) == (400, 400)


def test_recorded_is_a_look_without_a_claim(store: Store) -> None:
    assert store.recorded("k") is None
    with Ledger(store, a_run(store)) as ledger:
        recorded(ledger, ("bad", a_call(status="fault"), None), ("k", a_call("yes"), None))
    store.import_calls([("i", a_call("imported"))])
    found = store.recorded("k")
    assert found is not None
    assert found.reply["text"] == "yes"
    assert store.recorded("bad") is None
    assert store.recorded("i") is not None
    assert store.recorded("i", imported=False) is None
    assert store.recorded_among(["k", "i", "bad", "none", *map(str, range(2_000))]) == {"k"}
    assert store.recorded_among(["k", "i"], imported=True) == {"k", "i"}
    assert store.mean_latency("judge") == 0.25
    assert store.mean_latency("another") is None


# ---------------------------------------------------------------- when it cannot be kept


def test_a_full_disk_reaches_everybody_who_waits(file_store: Store) -> None:
    ledger = Ledger(file_store, a_run(file_store))

    async def fill(ledger: Ledger) -> list[Any]:
        await ledger.claim("held")
        waiting = asyncio.create_task(ledger.claim("held"))
        await ledger.flush()
        with ledger._recorder._store.engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        driver = ledger._recorder._driver
        assert driver is not None
        driver.do(f"PRAGMA max_page_count = {pages}")
        big = a_call("x" * 100_000)
        found = await asyncio.gather(*(ledger.record(f"k{i}", big) for i in range(20)), waiting, return_exceptions=True)
        with pytest.raises(StoreError, match="the disk is full"):
            await ledger.claim("later")
        return found

    found = within(20, lambda: fill(ledger))
    assert all(isinstance(error, StoreError) and "the disk is full" in str(error) and error.exit_code == 3 for error in found)
    assert len({id(error) for error in found}) == len(found)
    ledger.close()
    ledger.close()
    assert rows_of(file_store, "calls") == []


def test_a_ledger_that_failed_costs_nothing_any_more(file_store: Store) -> None:
    ledger = Ledger(file_store, a_run(file_store), ttl_s=0.2)

    async def work() -> float:
        await ledger.claim("k")  # held, so that it has to be renewed
        driver = ledger._recorder._driver
        assert driver is not None
        driver.do("DROP TABLE leases")
        await asyncio.sleep(0.3)
        with pytest.raises(StoreError, match="no such table: leases"):
            await ledger.claim("l")
        began = time.process_time()
        await asyncio.sleep(0.4)
        return time.process_time() - began

    assert within(20, work) < 0.1
    ledger.close()


def test_a_store_that_stays_locked_is_told_and_close_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("measurand.run.store.engine.LOCK_WAIT_S", 0.05)
    with open_store(f"sqlite:///{tmp_path / 's.db'}") as store:
        ledger = Ledger(store, a_run(store))
        blocker = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(StoreError, match="was locked by another process"):
                claimed(ledger, "k")
            ledger.close()
        finally:
            blocker.close()


@pytest.mark.postgres
def test_a_database_that_goes_away_is_told(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        ledger = Ledger(store, a_run(store))
        recorded(ledger, ("k", a_call(), None))
        with store.engine.connect() as connection:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            connection.exec_driver_sql(others)
        with pytest.raises(StoreError, match="the store postgresql"):
            claimed(ledger, "l")
        ledger.close()
        with Ledger(store, "r") as again:
            assert claimed(again, "k") is not None


def test_what_is_no_json_is_told_to_its_caller_alone(store: Store) -> None:
    with Ledger(store, a_run(store)) as ledger:
        with pytest.raises(ValueError, match="not JSON compliant"):
            within(20, lambda: ledger.record("k", a_call(usage={"latency_s": float("nan")})))
        recorded(ledger, ("k", a_call(), None))


def test_texts_that_no_column_can_hold_are_kept(store: Store) -> None:
    hostile = "nul \0 half \ud83d mark \x1a"
    with Ledger(store, a_run(store)) as ledger:
        recorded(ledger, ("k", a_call(hostile, model=hostile), (0, 0)))
        found = claimed(ledger, "k")
    assert found is not None
    assert found.reply["text"] == hostile
    assert store.resolve("r").served_models()[0].model == hostile


def test_after_the_end_nothing_is_taken(store: Store) -> None:
    ledger = Ledger(store, a_run(store))
    ledger.close()
    with pytest.raises(StoreError, match="the record of calls is closed"):
        claimed(ledger, "k")


def test_the_end_commits_what_is_queued_and_tells_who_still_waits(store: Store) -> None:
    async def work(ledger: Ledger) -> list[Any]:
        await ledger.claim("held")
        records: list[asyncio.Task[Any]] = [asyncio.create_task(ledger.record(f"k{i}", a_call())) for i in range(50)]
        waits = asyncio.create_task(ledger.claim("held"))
        await asyncio.sleep(0)
        ledger.close()
        return await asyncio.gather(*records, waits, return_exceptions=True)

    *recorded_, waited = within(20, lambda: work(Ledger(store, a_run(store))))
    assert recorded_ == [None] * 50
    assert isinstance(waited, StoreError)
    assert len(rows_of(store, "calls")) == 50
    assert rows_of(store, "leases") == []


def test_an_unknown_run_is_told(store: Store) -> None:
    from measurand.core.errors import UsageError

    with pytest.raises(UsageError, match="no run has the id 'nope'"):
        Ledger(store, "nope")


def test_without_a_run_calls_are_recorded_and_used_by_none(store: Store) -> None:
    with Ledger(store) as ledger:
        recorded(ledger, ("k", a_call(), (0, 0)))
        assert claimed(ledger, "k", (0, 0)) is not None
    assert rows_of(store, "run_calls") == []
    assert [CallRow(*row[1:]).run for row in rows_of(store, "calls")] == [None]  # type: ignore[arg-type]  # a row of the table


# ---------------------------------------------------------------- what is part of a request


def test_a_request_is_recorded_as_it_was_asked() -> None:
    said = (ChatMessage("user", "q"),)
    variants = [
        ModelRequest(said),
        ModelRequest(said, schema={"type": "object"}),
        ModelRequest(said, logprobs=True),
        ModelRequest(said, max_tokens=16),
        ModelRequest(said, draw=1),
        ModelRequest(said, draw=2),
        ModelRequest(said, typed={"state": {}, "questions": {}}),
        ModelRequest((ChatMessage("system", "q"),)),
    ]
    assert len({json.dumps(request_json(one), sort_keys=True) for one in variants}) == len(variants)
