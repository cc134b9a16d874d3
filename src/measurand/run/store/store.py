"""The store: where runs are kept, found, read and removed."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import attrs
from sqlalchemy import ColumnElement, Connection, Engine, select, tuple_

from measurand.core.errors import Problem, StoreError, UsageError
from measurand.run.store import schema
from measurand.run.store.cache import CallGroup, Imported, call_groups, import_calls, prune
from measurand.run.store.calls import Reusable, counted_requests, find_calls, known_keys, mean_latency
from measurand.run.store.columns import stored_ordinals
from measurand.run.store.delete import delete_row, delete_runs
from measurand.run.store.driver import Driver
from measurand.run.store.engine import connect, dialect_of, writing
from measurand.run.store.faults import told
from measurand.run.store.migrations import MIGRATIONS, NewerError, NotOursError, migrate
from measurand.run.store.place import Place, cannot_open, make_file, parse_place, shown_path
from measurand.run.store.plain_text import to_column
from measurand.run.store.read import StoredRun, select_runs
from measurand.run.store.resolve import find
from measurand.run.store.resume import give_up_failed
from measurand.run.store.runfile_read import is_run_file, open_run_file
from measurand.run.store.values import Deleted, Int64Array, NewCall, Recorded, RunInfo, RunStart
from measurand.run.store.write import RunWriter, begin_run


class Store:
    """An open store. Every method raises StoreError when the database cannot do it; what is stored stays intact."""

    def __init__(self, engine: Engine, place: Place) -> None:
        self._engine = self.engine = engine
        self._place = self.place = place
        self.dialect = dialect_of(engine)
        self._close = weakref.finalize(self, engine.dispose)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def shown(self) -> str:
        """How messages name the store; never with a password."""
        return self._place.shown

    def close(self) -> None:
        """Close every connection. A temporary store is gone then."""
        self._close()

    def key_of(self, run_id: str) -> int:
        """The number of a run inside this store. UsageError when there is none such."""
        with told(self._place, spent=False), self._engine.connect() as connection:
            return self._key_of(connection, run_id)

    def begin(self, run: RunStart) -> RunWriter:
        """Store the run's own row, committed, as `incomplete`; the writer stores the rest. StoreError (exit 2) when the store takes no rows."""
        known = {field.name: getattr(run, field.name) for field in attrs.fields(RunStart)}
        return begin_run(self._engine, self._place, RunInfo(**known, status="incomplete"), keep=self)

    def continue_(self, run_id: str) -> tuple[RunWriter, Int64Array]:
        """The writer of an incomplete run and the ordinals it has stored, ascending. UsageError when there is none such.

        Rows that hold a result whose call failed are dropped first, to be scored again with the good replies that are recorded.
        """
        with told(self._place, spent=False), writing(self._engine) as connection:
            found = select_runs(connection, schema.runs.c.run_id == to_column(run_id), schema.runs.c.status == "incomplete")
            if not found:
                raise UsageError(Problem("unknown_run", "RUN", f"no incomplete run has the id {run_id!r}", "`metrics runs` lists them"))
            key, info = found[0]
            give_up_failed(connection, key)
            return RunWriter(self._engine, self._place, key, info.run_id, keep=self), stored_ordinals(connection, key)

    def find_incomplete(self, project: str, plan_id: str) -> RunInfo | None:
        """The project's newest incomplete run of this plan."""
        runs = schema.runs.c
        found = self._select(runs.project == to_column(project), runs.plan_id == plan_id, runs.status == "incomplete", limit=1)
        return found[0] if found else None

    def runs(self, project: str | None = None, *, limit: int | None = None, incomplete: bool = True, after: str | None = None) -> list[RunInfo]:
        """Runs, newest first. project: None = of all. after: the id of the last one seen (for pages); UsageError when it is unknown."""
        runs = schema.runs.c
        where = [] if project is None else [runs.project == to_column(project)]
        if not incomplete:
            where.append(runs.status == "complete")
        if after is not None:
            where.append(tuple_(runs.started_at, runs.run) < tuple_(*self._moment_of(after)))
        return self._select(*where, limit=limit)

    def runs_older_than(self, days: float, project: str | None = None, *, now: datetime | None = None) -> list[RunInfo]:
        """Runs that started more than `days` × 24 hours ago, newest first."""
        runs = schema.runs.c
        before = ((now or datetime.now(UTC)) - timedelta(days=days)).astimezone(UTC).isoformat(timespec="microseconds")
        return self._select(runs.started_at < before, *([] if project is None else [runs.project == to_column(project)]))

    def resolve(self, ref: str, project: str | None = None, *, code: str = "unknown_run") -> StoredRun:
        """The run that RUN means: a run file, `latest`/`latest~N`, an id, a name, a unique beginning of an id, in this order.

        `latest` and names look at complete runs of `project` only (None: of all). UsageError with problem code `code` (a BASE that does not
        exist: "no_baseline") says what there is; DataError when it is a run file that is damaged.
        """
        return open_run_file(ref) if is_run_file(ref) else self._find(ref, project, code, alone=False)

    def _find(self, ref: str, project: str | None, code: str, *, alone: bool) -> StoredRun:
        note = f" ({shown_path(ref)} is a file, but none of `metrics export --format run`)" if _is_file(ref) else ""
        with told(self._place, spent=False), self._engine.connect() as connection:
            key, info = find(connection, ref, project, code=code, note=note)
        return StoredRun(self._engine, self._place, key, info, keep=self, close=self.close if alone else None)

    def delete(self, run_ids: Iterable[str], *, dry_run: bool = False) -> Deleted:
        """Remove runs with all that is theirs and every recorded call nothing else uses. UsageError when an id is unknown: then nothing is removed."""
        wanted = list(dict.fromkeys(run_ids))
        with told(self._place, spent=False), self._transaction(dry_run=dry_run) as connection:
            keys = [self._key_of(connection, run_id) for run_id in wanted]
            deleted = delete_runs(connection, keys, dry_run=dry_run)
        self._clean(deleted, dry_run=dry_run)
        return deleted

    def delete_row(self, sample_id: str, *, dry_run: bool = False) -> Deleted:
        """Remove the row of this id from every run, with every recorded call nothing else uses. Nothing there: all counts are 0."""
        with told(self._place, spent=False), self._transaction(dry_run=dry_run) as connection:
            deleted = delete_row(connection, sample_id, dry_run=dry_run)
        self._clean(deleted, dry_run=dry_run)
        return deleted

    def recorded(self, key: str, *, imported: bool = True) -> Recorded | None:
        """The newest complete readable reply to a request, without claiming it. imported: False = only one that was asked from here."""
        with told(self._place, spent=False), self._engine.connect() as connection:
            return find_calls(Driver(connection), (key,), Reusable(only_ok=True, imported=imported)).get(key)

    def recorded_among(self, keys: Iterable[str], *, imported: bool = False) -> set[str]:
        """Those of the keys that a run in mode `cache` finds recorded; with `imported`, one that trusts imported replies."""
        with told(self._place, spent=False), self._engine.connect() as connection:
            return set(known_keys(Driver(connection), keys, Reusable(only_ok=True, imported=imported)))

    def mean_latency(self, model: str) -> float | None:
        """Mean seconds of the last 200 chat calls of a model that were made from here; None when there are none."""
        with told(self._place, spent=False), self._engine.connect() as connection:
            return mean_latency(connection, model)

    def counted_requests(self, model: str) -> list[tuple[dict[str, Any], int]]:
        """Requests of the last chat calls of a model that were made from here, with the input tokens that the server counted; at most 100, newest first."""
        with told(self._place, spent=False), self._engine.connect() as connection:
            return counted_requests(connection, model)

    def call_groups(self) -> list[CallGroup]:
        """What is recorded, by model, kind, status and origin."""
        with told(self._place, spent=False), self._engine.connect() as connection:
            return call_groups(connection)

    def import_calls(self, calls: Iterable[tuple[str, NewCall]]) -> Imported:
        """Take in calls from elsewhere, all or none, marked as imported; nothing recorded is written over."""
        with told(self._place, spent=False), writing(self._engine) as connection:
            return import_calls(connection, calls)

    def prune(self, *, older_than_days: float | None = None, dry_run: bool = False, now: datetime | None = None) -> int:
        """Remove the recorded calls that no run uses, maybe only old ones; how many."""
        age = None if older_than_days is None else timedelta(days=older_than_days)
        before = None if age is None else ((now or datetime.now(UTC)) - age).astimezone(UTC).isoformat(timespec="seconds")
        with told(self._place, spent=False), self._transaction(dry_run=dry_run) as connection:
            count = prune(connection, before, dry_run=dry_run)
        self._clean(Deleted(calls=count), dry_run=dry_run)
        return count

    def _transaction(self, *, dry_run: bool) -> contextlib.AbstractContextManager[Connection]:
        return self._engine.connect() if dry_run else writing(self._engine)

    def _clean(self, deleted: Deleted, *, dry_run: bool) -> None:
        if dry_run or deleted == Deleted():
            return
        with told(self._place), self._engine.connect() as connection:
            dialect_of(self._engine).after_delete(connection)

    def _select(self, *where: ColumnElement[bool], limit: int | None = None) -> list[RunInfo]:
        with told(self._place, spent=False), self._engine.connect() as connection:
            return [info for _, info in select_runs(connection, *where, limit=limit)]

    def _moment_of(self, run_id: str) -> Sequence[object]:
        runs = schema.runs.c
        with told(self._place, spent=False), self._engine.connect() as connection:
            row = connection.execute(select(runs.started_at, runs.run).where(runs.run_id == to_column(run_id))).first()
        if row is None:
            raise UsageError(Problem("unknown_run", "after", f"no run has the id {run_id!r}", "take the id of the last run of the page before"))
        return tuple(row)

    def _key_of(self, connection: Connection, run_id: str) -> int:
        key = connection.execute(select(schema.runs.c.run).where(schema.runs.c.run_id == to_column(run_id))).scalar()
        if key is None:
            raise UsageError(Problem("unknown_run", "RUN", f"no run has the id {run_id!r}", "`metrics runs` lists them"))
        return int(key)


def open_store(url: str, *, create: bool = True) -> Store:
    """Open the store at a URL: `sqlite:///path`, `postgresql+psycopg://…`, or `sqlite://` for a temporary one.

    A missing SQLite file is made with its folder, for the owner alone; with `create=False` it is a StoreError that says what makes one. An older
    store is migrated. UsageError for a URL that is no store's; StoreError for one that cannot be opened or was written by a newer measurand.
    """
    place = parse_place(url)
    if place.path is not None:
        if create:
            make_file(place.path)
        elif not place.path.exists():
            raise cannot_open(f"there is no store at {place.shown} yet; `metrics run` makes it")
        elif place.path.is_dir():
            make_file(place.path)
    try:
        return Store(_up_to_date(connect(place), place), place)
    except StoreError:
        if create or not _on_a_medium_that_cannot_be_written(place):
            raise
    return Store(_up_to_date(connect(place, immutable=True), place), place)


def _up_to_date(engine: Engine, place: Place) -> Engine:
    try:
        _migrate(engine, place)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _migrate(engine: Engine, place: Place) -> None:
    try:
        with told(place, spent=False):
            migrate(engine, dialect_of(engine))
    except NewerError as error:
        raise cannot_open(
            f"the store {place.shown} was written by a newer measurand (schema {error.version}, this one knows {len(MIGRATIONS)}); "
            f"upgrade measurand or name another store"
        ) from None
    except NotOursError as error:
        raise cannot_open(f"the store {place.shown} is another program's database (tables: {error}); name another place with [run] store") from None


def _on_a_medium_that_cannot_be_written(place: Place) -> bool:
    """A store nobody is writing: no log with rows that are not in the file yet."""
    path, log = place.path, place.log
    if path is None or log is None or not path.is_file() or (log.exists() and log.stat().st_size > 0):
        return False
    return not os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _is_file(ref: str) -> bool:
    try:
        return Path(ref).is_file()
    except (OSError, ValueError):
        return False


def open_run(ref: str, url: str, project: str | None = None, *, code: str = "unknown_run") -> StoredRun:
    """The run that RUN means, from the store at `url`; a run file needs no store. Errors as `open_store` and `Store.resolve`.

    A store that is not there yet has no run: UsageError with problem code `code`.
    """
    if is_run_file(ref):
        return open_run_file(ref)
    place = parse_place(url)
    if place.path is not None and not place.path.exists():
        raise UsageError(Problem(code, "RUN", f"no run {ref!r}: there is no store at {place.shown} yet", "`metrics run` makes one; or give a run file"))
    return open_store(url, create=False)._find(ref, project, code, alone=True)
