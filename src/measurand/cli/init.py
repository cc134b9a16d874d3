"""`metrics init`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from measurand.cli.session import Session, command
from measurand.core.errors import Problem, UsageError
from measurand.report import terminal


@command("init")
@click.option("--for", "data", metavar="DATA", help="The rows it is for: the columns are mapped, and metrics chosen that they can feed.")
@click.option("-o", "--output", metavar="FILE", default="metrics.toml", show_default=True, help="Where it goes; - is standard output.")
@click.option("--json", "as_json", is_flag=True, help="Say what was written as JSON.")
def init(session: Session, data: str | None, output: str, as_json: bool) -> None:
    """Write a commented metrics.toml that runs as it is."""
    from measurand.run.draft import draft_config

    text, chosen = draft_config(data, Path.cwd() if output == "-" else Path(output).resolve().parent)
    if output == "-":
        terminal.write(text, end="")
        return
    try:
        with open(output, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(Problem("file_exists", "-o", f"{output} is there already, and is not overwritten", "give another name with -o FILE")) from None
    except OSError as error:
        raise UsageError(Problem("cannot_write", "-o", f"{output} cannot be written: {(error.strerror or str(error)).lower()}")) from None
    if as_json:
        terminal.print_json({"ok": True, "path": output, "metrics": chosen})
    else:
        shown = "" if output == "metrics.toml" else f" -c {output}"
        terminal.write(
            f"wrote {terminal.shown_path(os.path.abspath(output))} with {terminal.counted(len(chosen), 'metric')}. Next: metrics check{shown}, then metrics run{shown}"
        )
