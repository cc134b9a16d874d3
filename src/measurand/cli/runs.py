"""`metrics runs`."""

from __future__ import annotations

import os
from typing import Any

import click

from measurand.cli.reading import read_run, reading_settings
from measurand.cli.session import Session, command
from measurand.report import terminal


@command("runs")
@click.argument("ref", metavar="[RUN]", required=False)
@click.option("--config", "show_config", is_flag=True, help="The effective config RUN was made with.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most N runs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def runs(session: Session, ref: str | None, show_config: bool, limit: int, as_json: bool) -> None:
    """What was run, newest first; with RUN one run's summary, with --config what it was made with."""
    from measurand.report.runs_text import run_json, runs_table
    from measurand.report.summary_text import summary_lines
    from measurand.run.store import open_store
    from measurand.run.summary import summarise

    settings = reading_settings(session)
    if ref is None:
        with open_store(settings.store_url(os.environ), create=False) as store:
            found = store.runs(settings.project, limit=limit)
        if as_json:
            terminal.print_json([run_json(info) for info in found])
        else:
            terminal.write("\n".join(runs_table(found, settings.project)))
        return
    with read_run(ref, settings) as one:
        if show_config:
            document: Any = {**run_json(one.info), "config": one.info.config, "versions": one.info.versions, "command": one.info.command}
            terminal.print_json(document)
        elif as_json:
            terminal.print_json(summarise(one).to_dict())
        else:
            terminal.write("\n".join(summary_lines(summarise(one))))
