"""One row while its metrics ask: whoever a metric's requests go to, what is kept of the answers beside the score."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, field

from measurand.core.drive import AsyncAnswer
from measurand.core.errors import CellError
from measurand.core.instance import Instance
from measurand.core.request import Ask, Embed, Request, Split, Write
from measurand.judge import Reply, Row, asked
from measurand.judge.ask import mean
from measurand.judge.explain import explain
from measurand.run.asking.caller import Caller
from measurand.run.asking.panel import asked_of
from measurand.run.asking.waves import Waves
from measurand.run.store.values import Use
from measurand.runtime.tokens import estimate

if TYPE_CHECKING:
    from measurand.run.asking.desk import Desk


@define
class Kept:
    """What a result keeps of its judges' answers."""

    draws: list[dict[str, Any]] = field(factory=list)
    flags: list[str] = field(factory=list)
    last: tuple[Ask, Any] | None = None
    """The last closed question and its answer: what a reason is asked for."""
    reason: str | None = None

    def add(self, reply: Reply, judge: str, panel: bool) -> None:
        """One answer more."""
        self.draws += [{"judge": judge, **draw} if panel else dict(draw) for draw in reply.draws]
        for flag in reply.flags:
            self.flag(flag)

    def flag(self, name: str) -> None:
        """Something that whoever reads the score should know; said once."""
        if name not in self.flags:
            self.flags.append(name)


class RowDesk:
    """Answers the requests of one row's metrics. Made when the row begins, closed when it is done."""

    def __init__(self, desk: Desk, ordinal: int, fields: Mapping[str, Any]) -> None:
        self._desk = desk
        self._ordinal = ordinal
        self._row = Row(fields)
        self._kept: dict[int, Kept] = {}
        self.waves = Waves(desk, self._row, ordinal)

    def answering(self, index: int, one: Instance) -> AsyncAnswer:
        """Who answers the metric at `index`."""
        kept = self._kept.setdefault(index, Kept())

        async def answer(request: Request[Any]) -> Any:
            use = (self._ordinal, index)
            if isinstance(request, Embed):
                return await self._desk.embedders[one.embedding or ""].vectors(request.texts, use)
            replies = self._enough(asked_of(one, request), await self._of_each_judge(request, one, use))
            for caller, reply in replies:
                kept.add(reply, caller.name, len(one.judge) > 1)
            if len(replies) < len(asked_of(one, request)):
                kept.flag("judge_missing")
            value = mean([reply.value for _, reply in replies])
            if isinstance(request, Ask) and value:
                kept.last = request, value
            return value

        return answer

    async def explain(self, index: int, one: Instance) -> None:
        """Asks the first judge why, now that the verdict is fixed. Without an answer the score stands and a flag says that there is no reason."""
        kept = self._kept[index]
        if kept.last is None:
            return
        request, verdicts = kept.last
        caller = self._desk.callers[one.judge[0]]
        try:
            asked_why = explain(request, verdicts, self._row, max_input_tokens=caller.model.settings.max_input_tokens, count=estimate)
            kept.reason = await caller.answer(asked_why, (self._ordinal, index))
        except CellError:
            kept.flags.append("no_reason")

    def kept(self, index: int) -> dict[str, Any]:
        """The keys of a result that its judges' answers add: `draws`, and `details.flags`."""
        found = self._kept.get(index)
        if found is None:
            return {}
        details = {**({"reason": found.reason} if found.reason else {}), **({"flags": found.flags} if found.flags else {})}
        return {**({"draws": found.draws} if len(found.draws) > 1 or "judge_missing" in found.flags else {}), **({"details": details} if details else {})}

    def close(self) -> None:
        """The row is done."""
        self._desk.row_ended(self._ordinal)

    async def _of_each_judge(self, request: Request[Any], one: Instance, use: Use) -> list[Reply | BaseException]:
        """Every judge's reply, or why there is none."""
        if one.ask == "together":
            return await self.waves.replies(request, use[1], one)
        callers = [self._desk.callers[name] for name in asked_of(one, request)]
        if len(callers) == 1:
            return [await self._of_judge(callers[0], request, one, use)]
        return await asyncio.gather(*(self._of_judge(caller, request, one, use) for caller in callers), return_exceptions=True)

    def _enough(self, judges: Sequence[str], found: Sequence[Reply | BaseException]) -> list[tuple[Caller, Reply]]:
        """The judges that answered; those that failed are left out while at least `min_judges` did."""
        good = [(self._desk.callers[name], reply) for name, reply in zip(judges, found, strict=True) if not isinstance(reply, BaseException)]
        bad = [reply for reply in found if isinstance(reply, BaseException)]
        ending = next((error for error in bad if not isinstance(error, CellError)), None)
        if ending is not None or len(good) < min(self._desk.min_judges or len(found), len(found)):
            raise ending or bad[0]
        return good

    async def _of_judge(self, caller: Caller, request: Request[Any], one: Instance, use: Use) -> Reply:
        parts = asked(request, self._row, caller.ways, draws=one.draws, max_input_tokens=caller.model.settings.max_input_tokens, count=estimate)
        ahead = self._desk.rows_ahead if isinstance(request, (Split, Write)) else 0  # others wait for it: begun early, they do not wait at the end
        return parts.combine(await all_of([caller.answer(part, use, ahead=ahead) for part in parts.parts]))


async def all_of(calls: Sequence[Any]) -> list[Any]:
    """Every result. All are waited for, also when one fails: what is paid for is kept. Then the first failure is raised."""
    if len(calls) == 1:
        return [await calls[0]]
    found = await asyncio.gather(*calls, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return list(found)
