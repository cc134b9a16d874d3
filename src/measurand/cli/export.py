"""`metrics export`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from measurand.cli.reading import confine, read_run, reading_settings
from measurand.cli.session import Session, command
from measurand.core.errors import Problem, UsageError
from measurand.report import terminal


@command("export")
@click.argument("ref", metavar="RUN")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="The file; its suffix tells the format.")
@click.option("--format", "form", type=click.Choice(["run", "jsonl", "csv", "parquet", "ragas", "deepeval", "otel", "inspect"]), help="Instead of the suffix.")
@click.option("--no-content", is_flag=True, help="Without texts: no rows, no details.")
@click.option("--json", "as_json", is_flag=True, help="Say what was written as JSON.")
def export(session: Session, ref: str, output: Path | None, form: str | None, no_content: bool, as_json: bool) -> None:
    """A run as a file: JSON Lines, CSV, Parquet, or `run`, the whole run, which every command accepts as RUN.

    Without -o it goes to standard output, as JSON Lines unless --format says otherwise.
    """
    from measurand.run.export import BINARY, format_for
    from measurand.run.export import export as write

    if output is not None and str(output) == "-":
        output = None
    chosen = format_for(output, form)
    confine(output, "-o")
    if output is None and chosen in BINARY and sys.stdout.isatty():
        raise UsageError(Problem("binary_output", f"--format {chosen}", "is binary and would garble the terminal", "give -o FILE"))
    with read_run(ref, reading_settings(session)) as run:
        try:
            write(run, output, chosen, sys.stdout.buffer, content=not no_content)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise terminal.StdoutError(error) from None
        rows, label = len(run), run.info.label
    if output is None:
        return
    if as_json:
        terminal.print_json({"ok": True, "path": str(output), "format": chosen, "rows": rows})
    else:
        terminal.say(f"wrote {terminal.counted(rows, 'row')} of run {terminal.safe(label)} to {terminal.shown_path(output)}")
