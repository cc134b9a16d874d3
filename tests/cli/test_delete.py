"""`metrics delete`: runs, one row everywhere, old runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from .here import Here, house  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    made = house(Here(tmp_path, monkeypatch, capsys))
    for name in ("one", "two"):
        assert made("run", "--name", name).code == 0
    return made


def names(here: Here) -> list[str]:
    return [one["name"] for one in here("runs", "--json").document]


def test_one_run(here: Here) -> None:
    assert here("delete", "one").out == "removed 1 run, 4 rows, 8 results, 0 recorded calls\n"
    assert names(here) == ["two"]
    assert here("results", "one").code == 2


def test_several_runs_or_none(here: Here) -> None:
    assert here("delete", "one", "nope").code == 2
    assert names(here) == ["two", "one"]
    assert here("delete", "one", "two", "--json").document == {"ok": True, "dry_run": False, "runs": 2, "rows": 8, "results": 16, "calls": 0}
    assert names(here) == []


def test_a_dry_run_removes_nothing(here: Here) -> None:
    for words in (["one"], ["--row", "a"], ["--older-than", "0d"]):
        assert here("delete", *words, "--dry-run").out.startswith("would remove ")
    assert names(here) == ["two", "one"]
    assert len(here("results", "one", "--json").lines) == 8


def test_a_row_goes_from_every_run_and_its_text_from_the_file(here: Here) -> None:
    assert here("delete", "--row", "b").out == "removed 2 runs, 2 rows, 4 results, 0 recorded calls\n"
    assert here("results", "one", "--id", "b").code == 2
    assert len(here("results", "two", "--json").lines) == 6
    assert b"Rome, Italy" not in b"".join(path.read_bytes() for path in (here.folder / ".metrics").iterdir())


def test_old_runs(here: Here) -> None:
    assert here("delete", "--older-than", "1h").out.startswith("removed 0 runs")
    assert here("delete", "--older-than", "0h").out.startswith("removed 2 runs")


def test_a_run_file_is_not_in_the_store(here: Here) -> None:
    here("export", "one", "-o", "one.run")
    ran = here("delete", "one.run")
    assert (ran.code, ran.sentence) == (2, "RUN: one.run is a run file, not a run of the store; remove the file itself, or name the run by its id")
    assert names(here) == ["two", "one"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "metrics delete: say what to remove, in one way; give RUN…, or --row ID, or --older-than 90d"),
        (["one", "--row", "a"], "metrics delete: say what to remove, in one way"),
        (["--row", "zzz"], "--row: no run has a row 'zzz'"),
        (["--older-than", "90"], "--older-than: '90' is no age; a number with h, d or w: 12h, 90d, 8w"),
        (["--older-than", "999999999d"], "--older-than: '999999999d' is no age"),
        (["--older-than", ""], "--older-than: '' is no age"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(here: Here, words: list[str], told: str) -> None:
    ran = here("delete", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.sentence.startswith(told)
    assert names(here) == ["two", "one"]
