"""Runs to store, and stores to put them in: a SQLite file, the temporary store, a private PostgreSQL server."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from measurand.run.store import RunMetric, RunStart, Store, StoredRun, open_store


class MakeRun(Protocol):
    def __call__(self, run_id: str, **changes: Any) -> RunStart: ...


class Fill(Protocol):
    def __call__(self, store: Store, run_id: str = "r1", rows: int = 3, status: str = "complete", **changes: Any) -> StoredRun: ...


def a_metric(index: int, name: str, threshold: float | None = None, direction: str = "higher") -> RunMetric:
    return RunMetric(
        index=index,
        name=name,
        base=name,
        version="1",
        signature=f"{name}|v:1",
        options={"k": 5},
        threshold=threshold,
        direction=direction,
        type="proportion",
        low=0.0,
        high=None,
        categories=["Correctness"],
    )


@pytest.fixture
def make_run() -> MakeRun:
    def make(run_id: str, **changes: Any) -> RunStart:
        values: dict[str, Any] = {
            "project": "p",
            "started_at": "2026-11-30T22:10:05+01:00",
            "dataset": {"path": "d.jsonl", "rows": 3},
            "config": {"run": {"draws": 1}},
            "plan_id": "plan",
            "metrics": (a_metric(0, "code_f1", 0.5), a_metric(1, "code_leak", 0.5, "lower"), a_metric(2, "code_length", None, "none")),
            **changes,
        }
        return RunStart(run_id=run_id, **values)

    return make


@pytest.fixture
def fill(make_run: MakeRun) -> Fill:
    """Stores a run of `rows` rows: code_f1 = i / rows, code_leak an error on row 0 and 1.0 elsewhere, code_length not applicable."""

    def fill_store(store: Store, run_id: str = "r1", rows: int = 3, status: str = "complete", **changes: Any) -> StoredRun:
        writer = store.begin(make_run(run_id, **changes))
        samples = [(i, f"id{i}", f"task{i}", 0, None, '{"input": "abcd"}', '["a"]', None, f'{{"output": "text {i} of {run_id}"}}') for i in range(rows)]
        results: list[tuple[int, int, int, float | None, str | None]] = []
        for i in range(rows):
            results.append((i, 0, 0, i / rows, '{"details": {"reference": 0}}'))
            results.append((i, 1, 2, None, '{"error": {"code": "timeout", "message": "slow"}}') if i == 0 else (i, 1, 0, 1.0, None))
            results.append((i, 2, 1, None, '{"error": {"code": "undefined", "message": "0/0"}}'))
        writer.add(samples, results)
        if status == "complete":
            writer.finish("complete", elapsed_s=1.5, counts={"rows": rows}, usage={"calls": 0})
        return store.resolve(run_id)

    return fill_store


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The folder of the socket of a private server, which no network reaches."""
    programs = _postgres_programs()
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    # The server refuses to run as root.
    user = "nobody" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user)
    data = folder / "data"
    quiet: dict[str, Any] = {
        "user": user,
        "cwd": folder,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.STDOUT,
        "env": {"PATH": os.environ["PATH"], "TZ": "UTC"},
    }
    command: list[str | Path] = [programs / "initdb", "-D", data, "-U", "metrics", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(command, check=True, timeout=120, **quiet)
    settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", f"unix_socket_directories={folder}"]
    server = subprocess.Popen([programs / "postgres", "-D", data, *settings], **quiet)
    try:
        _wait_until_ready(programs, folder)
        yield str(folder)
    finally:
        server.terminate()
        server.wait(60)
        shutil.rmtree(folder)


def _postgres_programs() -> Path:
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    pytest.fail("no PostgreSQL server programs (initdb, postgres) on this machine, and they are required")


def _wait_until_ready(programs: Path, folder: Path) -> None:
    for _ in range(300):
        ready = subprocess.run([programs / "pg_isready", "-q", "-h", folder], timeout=30)
        if ready.returncode == 0:
            return
        time.sleep(0.1)
    pytest.fail("the PostgreSQL server did not start within 30 s")


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of a new database."""
    import psycopg

    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(host=postgres_server, user="metrics", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql://metrics@/{name}?host={postgres_server}"


@pytest.fixture(params=["file", "temporary", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store, of each kind."""
    urls: dict[str, Callable[[], str]] = {
        "file": lambda: f"sqlite:///{tmp_path / 'kept' / 'store.db'}",
        "temporary": lambda: "sqlite://",
        "postgresql": lambda: str(request.getfixturevalue("postgres_url")),
    }
    with open_store(urls[request.param]()) as opened:
        yield opened


@pytest.fixture
def file_store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'kept' / 'store.db'}") as opened:
        yield opened
