"""How far a run is: a bar on a terminal; elsewhere, for a run that asks models, a plain line every few seconds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from measurand.report.terminal import Color, counted, say, thousands, usd

if TYPE_CHECKING:
    from measurand.run.progress import Progress, Report

EVERY_S: Final = 10.0
"""Seconds between two plain lines; the first one comes after `FIRST_S`."""
FIRST_S: Final = 3.0


@contextmanager
def progress_bar(rows: int, *, shown: bool, asks: bool = False, plain: bool = False, color: Color = "auto") -> Iterator[Report | None]:
    """Gives what to call with a `Progress`; None when nothing is shown.

    `shown`: a bar, on a terminal. `plain`: lines instead, for a run that `asks` models; a run of code alone is over before they would say anything.
    """
    if shown:
        with _bar(rows, color, asks=asks) as report:
            yield report
    else:
        yield _Lines(rows) if plain and asks else None


def told(progress: Progress, rows: int, left_s: float | None) -> str:
    """`143/200 rows · 716 calls (85 recorded) · 2 errors · $0.08 · 0:48 left`."""
    parts = [f"{thousands(progress.rows)}/{thousands(rows)} rows"]
    if progress.calls:
        parts.append(counted(progress.calls, "call") + (f" ({thousands(progress.cached)} recorded)" if progress.cached else ""))
    if progress.errors:
        parts.append(counted(progress.errors, "error"))
    if progress.calls > progress.cached and progress.cost_usd is not None:
        parts.append(f"${usd(progress.cost_usd)}")
    if left_s is not None:
        parts.append(f"{clock(left_s)} left")
    return " · ".join(parts)


def clock(seconds: float) -> str:
    """`0:48`, `12:05`, `1:02:30`."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


class Pace:
    """How long the rest will take, by the rows since the first report: rows that an earlier attempt stored took no time now."""

    def __init__(self, rows: int, now: Callable[[], float] = time.monotonic) -> None:
        self._rows = rows
        self._now = now
        self._first: tuple[float, int] | None = None

    def left_s(self, done: int) -> float | None:
        """Seconds left; None before there is anything to go by, and at the end."""
        now = self._now()
        if self._first is None:
            self._first = now, done
        since, found = self._first
        if done <= found or done >= self._rows:
            return None
        return (now - since) * (self._rows - done) / (done - found)


class _Lines:
    """A line on stderr, now and then."""

    def __init__(self, rows: int, now: Callable[[], float] = time.monotonic) -> None:
        self._rows = rows
        self._now = now
        self._pace = Pace(rows, now)
        self._next = now() + FIRST_S

    def __call__(self, progress: Progress) -> None:
        left = self._pace.left_s(progress.rows)
        if self._now() >= self._next:
            self._next = self._now() + EVERY_S
            say(told(progress, self._rows, left))


@contextmanager
def _bar(rows: int, color: Color, *, asks: bool) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    plain = color == "never" or (color == "auto" and bool(os.environ.get("NO_COLOR")))
    ascii_only = "utf" not in (sys.stderr.encoding or "").lower()
    console = Console(stderr=True, color_system=None if plain else "auto", no_color=plain, highlight=False)
    columns: list[ProgressColumn] = [SpinnerColumn("line" if ascii_only else "dots")]
    if not asks:
        columns += [BarColumn(), MofNCompleteColumn(), TextColumn("rows")]
    columns.append(TextColumn("{task.fields[told]}", markup=False))
    if not asks:
        columns.append(TimeRemainingColumn())
    pace = Pace(rows)
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("rows", total=rows, told=f"0/{thousands(rows)} rows" if asks else "")

        def advance(progress: Progress) -> None:
            text = told(progress, rows, pace.left_s(progress.rows)) if asks else counted(progress.errors, "error") if progress.errors else ""
            bar.update(task, completed=progress.rows, told=text.replace(" · ", " | ") if ascii_only else text)

        yield advance
