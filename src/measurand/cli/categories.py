"""`metrics categories`: the flags."""

from __future__ import annotations

import click

from measurand.cli.session import Session, command
from measurand.core.taxonomy import MEANINGS
from measurand.index import registry
from measurand.report import terminal


@command("categories")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def categories(session: Session, as_json: bool) -> None:
    """Every flag a metric can have, what it means, and how many metrics have it."""
    counts = {flag: sum(1 for one in registry if one.categories & flag) for flag in MEANINGS}
    if as_json:
        terminal.print_json([{"name": flag.name, "value": int(flag), "meaning": meaning, "metrics": counts[flag]} for flag, meaning in MEANINGS.items()])
        return
    rows = [(str(flag), terminal.thousands(counts[flag]), meaning) for flag, meaning in MEANINGS.items()]
    terminal.write("\n".join(terminal.table(("FLAG", "METRICS", "MEANING"), rows, right=(1,), wrap=True)))
    terminal.note("Metrics of one: metrics list --category rag (also requires-context, RequiresContext); of several at once: repeat --category")
