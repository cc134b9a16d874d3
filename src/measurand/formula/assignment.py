"""Giving each row of a table at most one column, and each column to at most one row, so that the total weight is the largest there is."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from measurand.core.effort import still_time


def best_assignment(weights: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row the column it is given; None where it is given none, or one of weight 0. Weights are whole numbers from 0, so totals are exact.

    Shortest augmenting paths (Kuhn 1955; Jonker & Volgenant 1987): rows² × columns steps at worst, rows × columns where few rows want the same column.
    Raises `CellTimeoutError` when the cell's time is over.
    """
    table = _Table(weights)
    for row in range(len(weights)):
        still_time()
        table.place(row)
    given: list[int | None] = [None] * len(weights)
    for column, owner in enumerate(table.row_of):
        if owner is not None and column < len(weights[owner]) and weights[owner][column]:
            given[owner] = column
    return given


class _Table:
    """Rows placed so far, and the prices that prove that no other placing of them weighs more."""

    def __init__(self, weights: Sequence[Sequence[int]]) -> None:
        width = max(len(weights), max(map(len, weights), default=0))  # a column of weight 0 for every row that gets no other
        self.weights = [[*row, *[0] * (width - len(row))] for row in weights]
        self.row_of: list[int | None] = [None] * width
        self.row_prices = [max(row, default=0) for row in self.weights]
        self.column_prices = [0] * width

    def place(self, row: int) -> None:
        """Gives one more row a column, moving the rows before it where that weighs more."""
        width = len(self.row_of)
        slack: list[float] = [inf] * width
        before: list[int | None] = [None] * width
        reached: list[int] = []
        waiting = set(range(width))
        last: int | None = None
        while True:
            owner = row if last is None else self.row_of[last]
            if owner is None:
                break
            wanted, price = self.weights[owner], self.row_prices[owner]
            for column in waiting:
                loss = price + self.column_prices[column] - wanted[column]
                if loss < slack[column]:
                    slack[column], before[column] = loss, last
            following = min(waiting, key=lambda column: (slack[column], column))
            self._lower(slack[following], row, reached, waiting, slack)
            reached.append(following)
            waiting.remove(following)
            last = following
        self._move(row, last, before)

    def _lower(self, step: float, row: int, reached: Sequence[int], waiting: set[int], slack: list[float]) -> None:
        if not step:
            return
        by = int(step)
        self.row_prices[row] -= by
        for column in reached:
            self.column_prices[column] += by
            self.row_prices[self.row_of[column]] -= by  # type: ignore[index]  # a column is passed through only when a row has it
        for column in waiting:
            slack[column] -= by

    def _move(self, row: int, last: int | None, before: Sequence[int | None]) -> None:
        while last is not None:
            earlier = before[last]
            self.row_of[last] = row if earlier is None else self.row_of[earlier]
            last = earlier
