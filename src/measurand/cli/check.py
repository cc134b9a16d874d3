"""`metrics check`."""

from __future__ import annotations

import os
from typing import Any

import click

from measurand.cli.records import opened_cassette, record_options
from measurand.cli.session import Session, command
from measurand.cli.typed import run_command
from measurand.cli.work import plan_of, run_options
from measurand.core.errors import ProblemsError
from measurand.report import terminal


@command("check")
@run_options
@record_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def check(session: Session, as_json: bool, cassette: str | None, **typed: Any) -> int:
    """Everything a run needs, before anything is paid: every problem at once, the mapping, the plan.

    CONFIG is a metrics.toml, default ./metrics.toml. Nothing is sent.
    """
    from measurand.config import Bounds
    from measurand.report.plan_text import plan_lines

    with opened_cassette(cassette) as records:
        plan = plan_of(session, {**typed, "records": records})
    if as_json:
        terminal.print_json(plan.to_dict())
        return 0 if plan.ok else 2
    if not plan.ok:
        raise ProblemsError(plan.problems)
    terminal.write("\n".join(plan_lines(plan, Bounds.from_environ(os.environ).describe(), run_command())))
    return 0
