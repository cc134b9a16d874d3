"""Calls to record, and a loop to record them in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from measurand.run.record import Ledger, NewCall, Recorded
from measurand.run.store import RunMetric, RunStart, Store, StoredRun

T = TypeVar("T")


def a_run(store: Store, run_id: str = "r", metrics: int = 2) -> str:
    """A run of some judged metrics, begun."""
    named = tuple(RunMetric(i, f"m{i}", f"m{i}", "1", f"m{i}|v:1", {}, None, "higher", "proportion", 0.0, 1.0, []) for i in range(metrics))
    store.begin(RunStart(run_id=run_id, project="p", started_at="2026-01-01T00:00:00Z", dataset={}, config={}, plan_id="x", metrics=named))
    return run_id


def a_call(text: str = "yes", **changes: Any) -> NewCall:
    """A judge's call that cost 10 + 1 tokens and 0.5 USD."""
    usage = {"input_tokens": 10, "output_tokens": 1, "cached_tokens": 0, "reported": True, "cost_usd": 0.5, "latency_s": 0.25, "calls": 1}
    values: dict[str, Any] = {
        "kind": "chat",
        "model": "judge",
        "request": {"messages": [{"role": "user", "content": f"asked for {text}"}]},
        "reply": {"text": text, "finish": "stop"},
        "served": {"model": "judge-2026"},
        **changes,
    }
    values["usage"] = {**usage, **changes.get("usage", {})}
    return NewCall(**values)


def within(seconds: float, work: Callable[[], Awaitable[T]]) -> T:
    """The result of a coroutine, which must not take longer."""

    async def timed() -> T:
        return await asyncio.wait_for(work(), seconds)

    return asyncio.run(timed())


def recorded(ledger: Ledger, *calls: tuple[str, NewCall, tuple[int, int] | None]) -> None:
    """Claims and records calls, one after the other."""

    async def work() -> None:
        for key, call, use in calls:
            assert await ledger.claim(key, use) is None
            await ledger.record(key, call, use)

    within(20, work)


def claimed(ledger: Ledger, key: str, use: tuple[int, int] | None = None) -> Recorded | None:
    """What a claim gives; a key that is ours is given back."""

    async def work() -> Recorded | None:
        found = await ledger.claim(key, use)
        if found is None:
            await ledger.release(key)
        return found

    return within(20, work)


def rows(run: StoredRun, store: Store, count: int) -> StoredRun:
    """The run with rows and an ok result for each of its metrics."""
    metrics = range(len(run.info.metrics))
    writer, _ = store.continue_(run.info.run_id)
    writer.add([(i, f"id{i}", f"t{i}", 0, None, "{}", None, None, None) for i in range(count)], [(i, m, 0, 1.0, None) for i in range(count) for m in metrics])
    return store.resolve(run.info.run_id)
