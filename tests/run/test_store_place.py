"""Where a store lies: its URL, its folder and files, and what is in the way."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from measurand.core.errors import StoreError, UsageError
from measurand.run.store import RunStart, StoredRun, export_run, open_run, open_store
from measurand.run.store.place import parse_place


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_store_is_its_owners_alone_and_git_ignores_it(here: Path, fill: Callable[..., StoredRun]) -> None:
    with open_store("sqlite:///.metrics/store.db") as store:
        fill(store)
        assert store.shown == ".metrics/store.db"
        folder = here / ".metrics"
        assert mode(folder) == 0o700
        assert (folder / ".gitignore").read_text() == "*\n"
        assert {path.name: mode(path) for path in folder.glob("store.db*")} == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}


def test_folders_above_are_made_too(here: Path) -> None:
    open_store(f"sqlite:///{here}/a/b/store.db").close()
    assert mode(here / "a" / "b") == 0o700
    assert not (here / "a" / ".gitignore").exists()


def test_a_folder_of_the_user_gets_no_gitignore(here: Path) -> None:
    (here / "src").mkdir()
    open_store("sqlite:///src/store.db").close()
    open_store("sqlite:///store.db").close()
    assert not (here / "src" / ".gitignore").exists()
    assert not (here / ".gitignore").exists()
    assert mode(here / "src" / "store.db") == 0o600


def test_a_metrics_folder_that_exists_gets_its_gitignore_once(here: Path) -> None:
    (here / ".metrics").mkdir()
    open_store("sqlite:///.metrics/store.db").close()
    ignore = here / ".metrics" / ".gitignore"
    assert ignore.read_text() == "*\n"
    ignore.write_text("mine\n")
    open_store("sqlite:///.metrics/store.db").close()
    assert ignore.read_text() == "mine\n"


def test_a_name_with_characters_of_a_url_is_a_name(here: Path, fill: Callable[..., StoredRun]) -> None:
    with open_store("sqlite:///of a %41 #1/store é.db") as store:
        fill(store)
    assert (here / "of a %41 #1" / "store é.db").stat().st_size > 0


def test_the_temporary_store_leaves_nothing(here: Path, fill: Callable[..., StoredRun]) -> None:
    with open_store("sqlite://") as store:
        assert len(fill(store, rows=100)) == 100
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("store.db", 'the store\'s URL cannot be read; allowed: "sqlite:///path/to/store.db"'),
        ("", "the store's URL cannot be read"),
        ("mysql://u:secret@h/d", "no store can be kept in 'mysql'"),
        ("postgresql+asyncpg://u:secret@h/d", "no store can be kept in 'postgresql+asyncpg'"),
        ("sqlite://var/store.db", "names a host; an absolute path has four slashes"),
        ("sqlite:///file:store.db?uri=true", "is more than a path"),
        ("sqlite:///s.db?mode=ro", "is more than a path"),
        ("sqlite:///s\0.db", "is more than a path"),
        ("postgresql://h:port/d", "the store's URL cannot be read"),
    ],
)
def test_a_url_that_is_no_stores_is_refused(here: Path, url: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=r"^\[run\] store: ") as caught:
        open_store(url)
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)
    assert list(here.iterdir()) == []


def test_a_password_is_never_shown() -> None:
    place = parse_place("postgresql://metrics:s3cret@db.invalid/eval")
    assert place.shown == "postgresql+psycopg://metrics:***@db.invalid/eval"


def test_a_server_that_does_not_answer_is_one_sentence_without_the_password() -> None:
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://metrics:s3cret@127.0.0.1:1/eval")
    assert str(caught.value).startswith("the store postgresql+psycopg://metrics:***@127.0.0.1:1/eval failed: ")
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_in_place_of_the_folder(here: Path) -> None:
    (here / ".metrics").write_text("")
    with pytest.raises(StoreError) as caught:
        open_store("sqlite:///.metrics/store.db")
    assert str(caught.value) == (
        "the store .metrics/store.db cannot be made: .metrics: not a directory; make it writable or name another place with [run] store or --set run.store"
    )
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("create", [True, False])
def test_a_folder_in_place_of_the_file(here: Path, create: bool) -> None:
    (here / "s").mkdir()
    with pytest.raises(StoreError, match=r"^the store s is a folder; \[run\] store takes a file, e.g. sqlite:///s/store.db$"):
        open_store("sqlite:///s", create=create)


def test_a_file_that_is_no_database(here: Path) -> None:
    (here / "notes.txt").write_text("milk, bread\n" * 100)
    with pytest.raises(StoreError, match=r"^the store notes.txt is no SQLite database; move it away or name another place"):
        open_store("sqlite:///notes.txt")
    assert (here / "notes.txt").read_text() == "milk, bread\n" * 100


def test_another_programs_database_is_left_alone(here: Path) -> None:
    with contextlib.closing(sqlite3.connect("shop.db")) as other:
        other.execute("CREATE TABLE orders (x)")
        other.execute("CREATE TABLE meta (key, value)")
        other.commit()
    with pytest.raises(StoreError, match=r"^the store shop.db is another program's database \(tables: meta, orders\)"):
        open_store("sqlite:///shop.db")
    with contextlib.closing(sqlite3.connect("shop.db")) as other:
        assert {row[0] for row in other.execute("SELECT name FROM sqlite_master")} == {"orders", "meta"}


def test_a_damaged_store_is_one_sentence(here: Path, fill: Callable[..., StoredRun]) -> None:
    with open_store("sqlite:///s.db") as store:
        fill(store, rows=2_000)
    with open(here / "s.db", "r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 40)
    with pytest.raises(StoreError, match=r"^the store s.db is damaged \("), open_store("sqlite:///s.db") as store:
        export_run(store.resolve("r1"), "out.run")  # reads everything


def test_reading_makes_no_store(here: Path) -> None:
    with pytest.raises(StoreError, match=r"^there is no store at .metrics/store.db yet; `metrics run` makes it$") as caught:
        open_store("sqlite:///.metrics/store.db", create=False)
    assert caught.value.exit_code == 2
    with pytest.raises(UsageError, match=r"^RUN: no run 'latest': there is no store at .metrics/store.db yet; ") as unknown:
        open_run("latest", "sqlite:///.metrics/store.db", "p", code="no_baseline")
    assert unknown.value.problems[0].code == "no_baseline"
    assert list(here.iterdir()) == []


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of a user to whom permissions apply, as whom the test runs; root would pass through all of them."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, -1)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for path in (folder, *folder.glob("*")):
            path.chmod(0o700)
        shutil.rmtree(folder)


def test_a_folder_that_may_not_be_written(unprivileged: Path) -> None:
    unprivileged.chmod(0o500)
    for path in (unprivileged / "store.db", unprivileged / "sub" / "store.db"):
        with pytest.raises(StoreError, match=r"^the store .* cannot be made: .*: permission denied; make it writable or name another place") as caught:
            open_store(f"sqlite:///{path}")
        assert caught.value.exit_code == 2


def test_a_store_that_may_not_be_written_is_read_and_says_so_before_anything_is_spent(
    unprivileged: Path, fill: Callable[..., StoredRun], make_run: Callable[..., RunStart]
) -> None:
    folder = unprivileged / "kept"
    url = f"sqlite:///{folder / 'store.db'}"
    with open_store(url) as store:
        fill(store)
    (folder / "store.db").chmod(0o400)
    folder.chmod(0o500)
    with open_store(url, create=False) as store:
        assert len(store.resolve("latest", "p")) == 3
        with pytest.raises(StoreError, match=r"^the store .* is read-only; make it and its folder writable or name another place") as caught:
            store.begin(make_run("r2"))
        assert caught.value.exit_code == 2
        with pytest.raises(StoreError, match="is read-only"):
            store.delete(["r1"])
        assert len(store.runs()) == 1
    with pytest.raises(StoreError, match=r"^the store .* (cannot be opened|is read-only)"):
        open_store(url)
    folder.chmod(0o700)
