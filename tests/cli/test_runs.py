"""`metrics runs`: what was run."""

from __future__ import annotations

from pathlib import Path

import pytest

from .here import Here, house  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return house(Here(tmp_path, monkeypatch, capsys))


def test_before_the_first_run(here: Here) -> None:
    ran = here("runs")
    assert (ran.code, ran.err) == (2, "there is no store at .metrics/store.db yet; `metrics run` makes it\n")
    ran = here("runs", "latest")
    assert ran.code == 2
    assert ran.err.startswith("RUN: no run 'latest': there is no store at .metrics/store.db yet")


def test_newest_first_and_no_more_than_asked(here: Here) -> None:
    for name in ("one", "two", "three"):
        here("run", "--name", name)
    document = here("runs", "--json", "--limit", "2").document
    assert [one["name"] for one in document] == ["three", "two"]
    assert list(document[0]) == [
        "run_id", "name", "project", "started_at", "elapsed_s", "status", "reason", "dataset", "metrics", "plan_id", "git_commit",
    ]  # fmt: skip
    lines = here("runs").out.splitlines()
    assert lines[0].split() == ["RUN", "NAME", "STARTED", "(UTC)", "STATUS", "ROWS", "METRICS", "DATA"]
    assert [line.split()[1] for line in lines[1:4]] == ["three", "two", "one"]
    assert lines[-1].startswith("3 runs of project p. ")
    assert max(map(len, lines)) <= 82


def test_only_those_of_the_project(here: Here) -> None:
    here("run", "--set", 'project="other"')
    assert here("runs").out == "no runs of project p yet; metrics run makes one\n"
    assert here("runs", "--json").document == []


def test_latest_names_and_beginnings_of_ids(here: Here) -> None:
    first, second = (here("run", "--json", "--name", name).document["run_id"] for name in ("main", "main"))
    for ref, run_id in (("latest", second), ("latest~1", first), ("main", second), (first, first), (first[:6], first)):
        assert here("runs", ref, "--json").document["run_id"] == run_id
    ran = here("runs", "latest~2")
    assert (ran.code, ran.sentence) == (2, "RUN: 'latest~2': the store has 2 complete runs of project 'p'; `metrics run` makes one; `metrics runs` lists them")
    assert "did you mean main?" in here("runs", "mian").sentence


def test_what_a_run_was_made_with(here: Here) -> None:
    here("run", "--limit", "3", "--set", "metrics.code_token_f1.threshold=0.5")
    document = here("runs", "latest", "--config").document
    assert document["config"]["metrics"]["code_token_f1"]["threshold"] == 0.5
    assert document["command"] == ["metrics", "run", "--limit", "3", "--set", "metrics.code_token_f1.threshold=0.5"]
    assert {"measurand", "python"} <= set(document["versions"])


def test_a_run_file_is_a_run(here: Here) -> None:
    document = here("run", "--json").document
    here("export", "latest", "-o", "base.run.gz")
    (here.folder / ".metrics").rename(here.folder / "away")
    assert here("runs", "base.run.gz", "--json").document == document
    assert here("results", "base.run.gz", "--json").lines
    assert here("export", "base.run.gz", "--format", "csv").out.startswith("sample_id,")


def test_a_damaged_run_file_names_the_line(here: Here) -> None:
    here("run")
    here("export", "latest", "-o", "base.run")
    whole = (here.folder / "base.run").read_bytes()
    (here.folder / "base.run").write_bytes(whole[:-40])
    ran = here("runs", "base.run")
    assert ran.code == 2
    assert ran.sentence.startswith("base.run:")
    assert "cut off" in ran.sentence
