from __future__ import annotations

import asyncio

import pytest

from measurand.core import effort
from measurand.core.errors import CellTimeoutError


def test_a_bare_formula_has_all_the_time_there_is() -> None:
    effort.still_time()


def test_a_cell_has_its_seconds_and_the_next_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(effort, "monotonic", lambda: now)
    effort.begin()
    now += effort.SECONDS
    effort.still_time()
    now += 0.01
    with pytest.raises(CellTimeoutError, match="the metric worked on this row for more than 5 s"):
        effort.still_time()
    effort.begin()
    effort.still_time()
    now += 1_000
    effort.end()
    effort.still_time()


def test_cells_that_run_side_by_side_have_each_their_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(effort, "monotonic", lambda: now)

    async def begins() -> None:
        effort.begin()
        await asyncio.sleep(0)

    async def cells() -> None:
        nonlocal now
        effort.begin()
        now += effort.SECONDS + 1
        await asyncio.gather(begins(), begins())
        with pytest.raises(CellTimeoutError):
            effort.still_time()

    asyncio.run(cells())
