"""Removal: of runs, of a row everywhere, of recorded calls nothing else uses, from the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.core.errors import UsageError
from measurand.run.record import OF_THE_RUN, Ledger
from measurand.run.store import RunInfo, Store, StoredRun, schema
from measurand.run.store.engine import writing
from measurand.run.store.values import Deleted

from .recording import a_call, a_run, claimed, recorded  # noqa: TID252  # tests are imported by path, there is no package to name

_PLAIN = {"kind": "chat", "status": "ok", "usage": "{}", "imported": 0}


def use_calls(store: Store, used: dict[str, list[tuple[int, int]]]) -> None:
    """Record calls by key, each used by (run key, ordinal) pairs."""
    with writing(store._engine) as connection:
        for key, users in used.items():
            inserted = connection.execute(schema.calls.insert().values(key=key, model="m", recorded_at="2026-01-01", request=f'{{"asked": "{key}"}}', **_PLAIN))
            assert inserted.inserted_primary_key is not None
            for run, ordinal in users:
                connection.execute(schema.run_calls.insert().values(run=run, ordinal=ordinal, metric=0, call=inserted.inserted_primary_key[0]))


def calls_of(store: Store) -> set[str]:
    with store._engine.connect() as connection:
        return {row[0] for row in connection.execute(schema.calls.select().with_only_columns(schema.calls.c.key))}


def size_of(store: Store) -> dict[str, int]:
    with store._engine.connect() as connection:
        return {table.name: len(connection.execute(table.select()).all()) for table in schema.metadata.sorted_tables}


def test_a_run_is_removed_with_all_that_is_its(store: Store, fill: Callable[..., StoredRun]) -> None:
    kept = fill(store, "keep")
    before = size_of(store)
    fill(store, "r1")
    fill(store, "r2", status="incomplete")
    assert store.delete(["r1", "r2", "r1"], dry_run=True) == Deleted(2, 6, 18, 0)
    assert len(store.runs()) == 3
    assert store.delete(["r1", "r2", "r1"]) == Deleted(2, 6, 18, 0)
    assert size_of(store) == before
    assert list(store.resolve("keep").results()) == list(kept.results())


def test_an_unknown_id_among_them_removes_nothing(store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(store, "r1")
    with pytest.raises(UsageError, match="no run has the id 'r9'"):
        store.delete(["r1", "r9"])
    assert len(store.resolve("r1")) == 3


def test_removing_nothing_is_nothing(store: Store) -> None:
    assert store.delete([]) == store.delete([], dry_run=True) == store.delete_row("id1") == Deleted()


def test_a_row_is_removed_from_every_run(store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(store, "r1", rows=3)
    fill(store, "r2", rows=2)
    fill(store, "r3", rows=1)
    assert store.delete_row("id1", dry_run=True) == Deleted(2, 2, 6, 0)
    assert store.delete_row("id1") == Deleted(2, 2, 6, 0)
    run = store.resolve("r1")
    assert [one.id for one in run.samples()] == ["id0", "id2"]
    assert run.score_columns(0).score.tolist() == [0, 2 / 3]
    assert [store.resolve(name).info.removed_rows for name in ("r1", "r2", "r3")] == [1, 1, 0]
    assert store.delete_row("id1") == Deleted()


def test_recorded_calls_go_when_nothing_else_uses_them(store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(store, "r1")
    fill(store, "r2")
    keys = {info.run_id: index for index, info in enumerate(reversed(store.runs()), start=1)}
    use_calls(
        store,
        {
            "only r1": [(keys["r1"], 0)],
            "r1 twice": [(keys["r1"], 0), (keys["r1"], 1)],
            "both runs": [(keys["r1"], 0), (keys["r2"], 0)],
            "only r2": [(keys["r2"], 2)],
            "nobody": [],
        },
    )
    assert store.delete_row("id0", dry_run=True).calls == 2
    assert store.delete_row("id0").calls == 2  # "only r1", and "both runs", which only this row used
    assert calls_of(store) == {"r1 twice", "only r2", "nobody"}
    assert store.delete(["r1", "r2"], dry_run=True).calls == 2
    assert store.delete(["r1", "r2"]).calls == 2
    assert calls_of(store) == {"nobody"}
    assert size_of(store)["run_calls"] == 0


def test_a_call_that_another_run_uses_stays(store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(store, "r1")
    fill(store, "r2")
    use_calls(store, {"both": [(1, 0), (2, 0)]})
    assert store.delete(["r1"]).calls == 0
    assert calls_of(store) == {"both"}
    assert store.delete(["r2"]).calls == 1


def test_old_runs_are_removed_together(store: Store, fill: Callable[..., StoredRun]) -> None:
    for number in range(40):
        fill(store, f"r{number}", rows=1, started_at="2020-01-01T00:00:00Z")
    fill(store, "new", started_at="2999-01-01T00:00:00Z")
    old: list[RunInfo] = store.runs_older_than(90)
    assert store.delete([info.run_id for info in old]).runs == 40
    assert [info.run_id for info in store.runs()] == ["new"]


def test_what_was_removed_is_gone_from_the_disk(tmp_path: Path, file_store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(file_store, "secretrun", rows=50)
    fill(file_store, "kept", rows=50)
    folder = tmp_path / "kept"

    def on_disk(text: bytes) -> bool:
        return any(text in path.read_bytes() for path in folder.iterdir())

    assert on_disk(b"text 7 of secretrun")
    file_store.delete_row("id7")
    assert not on_disk(b"text 7 of secretrun")
    assert not on_disk(b"text 7 of kept")
    assert on_disk(b"text 8 of secretrun")
    file_store.delete(["secretrun"])
    assert not on_disk(b"secretrun")
    assert on_disk(b"text 8 of kept")


# ---------------------------------------------------------------- recorded calls of a run at work


def test_a_call_paid_by_a_removed_run_that_no_row_uses_goes_too(store: Store) -> None:
    for run_id in ("r1", "r2"):
        a_run(store, run_id)
    with Ledger(store, "r1") as ledger:
        recorded(ledger, ("nobody's", a_call("PLANTED"), None), ("shared", a_call(), (0, 0)), ("probe", a_call(kind="probe"), OF_THE_RUN))
    with Ledger(store, "r2") as ledger:
        assert claimed(ledger, "shared", (5, 0)) is not None
        recorded(ledger, ("r2's", a_call(), None))
    assert store.delete(["r1"], dry_run=True).calls == 2
    assert store.delete(["r1"]).calls == 2
    assert calls_of(store) == {"shared", "r2's"}
    assert store.resolve("r2").call_totals().cached_calls == 1
    assert store.delete(["r2"]).calls == 2
    assert size_of(store) == {**dict.fromkeys(schema.metadata.tables, 0), "meta": 1}


def test_a_row_goes_with_the_calls_of_its_attempts_that_were_given_up(store: Store) -> None:
    a_run(store)
    with Ledger(store, "r") as ledger:
        recorded(ledger, ("failed", a_call("PLANTED", status="unreadable"), (0, 0)), ("other", a_call(), (1, 0)))
    writer, _ = store.continue_("r")
    unreadable = '{"error": {"code": "invalid_response", "message": "?"}}'
    writer.add([(i, f"id{i}", "t", 0, None, "{}", None, None, None) for i in range(2)], [(0, 0, 2, None, unreadable), (1, 0, 0, 1.0, None)])
    writer, ordinals = store.continue_("r")
    assert ordinals.tolist() == [1]
    with Ledger(store, "r") as ledger:
        recorded(ledger, ("failed", a_call("now readable"), (0, 0)))
    writer.add([(0, "id0", "t", 0, None, "{}", None, None, None)], [(0, 0, 0, 1.0, None)])
    assert [one.usage.calls for one in store.resolve("r").results()] == [1, 1]
    assert store.delete_row("id0").calls == 2
    assert calls_of(store) == {"other"}


def test_recorded_texts_are_gone_from_the_disk(tmp_path: Path, file_store: Store) -> None:
    a_run(file_store)
    with Ledger(file_store, "r") as ledger:
        recorded(ledger, ("k", a_call("PLANTED"), (0, 0)))
    assert any(b"PLANTED" in path.read_bytes() for path in (tmp_path / "kept").iterdir())
    file_store.delete(["r"])
    assert not any(b"PLANTED" in path.read_bytes() for path in (tmp_path / "kept").iterdir())
