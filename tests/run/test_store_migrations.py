"""Older stores are brought up to date, newer ones refused."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text

from measurand.core.errors import StoreError
from measurand.run.store import RunStart, Store, StoredRun, open_store, schema
from measurand.run.store.dialect import Dialect
from measurand.run.store.engine import connect, dialect_of
from measurand.run.store.migrations import MIGRATIONS, NewerError, migrate, version_of
from measurand.run.store.place import make_file, parse_place


def test_the_tables_are_those_the_queries_name(store: Store) -> None:
    inspector = inspect(store._engine)
    assert set(inspector.get_table_names()) - {"sqlite_sequence"} == set(schema.metadata.tables)
    for table in schema.metadata.sorted_tables:
        made = {column["name"]: column for column in inspector.get_columns(table.name)}
        assert list(made) == table.columns.keys()
        assert inspector.get_pk_constraint(table.name)["constrained_columns"] == [column.name for column in table.primary_key]
        for column in table.columns:
            if not column.primary_key:
                assert made[column.name]["nullable"] == column.nullable, f"{table.name}.{column.name}"


def test_a_store_of_the_first_schema_is_read_on(tmp_path: Path, make_run: Callable[..., RunStart]) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    place = parse_place(url)
    assert place.path is not None
    make_file(place.path)
    engine = connect(place)
    migrate(engine, dialect_of(engine), MIGRATIONS[:1])
    with engine.connect() as connection:
        assert version_of(connection) == 1
        assert not inspect(connection).has_table("calls")
        connection.execute(
            text(
                "INSERT INTO runs (run_id, project, started_at, plan_id, status, has_trials, dataset, config, versions, command, mapping, counts, usage) "
                "VALUES ('old', 'p', '2026-01-01T00:00:00.000000+00:00', 'x', 'complete', 0, '{}', '{}', '{}', '[]', '[]', '{\"rows\": 1}', '{}')"
            )
        )
        connection.execute(
            text("INSERT INTO run_metrics VALUES (1, 0, 'm', 'm', '1', 'm|v:1', '{}', NULL, 'higher', 'proportion', 0, 1, '[]')"),
        )
        connection.execute(text("INSERT INTO samples VALUES (1, 0, 'a', 'a', 0, NULL, '{}', NULL, NULL)"))
        connection.execute(text("INSERT INTO results VALUES (1, 0, 0, 0, 0.25, NULL)"))
        connection.commit()
    engine.dispose()
    with open_store(url) as store:
        run = store.resolve("old")
        assert (run.info.counts, run.info.removed_rows) == ({"rows": 1}, 0)
        assert [result.score for result in run.results()] == [0.25]
        store.begin(make_run("new"))
        assert store.delete_row("a").rows == 1


def test_a_store_of_a_newer_measurand_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    with open_store(url) as store, store._engine.connect() as connection:
        connection.execute(schema.meta.update().values(value="99"))
        connection.commit()
    for create in (True, False):
        with pytest.raises(StoreError, match=r"was written by a newer measurand \(schema 99, this one knows 3\); upgrade measurand or name another") as caught:
            open_store(url, create=create)
        assert caught.value.exit_code == 2


def test_a_step_that_fails_leaves_the_store_as_it_was(store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(store)

    def broken(connection: Connection, _dialect: Dialect) -> None:
        connection.exec_driver_sql("CREATE TABLE half_made (x INTEGER)")
        raise RuntimeError("step failed")

    dialect = dialect_of(store._engine)
    with pytest.raises(RuntimeError, match="step failed"):
        migrate(store._engine, dialect, (*MIGRATIONS, broken))
    assert not inspect(store._engine).has_table("half_made")
    assert len(store.resolve("r1")) == 3
    migrate(store._engine, dialect)
    with pytest.raises(NewerError):
        migrate(store._engine, dialect, MIGRATIONS[:1])


@pytest.mark.postgres
def test_tables_of_the_same_name_in_a_shared_database_are_left_alone(postgres_url: str) -> None:
    engine = connect(parse_place(postgres_url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE runs (mine INTEGER)"))
        connection.execute(text("CREATE TABLE orders (mine INTEGER)"))
    with pytest.raises(StoreError, match=r"is another program's database \(tables: runs\)"):
        open_store(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE runs"))
    engine.dispose()
    open_store(postgres_url).close()


def _open(url: str) -> int:
    with open_store(url) as store:
        return len(store.runs())


@pytest.mark.parametrize("kind", ["file", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_several_processes_make_one_store_at_once(tmp_path: Path, request: pytest.FixtureRequest, kind: str) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'store.db'}" if kind == "file" else str(request.getfixturevalue("postgres_url"))
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.map(_open, [url] * 8, chunksize=1) == [0] * 8
