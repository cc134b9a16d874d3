"""`metrics show NAME`: one metric in full."""

from __future__ import annotations

from typing import Any

import click

from measurand.cli.questions import questions_known
from measurand.cli.session import Session, command
from measurand.core.errors import Problem, UsageError
from measurand.core.metric import Metric
from measurand.index import registry
from measurand.report import terminal
from measurand.report.metric_text import computed_example, metric_in_full, metric_lines


@command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(session: Session, name: str, as_json: bool) -> None:
    """One metric in full: definition, fields, options, source, relations, and an example computed on the spot.

    Of a metric that asks a model: its question, and the requests that the example would send, word for word. Nothing is sent.

    NAME may also be another project's name for the same metric, or a bare quantity such as token_f1.
    """
    questions_known(session)
    one = _named(name)
    example = computed_example(one)
    if as_json:
        terminal.print_json(metric_in_full(one, example))
        return
    if one.name != name:
        terminal.say(terminal.safe(f"'{name}' is {one.name}"))
    terminal.write("\n".join(metric_lines(one, example, terminal.width())))


def _named(name: str) -> Metric[Any]:
    found = registry.get(name)
    if found is not None:
        return found
    candidates = registry.quantity(name)
    if len(candidates) == 1:
        return candidates[0]
    resolved = registry.resolve(name, lambda one: True, "metrics show")
    if isinstance(resolved, Problem):
        raise UsageError(resolved)
    return resolved
