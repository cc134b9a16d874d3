"""`metrics export`: a run as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from .here import Here, house  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    made = house(Here(tmp_path, monkeypatch, capsys))
    assert made("run", "--name", "main").code == 0
    return made


def test_to_standard_output_as_json_lines(here: Here) -> None:
    assert here("export", "latest").lines == here("results", "latest", "--json").lines


def test_to_a_file_by_its_suffix(here: Here) -> None:
    ran = here("export", "main", "-o", "out.csv")
    run_id = here("runs", "--json").document[0]["run_id"]
    assert (ran.code, ran.out, ran.err) == (0, "", f'wrote 4 rows of run {run_id} "main" to out.csv\n')
    assert (here.folder / "out.csv").read_text() == here("export", "main", "--format", "csv").out


def test_the_document(here: Here) -> None:
    assert here("export", "main", "-o", "out.jsonl", "--json").document == {"ok": True, "path": "out.jsonl", "format": "jsonl", "rows": 4}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "out.xml"], "-o: 'out.xml' has no suffix that tells the format; end it in .jsonl, .csv, .parquet or .run, or give --format"),
        (["-o", "no/out.csv"], "-o: no/out.csv cannot be written: no such file or directory"),
        (["-o", "no/out.run"], "-o: no/out.run cannot be written: no such file or directory"),
        (["--format", "otel"], "--format: 'otel' is not written by this version; there are run, jsonl, csv, parquet"),
        (["--format", "xml"], "metrics export --format: 'xml' is not one of"),
        (["-o", "."], "metrics export --output: file '.' is a directory"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(here: Here, words: list[str], told: str) -> None:
    ran = here("export", "latest", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.sentence.startswith(told)


def test_it_stays_in_the_working_directory_where_that_is_asked(here: Here, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    ran = here("export", "latest", "-o", str(outside / "out.csv"), METRICS_CONFINE="1")
    assert ran.code == 2
    assert "leads out of the working directory" in ran.err
    assert here("export", "latest", "-o", str(outside / "base.run")).code == 0
    ran = here("results", str(outside / "base.run"), METRICS_CONFINE="1")
    assert ran.code == 2
    assert ran.err.startswith("RUN: ")
