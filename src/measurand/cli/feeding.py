"""What rows can feed: one validating pass over a dataset, counted for every metric."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measurand.cli.session import Session
from measurand.cli.work import rows_of
from measurand.core.metric import Metric
from measurand.report.feed_text import Feed, Lacking


def feed_of(data: str, metrics: Sequence[Metric[Any]], session: Session) -> Feed:
    """Reads the rows as a run would, with the [data] of the config that `-c` names, else the defaults. Raises `DataError` with every problem."""
    from measurand.config import from_mapping, load
    from measurand.data.dataset import Observer, survey
    from measurand.run.availability import Availability
    from measurand.run.plan import RunOptions, source_of

    settings = load(session.config, environ=os.environ) if session.config else from_mapping({}, Path.cwd(), environ=os.environ)
    house = {parameter.field for one in metrics for parameter in one.parameters if parameter.field.startswith("metadata.")}
    passes: list[Availability] = []

    def observer() -> Observer:
        passes.append(Availability(house))
        return passes[-1].observe

    columns: dict[str, Any] = {**settings.data.columns}
    dataset = survey(
        source_of(settings, RunOptions(data=rows_of(data, settings))),
        columns=columns,
        id_order=True,  # which metrics can be fed does not hang on how rows are called
        on_bad_row=settings.data.on_bad_row,
        observe=observer,
    )
    seen = passes[-1]
    fed = [(one, seen.fed(one)) for one in metrics]
    return Feed(
        rows=seen.rows,
        feedable=tuple((one, rows) for one, rows in fed if rows),
        lacking=tuple(Lacking(one, seen.lacking(one).missing) for one, rows in fed if not rows),
        mapping=tuple(dataset.mapping),
        notes=tuple(dataset.notes),
    )
