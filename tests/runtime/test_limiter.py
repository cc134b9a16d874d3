"""The gate: places, order, pauses, limits a minute, and how it is shut for good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import ModelStoppedError
from measurand.runtime.limiter import Limiter, descriptors_left


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(coroutine)


@given(orders=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=20), places=st.integers(1, 4))
def test_never_more_than_its_places_and_the_lowest_order_that_waits_goes_first(orders: list[tuple[int, int]], places: int) -> None:
    async def scene() -> tuple[list[tuple[int, int]], int]:
        gate = Limiter(places)
        for _ in range(places):
            await gate.enter()
        entered: list[tuple[int, int]] = []
        most = 0

        async def call(order: tuple[int, int]) -> None:
            nonlocal most
            await gate.enter(order)
            entered.append(order)
            most = max(most, gate.in_flight)
            await asyncio.sleep(0)
            gate.leave()

        calls = [asyncio.create_task(call(order)) for order in orders]
        await asyncio.sleep(0)  # all of them wait
        for _ in range(places):
            gate.leave()
        await asyncio.gather(*calls)
        assert gate.in_flight == 0
        return entered, most

    entered, most = run(scene())
    assert entered == sorted(orders)
    assert most <= places


def test_equal_orders_go_as_they_came() -> None:
    async def scene() -> list[str]:
        gate = Limiter(1)
        await gate.enter()
        entered: list[str] = []

        async def call(name: str) -> None:
            await gate.enter((1, 1))
            entered.append(name)
            gate.leave()

        calls = [asyncio.create_task(call(name)) for name in "abc"]
        await asyncio.sleep(0)
        gate.leave()
        await asyncio.gather(*calls)
        return entered

    assert run(scene()) == ["a", "b", "c"]


def test_who_is_cancelled_while_waiting_takes_no_place() -> None:
    async def scene() -> None:
        gate = Limiter(1)
        await gate.enter()
        waiting = asyncio.create_task(gate.enter())
        given_up = asyncio.create_task(gate.enter())
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        gate.leave()
        await waiting
        late = asyncio.create_task(gate.enter())  # cancelled in the moment the place is given
        await asyncio.sleep(0)
        gate.leave()
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late
        assert gate.in_flight == 0
        await asyncio.wait_for(gate.enter(), 1)

    run(scene())


def test_a_pause_shuts_the_gate_for_everyone_and_a_shorter_one_does_not_open_it() -> None:
    async def scene() -> list[float]:
        gate = Limiter(8)
        began = time.monotonic()
        gate.pause(0.15)
        gate.pause(0.01)
        times: list[float] = []

        async def call() -> None:
            await gate.enter()
            times.append(time.monotonic() - began)

        await asyncio.gather(*(call() for _ in range(4)))
        return times

    times = run(scene())
    assert all(0.15 <= one < 0.4 for one in times)


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_requests_a_minute_start_full_and_fill_evenly() -> None:
    async def scene() -> None:
        clock = Clock()
        gate = Limiter(100, requests_per_minute=60, clock=clock)
        for _ in range(60):
            await gate.enter()
        waiting = asyncio.create_task(gate.enter())
        await asyncio.sleep(0)
        assert not waiting.done()
        assert gate._seconds_until_open(0) == pytest.approx(1.0)
        clock.now += 1.0
        gate.leave()  # the gate looks at the time again
        await asyncio.wait_for(waiting, 1)

    run(scene())


def test_tokens_a_minute_are_settled_and_what_is_more_than_a_minute_holds_waits_for_a_full_one() -> None:
    async def scene() -> None:
        clock = Clock()
        gate = Limiter(100, tokens_per_minute=600, clock=clock)
        assert gate.counts_tokens
        await gate.enter(tokens=500)
        assert gate._seconds_until_open(200) == pytest.approx(10.0)  # 100 are left, 10 come a second
        gate.leave(more_tokens=-300)
        assert gate._seconds_until_open(200) == 0
        await gate.enter(tokens=400)
        gate.leave(more_tokens=200)
        assert gate._seconds_until_open(100) == pytest.approx(30.0)  # 200 are owed
        assert gate._seconds_until_open(10_000) == pytest.approx(80.0)  # until there are 600
        clock.now += 80.0
        await asyncio.wait_for(gate.enter(tokens=10_000), 1)

    run(scene())


def test_the_gate_opens_by_itself_when_the_minute_has_room() -> None:
    async def scene() -> float:
        gate = Limiter(10, requests_per_minute=600)
        gate._requests.level = 0.0  # type: ignore[union-attr]
        began = time.monotonic()
        await asyncio.gather(gate.enter(), gate.enter())
        return time.monotonic() - began

    assert 0.19 <= run(scene()) < 0.6


def test_after_abort_nobody_enters_and_who_waits_or_rests_is_told() -> None:
    async def scene() -> list[Any]:
        gate = Limiter(1)
        await gate.enter()
        tasks = [asyncio.create_task(gate.enter()), asyncio.create_task(gate.rest(60))]
        await asyncio.sleep(0)
        gate.abort("the key is refused")
        gate.abort("another reason")
        tasks += [asyncio.create_task(gate.enter()), asyncio.create_task(gate.rest(60))]
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 1)

    for told in run(scene()):
        assert isinstance(told, ModelStoppedError)
        assert str(told) == "the key is refused"


def test_fewer_places_than_asked_for_where_files_may_not_be_opened() -> None:
    gate = Limiter(1200, descriptors=96)
    assert gate.concurrency == 96
    assert gate.warning is not None
    assert gate.warning.startswith("1200 requests at once need more open files than this process may have; 96 are in flight")
    assert Limiter(16, descriptors=96).warning is None


def test_half_of_what_the_descriptor_limit_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for soft, left in ((256, 96), (1024, 480), (10, 1), (resource.RLIM_INFINITY, None)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert descriptors_left() == left
