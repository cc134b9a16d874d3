"""What rows can feed: one validating pass over a dataset, counted for every metric."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measurand.cli.session import Session
from measurand.core.metric import Metric
from measurand.report.catalogue_text import Feed, Lacking

if TYPE_CHECKING:
    from measurand.data.source import Source


def feed_of(data: str, metrics: Sequence[Metric[Any]], session: Session) -> Feed:
    """Reads the rows as a run would (with the [data] of the config that `-c` names). Raises `DataError` with every problem."""
    from measurand.data.dataset import survey
    from measurand.run.availability import Availability

    with _Opened(data, session) as opened:
        house = {parameter.field for one in metrics for parameter in one.parameters if parameter.field.startswith("metadata.")}
        availability = Availability(house)

        def restarted() -> Any:
            nonlocal availability
            availability = Availability(house)
            return availability.observe

        dataset = survey(opened.source, columns=opened.columns, id_order=opened.id_order, on_bad_row=opened.on_bad_row, observe=restarted())
    fed = [(one, availability.fed(one)) for one in metrics]
    return Feed(
        rows=availability.rows,
        feedable=tuple((one, rows) for one, rows in fed if rows),
        lacking=tuple(Lacking(one, availability.lacking(one).missing) for one, rows in fed if not rows),
        mapping=tuple(dataset.mapping),
        notes=tuple(dataset.notes),
    )


class _Opened:
    """The rows to read, and how; "-" is kept in a private file until they were read."""

    def __init__(self, data: str, session: Session) -> None:
        self._data = data
        self._spooled: Path | None = None
        self.columns: Mapping[str, Any] = {}
        self.id_order = False
        self.on_bad_row = "stop"
        self._settings: Any = None
        if session.config is not None:
            from measurand.config import load

            self._settings = load(session.config, environ=os.environ)
            self.columns = self._settings.data.columns

    def __enter__(self) -> _Opened:
        import sys

        from measurand.data.source import ReadOptions, open_source, spool

        read = ReadOptions()
        if self._settings is not None:
            asked = self._settings.data
            self.id_order, self.on_bad_row = asked.id == "order", asked.on_bad_row
            read = ReadOptions(asked.format, asked.encoding, asked.delimiter, asked.max_row_bytes, asked.max_field_chars)
        if self._data == "-":
            self._spooled = spool(sys.stdin.buffer)
        self.source: Source = open_source(self._spooled or self._data, read, Path.cwd())
        return self

    def __exit__(self, *raised: object) -> None:
        if self._spooled is not None:
            self._spooled.unlink(missing_ok=True)
