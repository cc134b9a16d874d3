"""The record of calls while a run is at work: who may make a call, what was answered, committed in groups before it is used.

The event loop only queues; one thread with its own connection takes what is queued and commits it as one transaction.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias

from attrs import define

from measurand.core.errors import CacheMissError, StoreError
from measurand.run.record_json import completion_json, completion_of, request_json, served_json, usage_json, vector_json, vector_of
from measurand.run.store.calls import CallRow, Mode, call_row
from measurand.run.store.leases import TTL_S
from measurand.run.store.recorder import Claimed, Recorder
from measurand.run.store.values import OF_THE_RUN, NewCall, Recorded, Use

if TYPE_CHECKING:
    from measurand.run.cassette import Cassette
    from measurand.run.store import Store

__all__ = [
    "OF_THE_RUN", "Ledger", "Mode", "NewCall", "Recorded", "Use",
    "completion_json", "completion_of", "request_json", "served_json", "usage_json", "vector_json", "vector_of",
]  # fmt: skip

_GATHER_S: Final = 0.01
"""How long the loop gathers operations before it wakes the thread: two threads that take turns at every call cost more than the work itself."""
_MOST: Final = 500  # operations of one transaction
_IDLE_S: Final = 3600.0
_NEVER: Final = float("inf")
_CLOSE_S: Final = 60.0

Kind: TypeAlias = Literal["claim", "record", "use", "release", "flush"]


@define(eq=False)
class Operation:
    """One thing to be done in the next transaction, and who waits for it."""

    kind: Kind
    key: str = ""
    use: Use | None = None
    call: CallRow | None = None
    future: asyncio.Future[Any] | None = None
    loop: asyncio.AbstractEventLoop | None = None

    @property
    def unwanted(self) -> bool:
        """Whether whoever waited has gone."""
        return self.future is not None and self.future.cancelled()


class Ledger:
    """The record of calls of one run, for one event loop at a time. Every method may be called for many keys at once.

    Modes: `cache` reuses complete readable replies; `live` only those that this run made; `replay` everything, and never lets a call be made.
    An imported reply answers in `replay`, in `cache` with `trust_imported`; `cassette` stands below the store. Without `keep_texts` requests and
    replies are not kept, only what they cost: such calls cannot be reused, neither by a resumed run nor in a replay.
    Raises `StoreError` (exit 3) from every method when the store cannot be written: then from all that wait, and from every later one.
    """

    def __init__(
        self,
        store: Store,
        run_id: str | None = None,
        *,
        mode: Mode = "cache",
        cassette: Cassette | None = None,
        trust_imported: bool = False,
        keep_texts: bool = True,
        ttl_s: float = TTL_S,
    ) -> None:
        self._run = None if run_id is None else store.key_of(run_id)
        self._mode = mode
        self._keep_texts = keep_texts
        self._queue: SimpleQueue[list[Operation] | None] = SimpleQueue()
        self._gathered: list[Operation] = []
        self._recorder = Recorder(store, self._run, mode, cassette, trust_imported=trust_imported, ttl_s=ttl_s)
        self._gate = Lock()
        self._closed = False
        self._broken: StoreError | None = None
        self._thread = Thread(target=self._work, name="measurand-ledger", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def claim(self, key: str, use: Use | None = None) -> Recorded | None:
        """A record that may be reused, committed as used by `use`; or None: the caller now holds the key and must `record` or `release` it.

        Waits while another process, or another caller of this one, holds the key. In `replay` a key without a record raises `CacheMissError`.
        """
        found: Recorded | None = await self._done(Operation("claim", key, use))
        return found

    async def record(self, key: str, call: NewCall, use: Use | None = None) -> None:
        """Record a call that was made, used by `use`; returns when it is committed. ValueError for what is no JSON, before anything is queued."""
        row = call_row(key, call, run=self._run, keep_texts=self._keep_texts)
        await self._done(Operation("record", key, use, row))

    async def release(self, key: str) -> None:
        """Give a claimed key back without a record: whoever waits for it may make the call."""
        await self._done(Operation("release", key))

    async def use(self, key: str, use: Use) -> None:
        """Say that a recorded call has one more user: the one that this run has used or made, else the newest that may be reused; if any."""
        await self._done(Operation("use", key, use))

    async def flush(self) -> None:
        """Returns when everything queued before is committed."""
        await self._done(Operation("flush"))

    def close(self) -> None:
        """Commit what is queued, give every key back, end the thread. May be called twice. Does not raise: what failed was raised to whoever waited."""
        with self._gate:
            closed, self._closed = self._closed, True
            if not closed:
                self._queue.put(self._gathered)
                self._gathered = []
                self._queue.put(None)
        self._thread.join(_CLOSE_S)

    async def _done(self, operation: Operation) -> Any:
        operation.loop = asyncio.get_running_loop()
        operation.future = operation.loop.create_future()
        with self._gate:
            if self._closed:
                raise StoreError("the record of calls is closed")
            self._gathered.append(operation)
            first = len(self._gathered) == 1
        if first:
            operation.loop.call_later(_GATHER_S, self._pass_on)
        return await operation.future

    def _pass_on(self) -> None:
        """Gives the thread what has gathered."""
        with self._gate:
            if self._gathered and not self._closed:
                self._queue.put(self._gathered)
                self._gathered = []

    # ------------------------------------------------------------ in the thread

    def _work(self) -> None:
        waiting: list[Operation] = []
        poll_at = _NEVER
        more = True
        try:
            while more:
                group, more = self._collect(min(poll_at, self._recorder.next_renewal if self._broken is None else _NEVER))
                touched = {one.key for one in group if one.kind in ("record", "release")}
                polled = time.monotonic() >= poll_at or self._broken is not None
                again = [one for one in waiting if polled or one.key in touched]
                waiting = [one for one in waiting if not polled and one.key not in touched]
                waiting += self._commit([*again, *group])
                if not waiting:
                    poll_at = _NEVER
                elif polled or poll_at == _NEVER:
                    poll_at = time.monotonic() + self._recorder.poll_s
        finally:
            _settle(waiting, error=self._broken or StoreError("the record of calls was closed while a call was awaited"))
            self._recorder.close(broken=self._broken is not None)

    def _collect(self, until: float) -> tuple[list[Operation], bool]:
        """What is queued, at once: while one group is committed the next one gathers. False at the end."""
        group: list[Operation] = []
        try:
            some = self._queue.get(timeout=max(0.0, min(until - time.monotonic(), _IDLE_S)))
            while some is not None:
                group += some
                if len(group) >= _MOST:
                    return group, True
                some = self._queue.get_nowait()
        except Empty:
            return group, True
        return group, False

    def _commit(self, group: list[Operation]) -> list[Operation]:
        """One transaction; everybody who waited is told. Returns the claims that go on waiting."""
        wanted = [one for one in group if not (one.unwanted and one.kind == "claim")]
        if self._broken is not None:
            _settle(wanted, error=self._broken)
            return []
        try:
            claimed = self._recorder.commit(wanted)
        except StoreError as error:
            self._broken = error
            _settle(wanted, error=error)
            return []
        except BaseException as error:  # noqa: BLE001  # whatever it is, nobody is left waiting
            self._broken = StoreError(f"the record of calls failed: {error}")
            self._broken.__cause__ = error
            _settle(wanted, error=self._broken)
            return []
        return self._tell(wanted, claimed)

    def _tell(self, group: list[Operation], claimed: dict[Operation, Claimed]) -> list[Operation]:
        told: list[tuple[Operation, Any, BaseException | None]] = []
        waiting = []
        for one in group:
            if one.kind != "claim":
                told.append((one, None, None))
            elif claimed[one] == "wait":
                waiting.append(one)
            elif claimed[one] == "miss":
                told.append((one, None, CacheMissError("no reply to this request is recorded, and a replay sends nothing")))
            else:
                told.append((one, None if claimed[one] == "yours" else claimed[one], None))
        _deliver(told, self._gone)
        return waiting

    def _gone(self, one: Operation) -> None:
        """A key was given to a caller who had gone."""
        with self._gate:
            if not self._closed:
                self._queue.put([Operation("release", one.key)])


def _settle(group: list[Operation], error: BaseException) -> None:
    _deliver([(one, None, error) for one in group], lambda _: None)


def _deliver(told: list[tuple[Operation, Any, BaseException | None]], gone: Callable[[Operation], None]) -> None:
    """One wake-up of each loop for all that wait in it."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[Operation, Any, BaseException | None]]] = {}
    for entry in told:
        if entry[0].loop is not None:
            loops.setdefault(entry[0].loop, []).append(entry)
    for loop, entries in loops.items():
        try:
            loop.call_soon_threadsafe(_resolve, entries, gone)
        except RuntimeError:  # the loop is closed: nobody waits any more
            for one, _, _ in entries:
                gone(one)


def _resolve(entries: list[tuple[Operation, Any, BaseException | None]], gone: Callable[[Operation], None]) -> None:
    for one, result, error in entries:
        assert one.future is not None
        if one.future.done():
            if one.kind == "claim" and result is None and error is None:
                gone(one)
        elif error is not None:
            one.future.set_exception(_own(error))
        else:
            one.future.set_result(result)


def _own(error: BaseException) -> BaseException:
    """An exception of its own for each who waits: one raised in several places collects all their traces."""
    if not isinstance(error, StoreError):
        return error
    copy = StoreError(*error.args)
    copy.exit_code = error.exit_code
    copy.__cause__ = error
    return copy
