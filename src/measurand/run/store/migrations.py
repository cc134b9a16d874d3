"""How a store's tables came to be: an ordered list of steps, each in its transaction. Its length is the schema version.

A step is never changed once released; its DDL is written out, so that it does not move when `schema.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from sqlalchemy import Connection, Engine, inspect, select

from measurand.run.store import schema
from measurand.run.store.dialect import Dialect

Migration: TypeAlias = Callable[[Connection, Dialect], None]

VERSION_KEY: Final = "measurand_schema"
LARGEST = "1.7976931348623157e308"


class NotOursError(Exception):
    """The database has tables that are not measurand's."""


class NewerError(Exception):
    """The store was written by a newer measurand."""

    def __init__(self, version: int) -> None:
        self.version = version
        super().__init__(str(version))


def _runs_and_results(connection: Connection, dialect: Dialect) -> None:
    for statement in (
        f"""CREATE TABLE runs (run {dialect.serial_key}, run_id TEXT NOT NULL UNIQUE, name TEXT, project TEXT NOT NULL, started_at TEXT NOT NULL,
            plan_id TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('complete', 'incomplete')), reason TEXT, elapsed_s DOUBLE PRECISION,
            git_commit TEXT, has_trials SMALLINT NOT NULL, dataset TEXT NOT NULL, config TEXT NOT NULL, versions TEXT NOT NULL,
            command TEXT NOT NULL, mapping TEXT NOT NULL, counts TEXT NOT NULL, usage TEXT NOT NULL)""",
        "CREATE INDEX runs_by_time ON runs (project, started_at)",
        f"""CREATE TABLE run_metrics (run BIGINT NOT NULL, metric INTEGER NOT NULL, name TEXT NOT NULL, base TEXT NOT NULL, version TEXT NOT NULL,
            signature TEXT NOT NULL, options TEXT NOT NULL, threshold DOUBLE PRECISION, direction TEXT NOT NULL, type TEXT NOT NULL,
            low DOUBLE PRECISION, high DOUBLE PRECISION, categories TEXT NOT NULL, PRIMARY KEY (run, metric)) {dialect.keyed_by_primary_key}""",
        """CREATE TABLE samples (run BIGINT NOT NULL, ordinal BIGINT NOT NULL, id TEXT NOT NULL, task TEXT NOT NULL, trial BIGINT NOT NULL,
            cluster TEXT, task_hashes TEXT NOT NULL, tags TEXT, slices TEXT, PRIMARY KEY (run, ordinal))""",
        "CREATE TABLE contents (run BIGINT NOT NULL, ordinal BIGINT NOT NULL, row TEXT NOT NULL, PRIMARY KEY (run, ordinal))",
        # `IN (0, 1, 2)` would cost a microsecond a result. A NaN reaches SQLite as NULL and stands above every number in PostgreSQL: both are refused here.
        f"""CREATE TABLE results (run BIGINT NOT NULL, ordinal BIGINT NOT NULL, metric INTEGER NOT NULL, status SMALLINT NOT NULL CHECK (status BETWEEN 0 AND 2),
            score DOUBLE PRECISION, rest TEXT, PRIMARY KEY (run, ordinal, metric),
            CHECK ((status = 0) = (score IS NOT NULL)), CHECK (score BETWEEN -{LARGEST} AND {LARGEST})) {dialect.keyed_by_primary_key}""",
    ):
        connection.exec_driver_sql(statement)


def _recorded_calls_and_removed_rows(connection: Connection, dialect: Dialect) -> None:
    for statement in (
        f"""CREATE TABLE calls (call {dialect.serial_key}, key TEXT NOT NULL UNIQUE, model TEXT NOT NULL, request TEXT, reply TEXT, usage TEXT,
            recorded_at TEXT NOT NULL)""",
        f"""CREATE TABLE run_calls (run BIGINT NOT NULL, ordinal BIGINT NOT NULL, metric INTEGER NOT NULL, call BIGINT NOT NULL,
            PRIMARY KEY (run, ordinal, metric, call)) {dialect.keyed_by_primary_key}""",
        "CREATE INDEX run_calls_by_call ON run_calls (call)",
        "ALTER TABLE runs ADD COLUMN removed_rows BIGINT NOT NULL DEFAULT 0",
    ):
        connection.exec_driver_sql(statement)


def _calls_of_every_status_and_leases(connection: Connection, dialect: Dialect) -> None:
    for statement in (
        "DROP TABLE calls",  # nothing could be recorded before
        # No CHECK on kind and status: a word more is no migration.
        f"""CREATE TABLE calls (call {dialect.serial_key}, key TEXT NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL, status TEXT NOT NULL, request TEXT,
            reply TEXT, usage TEXT NOT NULL, served TEXT, run BIGINT, imported SMALLINT NOT NULL, recorded_at TEXT NOT NULL)""",
        "CREATE INDEX calls_by_key ON calls (key)",
        "CREATE INDEX calls_by_run ON calls (run)",
        "DROP INDEX run_calls_by_call",
        # Who used a call first in a run is asked of every result that is read.
        "CREATE INDEX run_calls_by_call ON run_calls (call, run, ordinal, metric)",
        f"""CREATE TABLE leases (key TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, expires_at DOUBLE PRECISION NOT NULL) {dialect.keyed_by_primary_key}""",
    ):
        connection.exec_driver_sql(statement)


MIGRATIONS: Final[tuple[Migration, ...]] = (_runs_and_results, _recorded_calls_and_removed_rows, _calls_of_every_status_and_leases)


def version_of(connection: Connection) -> int:
    """The schema version of a store; 0 = nothing there yet. NotOursError when other tables are."""
    tables = set(inspect(connection).get_table_names())
    if schema.meta.name in tables and {"key", "value"} <= {column["name"] for column in inspect(connection).get_columns(schema.meta.name)}:
        value = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == VERSION_KEY)).scalar()
        if value is not None:
            return int(value)
    ours = set(schema.metadata.tables)
    if connection.dialect.name == "sqlite" and tables:
        raise NotOursError(", ".join(sorted(tables)[:5]))
    if tables & ours:
        raise NotOursError(", ".join(sorted(tables & ours)))
    return 0


def migrate(engine: Engine, dialect: Dialect, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a store to the newest schema, step by step; safe when several processes try at once. NewerError, NotOursError."""
    with engine.connect() as connection:
        version = version_of(connection)
        connection.rollback()
        if version == len(migrations):
            return
        if version > len(migrations):
            raise NewerError(version)
        for _ in migrations[version:]:
            _next_step(connection, dialect, migrations)


def _next_step(connection: Connection, dialect: Dialect, migrations: Sequence[Migration]) -> None:
    dialect.begin_migration(connection)
    version = version_of(connection)  # again: another process may have been first
    if version < len(migrations):
        if version == 0:
            connection.exec_driver_sql("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            connection.execute(schema.meta.insert().values(key=VERSION_KEY, value="0"))
        migrations[version](connection, dialect)
        connection.execute(schema.meta.update().where(schema.meta.c.key == VERSION_KEY).values(value=str(version + 1)))
    connection.commit()
