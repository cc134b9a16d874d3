"""`metrics delete`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from measurand.cli.ages import days
from measurand.cli.reading import reading_settings
from measurand.cli.session import Session, command
from measurand.core.errors import Problem, UsageError
from measurand.report import terminal

if TYPE_CHECKING:
    from measurand.run.store import Store


@command("delete")
@click.argument("refs", metavar="[RUN]...", nargs=-1)
@click.option("--row", metavar="ID", help="Remove one row from every run.")
@click.option("--older-than", metavar="90d", help="Remove the runs that started longer ago.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def delete(session: Session, refs: tuple[str, ...], row: str | None, older_than: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove runs, or one row everywhere, with every recorded call that nothing else uses."""
    from measurand.report.runs_text import deleted_json, deleted_line
    from measurand.run.store import open_store

    if (bool(refs) + (row is not None) + (older_than is not None)) != 1:
        raise UsageError(Problem("bad_usage", "metrics delete", "say what to remove, in one way", "give RUN…, or --row ID, or --older-than 90d"))
    settings = reading_settings(session)
    with open_store(settings.store_url(os.environ), create=False) as store:
        if row is not None:
            deleted = store.delete_row(row, dry_run=dry_run)
            if not deleted.rows:
                raise UsageError(Problem("unknown_row", "--row", f"no run has a row {row!r}", "metrics results RUN lists the ids"))
        elif older_than is not None:
            old = store.runs_older_than(days(older_than, "--older-than"), settings.project)
            deleted = store.delete([info.run_id for info in old], dry_run=dry_run)
        else:
            deleted = store.delete([_stored(ref, store, settings.project) for ref in refs], dry_run=dry_run)
    if as_json:
        terminal.print_json(deleted_json(deleted, dry_run=dry_run))
    else:
        terminal.write(deleted_line(deleted, dry_run=dry_run))


def _stored(ref: str, store: Store, project: str) -> str:
    """The id of a run of the store; a run file is not in it, also where the store has the run that it was made of."""
    from measurand.run.store import is_run_file

    if is_run_file(ref):
        raise UsageError(Problem("run_file", "RUN", f"{ref} is a run file, not a run of the store", "remove the file itself, or name the run by its id"))
    return store.resolve(ref, project).info.run_id
