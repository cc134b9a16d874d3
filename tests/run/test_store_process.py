"""What happens to a store when processes die, disks fill and several write at once: with real processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.core.errors import StoreError
from measurand.run.store import Store, StoredRun, engine, open_store

pytestmark = pytest.mark.slow

_WRITER = """
import resource, sys
from measurand.core.errors import StoreError
from measurand.run.store import RunMetric, RunStart, open_store

url, run_id, groups, size_limit = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
metric = RunMetric(0, "m", "m", "1", "m|v:1", {}, None, "higher", "proportion", 0.0, 1.0, [])
store = open_store(url)
writer = store.begin(RunStart(run_id=run_id, project="p", started_at="2026-01-01T00:00:00Z", dataset={}, config={}, plan_id="x", metrics=(metric,)))
if size_limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_limit, size_limit))
try:
    for group in range(groups):
        rows = range(group * 500, group * 500 + 500)
        writer.add([(i, f"id{i}", "t", 0, None, "{}", None, None, '{"output": "%s"}' % ("x" * 200)) for i in rows], [(i, 0, 0, 0.5, None) for i in rows])
        print(group + 1, flush=True)
    writer.finish("complete", counts={"rows": groups * 500})
except StoreError as error:
    print(error.exit_code, error, flush=True)
    try:
        writer.finish("incomplete", str(error))
    except StoreError as again:
        print(again.exit_code, again, flush=True)
"""


def write(url: str, run_id: str, groups: int, size_limit: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, url, run_id, str(groups), str(size_limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(params=["file", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'kept' / 'store.db'}" if request.param == "file" else str(request.getfixturevalue("postgres_url"))


def test_a_run_that_is_killed_is_incomplete_and_readable(url: str) -> None:
    process = write(url, "killed", 1_000_000)
    assert process.stdout is not None
    for line in process.stdout:
        if line == "4\n":
            break
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with open_store(url, create=False) as store:
        info = store.runs("p")[0]
        assert (info.run_id, info.status, info.reason) == ("killed", "incomplete", None)
        run = store.resolve("killed")
        assert len(run) >= 2_000
        assert len(run) % 500 == 0  # whole groups only
        assert run.result_count() == len(run)
        assert [result.ordinal for result in run.results()] == list(range(len(run)))
        writer, ordinals = store.continue_("killed")
        assert ordinals.tolist() == list(range(len(run)))
        writer.finish("complete")
        assert store.resolve("latest", "p").info.run_id == "killed"


def test_two_processes_write_two_runs_to_one_store(url: str) -> None:
    processes = [write(url, name, 20) for name in ("one", "two", "three")]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
    with open_store(url) as store:
        assert sorted((info.run_id, info.status) for info in store.runs()) == [("one", "complete"), ("three", "complete"), ("two", "complete")]
        for name in ("one", "two", "three"):
            run = store.resolve(name)
            assert (len(run), run.result_count()) == (10_000, 10_000)


def test_a_full_disk_is_one_sentence_and_loses_nothing_stored(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    process = write(url, "full", 1_000, size_limit=2_000_000)
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    groups = [line for line in output.splitlines() if line.isdecimal()]
    stored, sentence = int(groups[-1]), output.splitlines()[len(groups)]
    assert stored >= 3
    place = tmp_path / "store.db"
    assert sentence.startswith(f"3 the store {place} could not be read or written (disk I/O error; is the disk full?); all rows of earlier groups are stored")
    with open_store(url) as store:
        run = store.resolve("full")
        assert (run.info.status, len(run), run.result_count()) == ("incomplete", stored * 500, stored * 500)


def test_a_database_that_takes_no_more_pages_is_a_full_disk(file_store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(file_store, "r1")
    with file_store._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 4}")  # of this connection, which the pool gives out again
    with pytest.raises(StoreError, match=r"^the disk is full: the store .*store.db could not take the last rows; all before them is stored. Free some space"):
        fill(file_store, "r2", rows=2_000)
    assert len(file_store.resolve("r1")) == 3
    assert (file_store.runs()[0].run_id, file_store.runs()[0].status, len(file_store.resolve("r2"))) == ("r2", "incomplete", 0)


def test_a_store_that_stays_locked_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill: Callable[..., StoredRun]) -> None:
    monkeypatch.setattr(engine, "LOCK_WAIT_S", 0.05)
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        fill(store, "r1")
        blocker = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        try:
            blocker.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=r"^the store .*store.db was locked by another process for 30 s; wait for that process to end"):
                fill(store, "r2")
            assert len(store.resolve("r1")) == 3  # reading goes on
        finally:
            blocker.close()
        assert len(fill(store, "r2")) == 3


def test_a_run_forgotten_open_gives_its_connections_back(tmp_path: Path, fill: Callable[..., StoredRun]) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    run = fill(store, rows=5_000)
    for _ in range(20):  # more than the pool holds
        next(run.results())
        next(run.samples())
    del run, store


def test_numpy_and_sqlalchemy_are_loaded_by_this_package_only() -> None:
    code = "import sys, measurand.run; print([name for name in ('numpy', 'sqlalchemy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
