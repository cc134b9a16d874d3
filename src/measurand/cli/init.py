"""`metrics init`."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from measurand.cli.reading import CONFIG_NAME, confine
from measurand.cli.session import Session, command
from measurand.core.errors import Problem, UsageError
from measurand.report import terminal

_STDOUT = "-"


@command("init")
@click.option("--for", "data", metavar="DATA", help="The rows it is for: the columns are mapped, and metrics chosen that score them.")
@click.option("-o", "--output", metavar="FILE", default=CONFIG_NAME, show_default=True, help="Where it goes; - is standard output.")
@click.option("--json", "as_json", is_flag=True, help="Say what was written as JSON.")
def init(session: Session, data: str | None, output: str, as_json: bool) -> None:  # every command is given the session
    """Write a commented metrics.toml that runs as it is."""
    from measurand.run.draft import draft_config

    confine(data, "--for")
    if output != _STDOUT:
        _refuse(output)
    draft = draft_config(data, Path.cwd() if output == _STDOUT else Path(output).resolve().parent)
    if output == _STDOUT:
        terminal.write(draft.text, end="")
        return
    _write(output, draft.text)
    if as_json:
        terminal.print_json({"ok": True, "path": output, "metrics": list(draft.metrics)})
        return
    named = "" if output == CONFIG_NAME else f" {shlex.quote(output)}"
    wrote = f"wrote {terminal.shown_path(os.path.abspath(output))} with {terminal.counted(len(draft.metrics), 'metric')}"
    terminal.write(f"{wrote}. Next: metrics check{named}, then metrics run{named}")


def _refuse(output: str) -> None:
    confine(output, "-o")
    if os.path.lexists(output):
        raise UsageError(Problem("file_exists", "-o", f"{output} is there already, and is not overwritten", "give another name with -o FILE"))


def _write(output: str, text: str) -> None:
    try:
        with open(output, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(Problem("cannot_write", "-o", f"{output} cannot be written: {(error.strerror or str(error)).lower()}")) from None
