"""`metrics run`."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from measurand.cli.reading import config_named
from measurand.cli.records import opened_cassette, record_options
from measurand.cli.session import Session, command
from measurand.cli.typed import kept_words
from measurand.cli.work import plan_of, run_options
from measurand.core.errors import ProblemsError
from measurand.report import terminal


@command("run")
@run_options
@record_options
@click.option("--no-progress", is_flag=True, help="No progress bar.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def run(session: Session, as_json: bool, no_progress: bool, cassette: str | None, trust_imported: bool, **typed: Any) -> int:
    """Score a dataset and store every result.

    CONFIG is a metrics.toml, default ./metrics.toml. Typing the same command again continues a run that did not end.
    """
    from measurand.cli.interrupts import terminated_as_interrupted
    from measurand.report.bar import progress_bar
    from measurand.report.summary_text import next_lines, summary_lines
    from measurand.run.start import Records, start_run
    from measurand.run.store import open_store
    from measurand.run.summary import summarise

    shown = not (no_progress or session.quiet) and sys.stderr is not None and sys.stderr.isatty()
    with opened_cassette(cassette) as recorded:
        plan = plan_of(session, {**typed, "records": recorded, "trust_imported": trust_imported})
        if not plan.ok:
            raise ProblemsError(plan.problems)
        with open_store(plan.settings.store_url(os.environ)) as store:
            bar = progress_bar(plan.rows, shown=shown, asks=plan.asks, plain=not session.quiet, color=session.color or "auto")
            with bar as progress, terminated_as_interrupted():
                ended = start_run(plan, store, command=kept_words(), progress=progress, records=Records(recorded, trust_imported))
            summary = summarise(store.resolve(ended.run_id))
    if as_json:
        terminal.print_json(summary.to_dict())
    else:
        terminal.write("\n".join([*summary_lines(summary), *next_lines(summary, config=config_named(session, typed["config"]), found_done=ended.found_done)]))
    return 0 if ended.status == "complete" else 3
