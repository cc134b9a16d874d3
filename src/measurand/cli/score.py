"""`metrics score`."""

from __future__ import annotations

from typing import Any, Final

import click

from measurand.cli.session import Session, command
from measurand.cli.work import data_options, pairs, rows_of, settings_of
from measurand.core.errors import ProblemsError
from measurand.report import terminal

_SECTIONS: Final = frozenset({"metrics", "data", "run", "project", "models", "embeddings"})


@command("score")
@click.argument("metrics", metavar="METRIC...", nargs=-1, required=True)
@data_options
@click.option("--json", "as_json", is_flag=True, help="JSON Lines, as without it.")
def score(session: Session, metrics: tuple[str, ...], as_json: bool, **typed: Any) -> int:
    """Rows in, results out: one JSON line a row and metric, in the order of the rows, in one pass; no run is stored.

    What models answer is recorded: the same rows again cost nothing.

    --set METRIC.OPTION=VALUE sets an option, --set METRIC.threshold=0.8 a threshold.
    """
    from measurand.report.problems_text import problems_json
    from measurand.run.stream import score_stream

    typed["data"] = typed["data"] or "-"
    waiting = typed["data"] == "-"  # the next row may be long in coming
    settings = settings_of(session, {**typed, "overrides": tuple(_of_metric(one) for one in typed["overrides"])})
    columns = pairs(typed["columns"], "--column", "FIELD=COLUMN")
    stream = score_stream(settings, metrics, rows_of(typed["data"], settings), columns)
    try:
        for result in stream:
            terminal.json_line(result.to_dict())
            if waiting:
                terminal.flush()
        stream.refuse_nothing()
    except ProblemsError as error:
        if not (as_json and terminal.document_printed()):
            raise
        terminal.json_line(problems_json(error.problems))
        return error.exit_code
    return 0 if stream.complete(settings.run.max_error_rate) else 3


def _of_metric(text: str) -> str:
    """`code_rouge_l.k=3` means `metrics.code_rouge_l.k=3`; a section of the config stays what it is."""
    first = text.partition("=")[0].partition(".")[0].strip()
    return text if first in _SECTIONS else f"metrics.{text}"
