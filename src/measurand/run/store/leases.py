"""Leases: who is making a call right now, so that several processes on one store do not all pay for it."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from measurand.run.store.driver import Driver, in_groups

TTL_S: Final = 90.0
"""How long a lease is good for when its holder does not renew it."""

_HERE: Final[set[str]] = set()  # the holders of this process that are at work


class Lease(NamedTuple):
    """`expires_at`: seconds since 1970, by the store's clock."""

    holder: str
    expires_at: float


def new_holder() -> str:
    """A name for a new holder in this process: host:pid:random."""
    holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    _HERE.add(holder)
    return holder


def retire(holder: str) -> None:
    """The holder is at work no more; what it still holds may be taken over."""
    _HERE.discard(holder)


def may_be_alive(holder: str) -> bool:
    """False for a holder of this host whose process ended, or which ended inside this process. One on another host may be alive."""
    host, _, rest = holder.partition(":") if holder.count(":") == 2 else ("", "", "")
    number = rest.partition(":")[0]
    if not number.isdecimal() or host != socket.gethostname():
        return True
    if int(number) == os.getpid():  # in a container every process has the same number as the one before it
        return holder in _HERE
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def leases_on(driver: Driver, keys: Sequence[str]) -> dict[str, Lease]:
    """The leases there are on these keys, whatever they are worth."""
    found = {}
    for some in in_groups(keys):
        places = driver.places(len(some))
        for key, holder, expires_at in driver.rows(f"SELECT key, holder, expires_at FROM leases WHERE key IN ({places})", some):  # noqa: S608
            found[key] = Lease(holder, expires_at)
    return found


def take(driver: Driver, keys: Iterable[str], lease: Lease) -> None:
    """Lease keys, also from another holder."""
    newer = "ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at"
    driver.insert("leases", [(key, *lease) for key in keys], newer)


def give_back(driver: Driver, keys: Iterable[str], holder: str) -> None:
    """End the holder's leases on these keys."""
    for some in in_groups(keys):
        driver.do(f"DELETE FROM leases WHERE key IN ({driver.places(len(some))}) AND holder = {driver.place}", (*some, holder))  # noqa: S608


def give_all_back(driver: Driver, holder: str, *, expired_before: float) -> None:
    """End all leases of the holder, and those that expired before a moment."""
    driver.do(f"DELETE FROM leases WHERE holder = {driver.place} OR expires_at < {driver.place}", (holder, expired_before))  # noqa: S608


def renew(driver: Driver, lease: Lease) -> None:
    """All leases of the holder are good for longer."""
    driver.do(f"UPDATE leases SET expires_at = {driver.place} WHERE holder = {driver.place}", (lease.expires_at, lease.holder))  # noqa: S608
