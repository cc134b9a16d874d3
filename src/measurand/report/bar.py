"""The progress bar, on a terminal only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from measurand.report.terminal import Color


@contextmanager
def progress_bar(rows: int, *, shown: bool, color: Color = "auto") -> Iterator[Callable[[int, int], None] | None]:
    """Gives what to call with (rows done, errors so far); None when nothing is shown."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    plain = color == "never" or (color == "auto" and bool(os.environ.get("NO_COLOR")))
    ascii_only = "utf" not in (sys.stderr.encoding or "").lower()
    spinner = SpinnerColumn("line" if ascii_only else "dots")
    columns = [spinner, BarColumn(), MofNCompleteColumn(), TextColumn("rows"), TextColumn("{task.fields[errors]}"), TimeRemainingColumn()]
    console = Console(stderr=True, color_system=None if plain else "auto", no_color=plain, highlight=False)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("rows", total=rows, errors="")

        def advance(done: int, errors: int) -> None:
            bar.update(task, completed=done, errors=f"{errors} {'error' if errors == 1 else 'errors'}" if errors else "")

        yield advance
