"""How much of a plan is recorded already: its metrics are driven on some rows with the recorded replies, as far as there are any."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import define, field

from measurand.core.drive import stand_in
from measurand.core.errors import CellError
from measurand.core.request import Embed, Request
from measurand.core.result import passed
from measurand.judge import Exchange, Row, Unreadable, asked
from measurand.run.asking.call_key import call_key
from measurand.run.asking.panel import asked_of
from measurand.run.cost import Cells, Estimate, Reads
from measurand.run.record_json import completion_of, request_json
from measurand.run.sample import Sampled
from measurand.run.store.values import Recorded
from measurand.runtime.model import identity_of
from measurand.runtime.tokens import estimate, estimate_request

LOOKED_AT: Final = 100
"""Rows that are looked up."""

Find: TypeAlias = Callable[[str], "Recorded | None"]


@define
class Reuse:
    """Requests looked up, and those found: how many, and what they weigh in tokens."""

    asked: int = 0
    found: int = 0
    weight: float = 0.0
    found_weight: float = 0.0
    whole: bool = False
    """Whether every row was looked up."""

    @property
    def share(self) -> float:
        """Share of the calls that are recorded."""
        return self.found / self.asked if self.asked else 0.0

    @property
    def left(self) -> float:
        """Share of the cost that is not."""
        return 1.0 - self.found_weight / self.weight if self.weight else 1.0


def reuse(cells: Cells, planned: Estimate, rows: Sequence[Sampled], find: Find, *, of: int) -> Reuse:
    """What of the metrics that ask judges question by question is recorded; those that ask together, and embeddings, are left out.

    `rows` are a sample of the `of` rows that there are.
    """
    total = Reuse(whole=of == len(rows) <= LOOKED_AT)
    step = -(-len(rows) // LOOKED_AT) or 1
    for row in rows[::step]:
        _Row(cells, planned, Row(row.fields), find, total).go(row.fields)
        if not total.found and total.asked > LOOKED_AT:
            break
    return total


@define(eq=False)
class _Row:
    cells: Cells
    planned: Estimate
    row: Row
    find: Find
    total: Reuse
    _seen: set[str] = field(factory=set)

    def go(self, fields: Mapping[str, Any]) -> None:
        """Drives every metric on the row."""
        for cell in self.cells.of(fields):
            if self.cells.instance(cell.index).ask == "together":
                continue
            while cell.request is not None:
                self._go_on(cell, cell.request)
            self._reason(cell)

    def _reason(self, cell: Reads) -> None:
        """The reason that follows; of failures alone, where the recorded verdicts say that it is one."""
        one = self.cells.instance(cell.index)
        exchange = cell.reason(one, self.row)
        score = cell.outcome[1] if cell.outcome else None
        if exchange is not None and (one.explain == "all" or passed(score, one.threshold, one.metric.direction) is False):
            self._looked_up(exchange, identity_of(self._settings(one.judge[0])))

    def _go_on(self, cell: Reads, request: Request[Any]) -> None:
        try:
            answer = None if isinstance(request, Embed) else self._answer(cell.index, request)
        except CellError as error:
            cell.fail(error)
        else:
            cell.send(stand_in(1.0)(request) if answer is None else answer)

    def _answer(self, index: int, request: Request[Any]) -> Any:
        """The recorded answer of the first judge, None where any part of it is not recorded."""
        one = self.cells.instance(index)
        answers = [self._of_judge(name, request, one.draws) for name in asked_of(one, request)]
        return answers[0] if answers and all(answer is not None for answer in answers) else None

    def _of_judge(self, name: str, request: Request[Any], draws: int) -> Any:
        settings = self._settings(name)
        whole = asked(request, self.row, self.planned.ways[name], draws=draws, max_input_tokens=settings.max_input_tokens, count=estimate)
        identity = identity_of(settings)
        readings = []
        for part in whole.parts:
            recorded = self._looked_up(part, identity)
            try:
                readings.append(None if recorded is None else part.read(completion_of(recorded.reply)))
            except Unreadable:
                readings.append(None)
        return None if any(reading is None for reading in readings) else whole.combine(readings).value

    def _settings(self, name: str) -> Any:
        return self.cells.judge(name).settings

    def _looked_up(self, part: Exchange, identity: Mapping[str, Any]) -> Recorded | None:
        key = call_key("chat", identity, request_json(part.request))
        recorded = self.find(key)
        self._count(key, recorded is not None, estimate_request(part.request) + 4 * part.output_tokens)
        return recorded

    def _count(self, key: str, found: bool, weight: float) -> None:
        if key in self._seen:
            return
        self._seen.add(key)
        self.total.asked += 1
        self.total.weight += weight
        self.total.found += found
        self.total.found_weight += weight * found
