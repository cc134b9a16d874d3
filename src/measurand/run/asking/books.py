"""The record of calls and the tally, kept together: whatever is found, made or shared for a cell is in both."""

from __future__ import annotations

import asyncio

from attrs import frozen

from measurand.run.asking.tally import Tally
from measurand.run.record import Ledger
from measurand.run.store.values import NewCall, Recorded, Use


@frozen(eq=False)
class Books:
    """What the callers of a run write into."""

    ledger: Ledger
    tally: Tally

    async def find(self, key: str, use: Use) -> Recorded | None:
        """A reply that may be reused, or None: then the key is ours until `keep` or `give_back`. Raises `CacheMissError` in a replay."""
        recorded = await self.ledger.claim(key, use)
        if recorded is not None:
            self.tally.reused(recorded.usage)
            self.tally.charge(use, recorded.usage)
        return recorded

    async def keep(self, key: str, call: NewCall, use: Use) -> None:
        """A call that was made; returns when it is committed."""
        await self.ledger.record(key, call, use)
        self.tally.charge(use, call.usage)

    async def share(self, key: str, use: Use) -> None:
        """A call of another cell that this one uses too."""
        await self.ledger.use(key, use)
        self.tally.share(use)

    async def give_back(self, key: str) -> None:
        """No call was made, or it is kept already: then nothing happens."""
        await asyncio.shield(self.ledger.release(key))
