"""`metrics schema NAME`: JSON Schemas, generated from the code that reads and writes."""

from __future__ import annotations

import click

from measurand.cli.session import Session, command
from measurand.core.errors import Problem, UsageError, did_you_mean
from measurand.report import terminal


@command("schema")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Taken and not needed: a schema is JSON.")
def schema(session: Session, name: str | None, as_json: bool) -> None:
    """The JSON Schema of the config, of a record, or of what a command prints under --json. Without NAME: which there are."""
    from measurand.report.schemas import SCHEMAS

    if name is None:
        rows = [(known, meaning) for known, (meaning, _) in SCHEMAS.items()]
        terminal.write("\n".join(terminal.table(("NAME", "WHAT"), rows)))
        return
    if name not in SCHEMAS:
        hint = did_you_mean(name, SCHEMAS) or f"there are {', '.join(SCHEMAS)}"
        raise UsageError(Problem("unknown_schema", "metrics schema", f"there is no schema called '{name}'", hint))
    terminal.print_json(SCHEMAS[name][1]())
