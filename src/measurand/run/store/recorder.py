"""One transaction of the record of calls: what was made is recorded, what was given up released, who asks is answered."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from sqlalchemy import Connection

from measurand.core.errors import StoreError
from measurand.run.store.calls import Mode, Reusable, call_row, calls_used, find_calls, insert_calls, link_calls
from measurand.run.store.driver import Driver
from measurand.run.store.engine import turn
from measurand.run.store.faults import told
from measurand.run.store.leases import Lease, give_all_back, give_back, leases_on, may_be_alive, new_holder, renew, retire, take
from measurand.run.store.values import Recorded, Use

if TYPE_CHECKING:
    from measurand.run.cassette import Cassette
    from measurand.run.record import Operation
    from measurand.run.store import Store

Claimed: TypeAlias = Recorded | Literal["yours", "wait", "miss"]

_POLL_S: Final = (0.1, 0.25)
_NEVER: Final = float("inf")
_OLD_LEASE_S: Final = 86_400.0


class Recorder:
    """The thread's side of a ledger: a connection, the leases held."""

    def __init__(self, store: Store, run: int | None, mode: Mode, cassette: Cassette | None, *, trust_imported: bool, ttl_s: float) -> None:
        self._store = store
        self._run = run
        self._replay = mode == "replay"
        self._reusable = Reusable.by(mode, run, trust_imported=trust_imported)
        self._cassette = cassette if self._reusable.imported else None
        self._ttl_s = ttl_s
        self._holder = new_holder()
        self._held: set[str] = set()
        self._connection: Connection | None = None
        self._driver: Driver | None = None
        self._clock = 0.0  # of the store, minus ours
        self.next_renewal = _NEVER

    @property
    def poll_s(self) -> float:
        """Until a key that another process holds is looked at again; never the same for two who wait."""
        return random.uniform(*_POLL_S)  # noqa: S311  # nothing is secret about it

    def commit(self, group: Sequence[Operation]) -> dict[Operation, Claimed]:
        """Everything in the group, or nothing: how each claim went. StoreError."""
        renewal = time.monotonic() >= self.next_renewal
        if not group and not renewal:
            return {}
        with told(self._store.place), turn(self._store.engine):
            driver = self._connected()
            try:
                driver.dialect.begin_calls(driver)
                claimed = self._all(driver, group, renewal=renewal)
                driver.commit()
            except BaseException:
                driver.rollback()
                raise
        self._held |= {one.key for one, answer in claimed.items() if answer == "yours"}
        self._held -= {one.key for one in group if one.kind in ("record", "release")} - {one.key for one, answer in claimed.items() if answer == "yours"}
        if not self._held:
            self.next_renewal = _NEVER
        elif renewal or self.next_renewal == _NEVER:
            self.next_renewal = time.monotonic() + self._ttl_s / 3
        return claimed

    def close(self, *, broken: bool) -> None:
        """Give back what is held and close the connection. A store that failed is not asked again: leases of a holder that retired are taken over."""
        retire(self._holder)
        if self._connection is None:
            return
        with contextlib.suppress(StoreError), told(self._store.place), turn(self._store.engine), self._connection:
            if self._driver is not None and not broken:
                self._driver.dialect.begin_calls(self._driver)
                give_all_back(self._driver, self._holder, expired_before=self._now() - _OLD_LEASE_S)
                self._driver.commit()

    def _connected(self) -> Driver:
        if self._driver is None:
            self._connection = self._store.engine.connect()
            driver = Driver(self._connection)
            self._clock = driver.dialect.now(driver) - time.time()
            driver.rollback()
            self._driver = driver
        return self._driver

    def _now(self) -> float:
        return time.time() + self._clock

    def _lease(self) -> Lease:
        return Lease(self._holder, self._now() + self._ttl_s)

    def _all(self, driver: Driver, group: Sequence[Operation], *, renewal: bool) -> dict[Operation, Claimed]:
        if renewal and self._held:
            renew(driver, self._lease())
        records = [one for one in group if one.call is not None]
        numbers = insert_calls(driver, [one.call for one in records if one.call is not None])
        self._link(driver, ((one.use, number) for one, number in zip(records, numbers, strict=True)))
        ended = {one.key for one in group if one.kind in ("record", "release")}
        if ended & self._held:
            give_back(driver, ended & self._held, self._holder)
        self._use(driver, [one for one in group if one.kind == "use"])
        return self._claim(driver, [one for one in group if one.kind == "claim"], self._held - ended)

    def _link(self, driver: Driver, used: Iterable[tuple[Use | None, int]]) -> None:
        if self._run is not None:
            link_calls(driver, [(self._run, *use, call) for use, call in used if use is not None])

    def _use(self, driver: Driver, uses: Sequence[Operation]) -> None:
        if uses and self._run is not None:
            keys = list(dict.fromkeys(one.key for one in uses))
            calls = calls_used(driver, self._run, keys)
            others = [key for key in keys if key not in calls]
            calls |= {key: found.call for key, found in find_calls(driver, others, self._reusable).items()}
            self._link(driver, ((one.use, calls[one.key]) for one in uses if one.key in calls))

    def _claim(self, driver: Driver, claims: Sequence[Operation], held: set[str]) -> dict[Operation, Claimed]:
        if not claims:
            return {}
        keys = list(dict.fromkeys(one.key for one in claims))
        found = find_calls(driver, keys, self._reusable)
        missing = [key for key in keys if key not in found]
        if missing and self._cassette is not None:
            found |= self._from_cassette(driver, missing)
            missing = [key for key in missing if key not in found]
        self._link(driver, ((one.use, found[one.key].call) for one in claims if one.key in found))
        free = set() if self._replay else self._taken(driver, [key for key in missing if key not in held])
        answers: dict[Operation, Claimed] = {}
        for one in claims:
            if one.key in found:
                answers[one] = found[one.key]
            elif self._replay:
                answers[one] = "miss"
            else:
                answers[one] = "yours" if one.key in free else "wait"
                free.discard(one.key)  # a second one who asks waits for the first
        return answers

    def _from_cassette(self, driver: Driver, keys: Sequence[str]) -> dict[str, Recorded]:
        """Replies of the cassette, copied into the store as imported, so that a run can say that it used them."""
        assert self._cassette is not None
        calls = {key: call for key in keys if (call := self._cassette.find(key, only_ok=self._reusable.only_ok)) is not None}
        insert_calls(driver, [call_row(key, call, run=None, imported=True) for key, call in calls.items()])
        return find_calls(driver, calls, self._reusable) if calls else {}

    def _taken(self, driver: Driver, keys: Sequence[str]) -> set[str]:
        """Those of the keys that nobody else holds: leased to us now."""
        if not keys:
            return set()
        leased = leases_on(driver, keys)
        now = self._now()
        free = [key for key in keys if key not in leased or leased[key].expires_at <= now or not may_be_alive(leased[key].holder)]
        if free:
            take(driver, free, self._lease())
        return set(free)
