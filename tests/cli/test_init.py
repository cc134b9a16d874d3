"""`metrics init`: a config that check and run accept as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli

from .here import ROWS, Here  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    made = Here(tmp_path, monkeypatch, capsys)
    made.rows("rows.jsonl", ROWS[:3])
    return made


def test_what_it_writes_checks_and_runs(here: Here) -> None:
    ran = here("init", "--for", "rows.jsonl")
    count = len(tomli.loads((here.folder / "metrics.toml").read_text())["run"]["metrics"])
    assert (ran.code, ran.out) == (0, f"wrote metrics.toml with {count} metrics. Next: metrics check, then metrics run\n")
    assert here("check").code == 0
    assert here("run").code == 0


def test_under_another_name_it_says_what_to_type(here: Here) -> None:
    ran = here("init", "--for", "rows.jsonl", "-o", "my file.toml")
    assert ran.out.endswith("Next: metrics check 'my file.toml', then metrics run 'my file.toml'\n")
    assert here("check", "my file.toml").code == 0


def test_a_file_is_never_written_over(here: Here) -> None:
    here.text("metrics.toml", "mine")
    ran = here("init", "--for", "rows.jsonl")
    assert (ran.code, ran.sentence) == (2, "-o: metrics.toml is there already, and is not overwritten; give another name with -o FILE")
    assert (here.folder / "metrics.toml").read_text() == "mine"
    (here.folder / "link.toml").symlink_to("nowhere.toml")
    assert here("init", "--for", "rows.jsonl", "-o", "link.toml").code == 2
    assert not (here.folder / "nowhere.toml").exists()


def test_to_standard_output(here: Here) -> None:
    ran = here("init", "--for", "rows.jsonl", "-o", "-")
    assert tomli.loads(ran.out)["data"]["path"] == "rows.jsonl"
    assert not (here.folder / "metrics.toml").exists()


def test_the_document(here: Here) -> None:
    document = here("init", "--for", "rows.jsonl", "--json").document
    assert document == {"ok": True, "path": "metrics.toml", "metrics": tomli.loads((here.folder / "metrics.toml").read_text())["run"]["metrics"]}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--for", "nope.jsonl"], "nope.jsonl: there is no such file"),
        (["--for", "rows.jsonl", "-o", "no/such/metrics.toml"], "-o: no/such/metrics.toml cannot be written: no such file or directory"),
        (["--for", "colours.jsonl"], "colours.jsonl: no metric scores these rows: they have id, metadata"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(here: Here, words: list[str], told: str) -> None:
    here.rows("colours.jsonl", [{"id": "a", "colour": "red"}])
    ran = here("init", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.sentence.startswith(told)
    assert not (here.folder / "metrics.toml").exists()


def test_it_stays_in_the_working_directory_where_that_is_asked(here: Here, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "rows.jsonl").write_text((here.folder / "rows.jsonl").read_text())
    for words in (["--for", str(outside / "rows.jsonl")], ["--for", "rows.jsonl", "-o", str(outside / "metrics.toml")]):
        ran = here("init", *words, METRICS_CONFINE="1")
        assert ran.code == 2
        assert "leads out of the working directory" in ran.err
    assert not (outside / "metrics.toml").exists()
