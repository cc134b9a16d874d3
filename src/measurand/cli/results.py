"""`metrics results`."""

from __future__ import annotations

import sys

import click

from measurand.cli.reading import config_named, read_run, reading_settings
from measurand.cli.session import Session, command
from measurand.report import terminal


@command("results")
@click.argument("ref", metavar="RUN")
@click.option("--metric", metavar="NAME", help="Only this metric.")
@click.option("--id", "sample_id", metavar="SAMPLE", help="One row in full.")
@click.option("--failed", is_flag=True, help="Only results on the bad side of their threshold.")
@click.option("--errors", is_flag=True, help="Only errors.")
@click.option("--na", is_flag=True, help="Only results that do not apply.")
@click.option("--sort", type=click.Choice(["score"]), help="Lowest score first.")
@click.option("--limit", type=click.IntRange(min=1), help="At most N results.")
@click.option("--json", "as_json", is_flag=True, help="JSON Lines, one result a line.")
def results(
    session: Session,
    ref: str,
    metric: str | None,
    sample_id: str | None,
    failed: bool,
    errors: bool,
    na: bool,
    sort: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """The results of a run's rows; several filters mean any of them. With --id also every request and reply of the row.

    RUN is a run file, latest, latest~1, an id, a name, or the beginning of an id.
    """
    from measurand.report.calls_text import LONGEST, requests_json, requests_lines
    from measurand.report.results_text import results_lines, row_lines
    from measurand.run.results import stored_results
    from measurand.run.store import Verdict

    chosen: dict[Verdict, bool] = {"failed": failed, "error": errors, "not_applicable": na}
    status = tuple(name for name, wanted in chosen.items() if wanted)
    with read_run(ref, reading_settings(session)) as run:
        found = stored_results(run, metric=metric, status=status, sample_id=sample_id, by_score=sort == "score", limit=limit)
        if as_json:
            for result in found:
                terminal.json_line(result.to_dict())
            if sample_id is not None and (calls := run.calls(sample_id)):
                terminal.json_line(requests_json(sample_id, calls, run.info))
        elif sample_id is not None:
            longest = LONGEST if on_a_terminal() else None
            asked = requests_lines(run.calls(sample_id), run.info, longest=longest)
            terminal.write("\n".join([*row_lines(run.row(sample_id), list(found)), *asked]))
        else:
            for line in results_lines(found, run, ref, filtered=bool(status or metric or limit), config=config_named(session)):
                terminal.write(line)


def on_a_terminal() -> bool:
    """Whether stdout is one: what is piped is whole."""
    return sys.stdout.isatty()
