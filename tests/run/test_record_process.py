"""Several processes on one store: nobody pays twice, nobody waits for the dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from measurand.run.record import Ledger
from measurand.run.store import Store, open_store, schema
from measurand.run.store.driver import Driver
from measurand.run.store.leases import Lease, leases_on, may_be_alive, new_holder, retire, take

from .recording import a_call, a_run, claimed, recorded, within  # noqa: TID252  # tests are imported by path, there is no package to name

pytestmark = pytest.mark.slow

_ASKER = """
import asyncio, sys, time
from measurand.run.record import Ledger, NewCall
from measurand.run.store import RunMetric, RunStart, open_store

url, run_id, keys, latency = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
metric = RunMetric(0, "m", "m", "1", "m|v:1", {}, None, "higher", "proportion", 0.0, 1.0, [])
store = open_store(url)
if not run_id.startswith("resumed-"):
    store.begin(RunStart(run_id=run_id, project="p", started_at="2026-01-01T00:00:00Z", dataset={}, config={}, plan_id="x", metrics=(metric,)))
ledger = Ledger(store, run_id.removeprefix("resumed-"))
usage = {"input_tokens": 10, "output_tokens": 1, "cached_tokens": 0, "reported": True, "cost_usd": 0.5, "latency_s": latency, "calls": 1}

async def cell(places, number):
    key = f"key{number}"
    async with places:
        if await ledger.claim(key, (number, 0)) is not None:
            return
        print("sent", key, flush=True)
        await asyncio.sleep(latency)
        await ledger.record(key, NewCall(kind="chat", model="judge", reply={"text": "yes", "finish": "stop"}, usage=usage), (number, 0))
        print("kept", key, flush=True)

async def main():
    places = asyncio.Semaphore(8)
    await asyncio.gather(*(cell(places, number) for number in range(keys)))

asyncio.run(main())
ledger.close()
"""


def asker(url: str, run_id: str, keys: int, latency: float) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _ASKER, url, run_id, str(keys), str(latency)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def words(output: str, first: str) -> list[str]:
    return [line.split()[1] for line in output.splitlines() if line.startswith(first)]


@pytest.fixture(params=["file", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'kept' / 'store.db'}" if request.param == "file" else str(request.getfixturevalue("postgres_url"))


def test_two_processes_never_pay_for_the_same_key(url: str) -> None:
    open_store(url).close()
    processes = [asker(url, name, 100, 0.01) for name in ("one", "two", "three")]
    ended = [process.communicate(timeout=120) for process in processes]
    assert [(process.returncode, errors) for process, (_, errors) in zip(processes, ended, strict=True)] == [(0, "")] * 3
    sent = [key for output, _ in ended for key in words(output, "sent")]
    assert sorted(sent) == sorted(f"key{number}" for number in range(100))  # each once
    with open_store(url) as store:
        totals = [store.resolve(name).call_totals() for name in ("one", "two", "three")]
        assert [one.calls for one in totals] == [100] * 3
        assert sum(one.calls - one.cached_calls for one in totals) == 100


@pytest.mark.parametrize("moment", [0, 5, 23])
def test_a_killed_process_pays_again_only_for_what_was_in_flight(url: str, moment: int) -> None:
    process = asker(url, "r", 40, 0.02)
    assert process.stdout is not None
    output = ""
    for line in process.stdout:
        output += line
        if len(words(output, "kept")) >= moment and len(words(output, "sent")) >= 8:
            break
    os.kill(process.pid, signal.SIGKILL)
    output += process.communicate()[0]
    began = time.monotonic()
    again = asker(url, "resumed-r", 40, 0.02)
    told, errors = again.communicate(timeout=60)
    assert (again.returncode, errors) == (0, "")
    assert time.monotonic() - began < 30  # the dead one's leases are taken over, not waited for
    repeated = set(words(output, "sent")) & set(words(told, "sent"))
    assert not set(words(output, "kept")) & set(words(told, "sent"))  # what was kept is never paid again
    assert len(repeated) <= 8
    assert set(words(output, "sent")) | set(words(told, "sent")) == {f"key{number}" for number in range(40)}
    with open_store(url) as store, store.engine.connect() as connection:
        assert connection.execute(schema.leases.select()).all() == []


_FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    exec(sys.stdin.read())
except BaseException as error:
    kinds = {type(one).__name__ for one in getattr(error, "exceptions", [error])}
    print("failed", *kinds, flush=True)
    ledger.close()
    print("closed", "closed", flush=True)
"""


def test_a_full_disk_ends_with_what_was_kept(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    open_store(url).close()
    program = _ASKER.replace('"text": "yes"', '"text": "y" * 20_000')
    process = subprocess.Popen([sys.executable, "-c", _FULL, url, "r", "200", "0.001"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate(program, timeout=60)
    assert process.returncode == 0
    assert words(output, "failed") == ["StoreError"]
    assert words(output, "closed") == ["closed"]
    kept = words(output, "kept")
    assert 5 < len(kept) < 200
    with open_store(url) as store:
        assert store.recorded_among(kept) == set(kept)
        with Ledger(store, "r") as ledger:
            assert claimed(ledger, kept[0]) is not None


# ---------------------------------------------------------------- leases


def lease(store: Store, key: str, holder: str, seconds: float) -> None:
    with store.engine.connect() as connection:
        driver = Driver(connection)
        driver.dialect.begin_calls(driver)
        take(driver, [key], Lease(holder, time.time() + seconds))
        driver.commit()


def test_a_lease_of_another_host_is_waited_for_until_it_expires(store: Store) -> None:
    lease(store, "k", "elsewhere:1:abcd", 0.6)
    began = time.monotonic()
    with Ledger(store, a_run(store)) as ledger:
        assert claimed(ledger, "k") is None
    assert 0.3 < time.monotonic() - began < 10


def test_a_lease_of_another_host_ends_with_its_record(store: Store) -> None:
    lease(store, "k", "elsewhere:1:abcd", 60)

    async def work(ledger: Ledger) -> object:
        import asyncio

        waiting = asyncio.create_task(ledger.claim("k", (0, 0)))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await ledger.record("k", a_call("yes"))  # as if from elsewhere
        return await waiting

    with Ledger(store, a_run(store)) as ledger:
        assert within(20, lambda: work(ledger)) is not None


def test_a_held_key_is_renewed(store: Store) -> None:
    import asyncio

    async def work(ledger: Ledger) -> None:
        await ledger.claim("k")
        await asyncio.sleep(0.8)
        await ledger.release("k")

    with Ledger(store, a_run(store, "r1"), ttl_s=0.4) as first, Ledger(store, a_run(store, "r2")) as second:
        seen: list[float] = []

        async def both() -> None:
            held = asyncio.create_task(work(first))
            await asyncio.sleep(0.1)
            began = time.monotonic()
            assert await second.claim("k") is None
            seen.append(time.monotonic() - began)
            await second.release("k")
            await held

        within(20, both)
    assert seen[0] > 0.5  # longer than the lease was good for: it was renewed while it was held


@pytest.mark.parametrize(
    ("holder", "alive"),
    [
        (f"elsewhere:{os.getpid()}:abcd", True),
        ("no holder of ours", True),
        ("{here}:1:abcd", True),
        ("{here}:{me}:abcd", False),
        ("{here}:{dead}:abcd", False),
    ],
)
def test_who_may_be_alive(holder: str, alive: bool) -> None:
    import socket

    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert may_be_alive(holder.format(here=socket.gethostname(), me=os.getpid(), dead=ended.pid)) is alive


def test_a_holder_of_this_process_is_alive_until_it_retires() -> None:
    holder = new_holder()
    assert may_be_alive(holder)
    retire(holder)
    assert not may_be_alive(holder)


def test_leases_are_found_by_key(store: Store) -> None:
    lease(store, "k", "elsewhere:1:a", 60)
    with store.engine.connect() as connection:
        found = leases_on(Driver(connection), ["k", "none", *map(str, range(1_200))])
    assert {key: one.holder for key, one in found.items()} == {"k": "elsewhere:1:a"}


def test_two_ledgers_of_one_process_do_not_pay_twice(store: Store) -> None:
    with Ledger(store, a_run(store, "r1")) as first, Ledger(store, a_run(store, "r2")) as second:
        recorded(first, ("k", a_call(), (0, 0)))
        assert claimed(second, "k") is not None
