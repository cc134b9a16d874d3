"""Whether anything may still be sent: closed by an interrupt, by an exhausted budget, or by what ended the run."""

from __future__ import annotations

from attrs import define

from measurand.core.errors import BudgetExceededError, MeasurandError, RunIncompleteError
from measurand.run.asking.budget import Amount, Budget


@define(eq=False)
class Gate:
    """Open until something closes it; then nothing new is sent, and what is in flight is waited for."""

    ended: MeasurandError | None = None
    """Why nothing is sent any more: the run ends with it."""
    exceeded: str | None = None
    """The limit of the budget that the next call would have gone beyond."""

    @property
    def closed(self) -> bool:
        """Whether no further row should be begun."""
        return self.ended is not None or self.exceeded is not None

    def check(self) -> None:
        """Raises what closed it: an error of the cell for the budget, else what ends the run."""
        if self.ended is not None:
            raise self.ended
        if self.exceeded is not None:
            raise BudgetExceededError(self.exceeded)

    async def within(self, budget: Budget, most: Amount) -> None:
        """Reserves `most`. Closes, and raises `BudgetExceededError`, when it does not fit."""
        try:
            await budget.reserve(most)
        except BudgetExceededError as error:
            self.exceeded = self.exceeded or error.message
            raise
        try:
            self.check()
        except Exception:
            await budget.settle(most, Amount())
            raise

    def end(self, error: MeasurandError) -> None:
        """Closes it; the first reason stays."""
        self.ended = self.ended or error

    def reason(self) -> RunIncompleteError | None:
        """What the run ends with because of the budget, if anything."""
        return None if self.exceeded is None else RunIncompleteError(f"the budget is used up: {self.exceeded}; everything paid for is stored")
