"""What a word stands for where a RUN is expected."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.core.errors import UsageError
from measurand.run.store import Store, StoredRun, export_run, open_run


@pytest.fixture
def runs(store: Store, fill: Callable[..., StoredRun]) -> Store:
    fill(store, "aa10", name="nightly", started_at="2026-11-01T00:00:00Z")
    fill(store, "aa20", name="nightly", started_at="2026-11-02T00:00:00Z")
    fill(store, "bb30", name="nightly", status="incomplete", started_at="2026-11-03T00:00:00Z")
    fill(store, "cc40", name="half", status="incomplete", started_at="2026-11-04T00:00:00Z")
    fill(store, "dd50", name="aa10", project="other", started_at="2026-11-05T00:00:00Z")
    fill(store, "ee60", name="bb", started_at="2026-10-01T00:00:00Z")
    return store


@pytest.mark.parametrize(
    ("ref", "run_id"),
    [
        ("latest", "aa20"),
        ("latest~0", "aa20"),
        ("latest~1", "aa10"),
        ("latest~2", "ee60"),
        ("aa10", "aa10"),  # an id before a name
        ("bb30", "bb30"),  # an id, also of an incomplete run
        ("nightly", "aa20"),  # the newest complete run of that name
        ("bb", "ee60"),  # a name before the beginning of an id
        ("bb3", "bb30"),
        ("c", "cc40"),
        ("dd50", "dd50"),  # an id of any project
    ],
)
def test_what_a_word_stands_for(runs: Store, ref: str, run_id: str) -> None:
    assert runs.resolve(ref, "p").info.run_id == run_id


@pytest.mark.parametrize(
    ("ref", "sentence"),
    [
        ("latest~3", "RUN: 'latest~3': the store has 3 complete runs of project 'p'; the newest incomplete one is cc40 \"half\"; type its id"),
        ("half", "RUN: no complete run is named 'half'; an incomplete one is: cc40; type its id to read it, or finish it with the same `metrics run`"),
        ("aa", 'RUN: \'aa\' begins the ids of 2 runs; type more of one: aa20 "nightly", aa10 "nightly"'),
        ("nightli", "RUN: no run has the id, the name or an id beginning 'nightli'; did you mean nightly?"),
        ("AA10", "RUN: no run has the id, the name or an id beginning 'AA10'; did you mean aa10"),
        ("zzzz", "RUN: no run has the id, the name or an id beginning 'zzzz'; newest: cc40 \"half\", bb30"),
        ("", "RUN: no run has the id, the name or an id beginning ''; newest: "),
        ("%", "RUN: no run has the id, the name or an id beginning '%'; newest: "),
        ("latest~x", "RUN: no run has the id, the name or an id beginning 'latest~x'; "),
        ("a\0b", "RUN: no run has the id, the name or an id beginning 'a\\x00b'; "),
        ("\udcff", "RUN: no run has the id, the name or an id beginning '\\udcff'; "),
    ],
)
def test_what_is_said_where_a_word_stands_for_nothing(runs: Store, ref: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        runs.resolve(ref, "p", code="no_baseline")
    assert str(caught.value).startswith(sentence)
    assert (caught.value.problems[0].code, caught.value.exit_code) == ("no_baseline", 2)


def test_a_name_of_another_project_is_not_taken_for_this_ones(runs: Store) -> None:
    with pytest.raises(UsageError, match="no run of project 'third' is named 'nightly'; one of project 'p' is: bb30; type its id"):
        runs.resolve("nightly", "third")
    assert runs.resolve("nightly").info.run_id == "aa20"


def test_an_empty_store_says_what_makes_a_run(store: Store) -> None:
    with pytest.raises(UsageError, match=r"^RUN: 'latest': the store has no complete runs of project 'p'; `metrics run` makes one; "):
        store.resolve("latest", "p")
    with pytest.raises(UsageError, match=r"the store has no runs of project 'p'; `metrics run` makes one$"):
        store.resolve("abc", "p")


def test_a_run_file_goes_before_everything(runs: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    export_run(runs.resolve("ee60"), "latest")
    with runs.resolve("latest", "p") as run:
        assert run.info.run_id == "ee60"
    with open_run("latest", "sqlite:///none.db", "p") as run:
        assert run.info.run_id == "ee60"
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_no_run_file_does_not_hide_a_name(runs: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nightly").write_text("notes")
    (tmp_path / "aa.txt").write_text("notes")
    (tmp_path / "c").mkdir()
    assert runs.resolve("nightly", "p").info.run_id == "aa20"
    assert runs.resolve("c", "p").info.run_id == "cc40"
    with pytest.raises(UsageError, match=r"beginning 'aa.txt' \(aa.txt is a file, but none of `metrics export --format run`\); "):
        runs.resolve("aa.txt", "p")


def test_a_store_is_opened_for_a_run_of_it(tmp_path: Path, file_store: Store, fill: Callable[..., StoredRun]) -> None:
    fill(file_store, "r1")
    with open_run("r1", f"sqlite:///{tmp_path / 'kept' / 'store.db'}", "p") as run:
        gc.collect()
        assert len(list(run.results())) == 9
