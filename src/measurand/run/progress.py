"""How far a run is, as its door shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen


@frozen
class Progress:
    """Counts so far. `calls` are those made and those reused; `cost_usd` is what this process paid, None where a price is not known."""

    rows: int
    errors: int
    calls: int = 0
    cached: int = 0
    cost_usd: float | None = 0.0


Report: TypeAlias = Callable[[Progress], None]
