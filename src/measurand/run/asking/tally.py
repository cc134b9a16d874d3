"""What a run has asked so far, for the progress bar and for correcting estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import define, field

from measurand.core.exchange import TokenUsage
from measurand.core.result import CallUsage

_ENOUGH: Final = 20
"""Live calls after which estimates follow what the server counts."""
_MARGINS: Final = 1.15, 1.05
"""How much more than estimated a request may have, before and after that: what is set aside for a call must not be less than it costs."""


@define(eq=False)
class Tally:
    """Counts since the start of this process."""

    calls: int = 0
    """Paid for, and reused."""
    cached: int = 0
    unreported: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    of_cell: dict[tuple[int, int], list[Mapping[str, Any]]] = field(factory=dict)
    """The usage of the calls that each cell was charged with, until its row is done."""
    shared: dict[tuple[int, int], int] = field(factory=dict)
    """How many calls each cell shares with one that was charged with them."""
    _estimated: int = 0
    _counted: int = 0
    _compared: int = 0

    def paid(self, usage: TokenUsage, cost_usd: float | None) -> None:
        """One call was answered by the model."""
        self.calls += 1
        self.unreported += not usage.reported
        self.unpriced += cost_usd is None
        self.cost_usd += cost_usd or 0.0

    def reused(self, usage: Mapping[str, Any]) -> None:
        """One call was answered from the record."""
        self.calls += int(usage.get("calls", 1))
        self.cached += int(usage.get("calls", 1))

    def charge(self, use: tuple[int, int], usage: Mapping[str, Any]) -> None:
        """A call that was made for a cell, or found recorded for it."""
        self.of_cell.setdefault(use, []).append(usage)

    def share(self, use: tuple[int, int]) -> None:
        """A call that another cell is charged with."""
        self.shared[use] = self.shared.get(use, 0) + 1

    def usage_of(self, use: tuple[int, int]) -> CallUsage:
        """What a cell cost."""
        charged = self.of_cell.get(use, [])
        costs = [one.get("cost_usd") for one in charged]
        return CallUsage(
            calls=sum(int(one.get("calls", 1)) for one in charged),
            shared_calls=self.shared.get(use, 0),
            input_tokens=sum(int(one.get("input_tokens", 0)) for one in charged),
            output_tokens=sum(int(one.get("output_tokens", 0)) for one in charged),
            cost_usd=None if None in costs else sum(float(cost or 0.0) for cost in costs),
            latency_s=sum(float(one.get("latency_s", 0.0)) for one in charged),
        )

    def row_ended(self, ordinal: int) -> None:
        """Forgets the cells of a row."""
        for kept in (self.of_cell, self.shared):
            for use in [one for one in kept if one[0] == ordinal]:
                del kept[use]

    def compare(self, estimated: int, usage: TokenUsage) -> None:
        """Holds an estimate beside what the server counted."""
        if usage.reported:
            self._estimated += estimated
            self._counted += usage.input_tokens
            self._compared += 1

    @property
    def learning(self) -> bool:
        """Whether estimates are still held beside what the server counts."""
        return self._compared < _ENOUGH

    @property
    def correction(self) -> float:
        """By how much an estimate of what is sent is multiplied, so that a call does not cost more than was set aside for it."""
        unknown, known = _MARGINS
        return unknown if self.learning or not self._estimated else known * self._counted / self._estimated
