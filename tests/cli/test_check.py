"""`metrics check`: every problem at once, the mapping, the plan; nothing is stored."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from .here import Here, house, valid  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return house(Here(tmp_path, monkeypatch, capsys))


def test_what_a_run_will_do(here: Here) -> None:
    ran = here("check")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "4 rows, 2 metrics, no model: nothing is sent, nothing is paid"
    assert lines[2:5] == ["METRIC              ROWS  CALLS  USD", "code_token_f1          3      0    0", "code_output_length     4      0    0"]
    assert lines[6] == "mapping: id, input, output, expected, tags as they are · metadata ← lang"
    assert re.fullmatch(r"plan (\w{6}-\w{6}-\w{6})\. Run it: metrics run --expect-plan \1", " ".join(lines[8:]))
    assert not (here.folder / ".metrics").exists()


def test_the_command_it_proposes_runs_this_very_plan(here: Here) -> None:
    here.text("sub dir/other.toml", (here.folder / "metrics.toml").read_text().replace("rows.jsonl", "../rows.jsonl"))
    asked = ["-c", "sub dir/other.toml", "check", "-q", "--where", "lang=en", "--metric", "code_context_recall(k=5)", "--on-missing=skip", "--limit", "1"]
    asked[asked.index("code_context_recall(k=5)")] = "code_exact_match"
    proposed = next(line for line in here(*asked).out.splitlines() if "Run it: " in line).partition("Run it: ")[2]
    words = shlex.split(proposed)
    assert words[0] == "metrics"
    assert here(*words[1:]).code == 0


def test_left_out_rows_are_counted(here: Here) -> None:
    assert here("check", "--where", "lang=en").out.splitlines()[:2] == [
        "2 rows, 2 metrics, no model: nothing is sent, nothing is paid",
        "2 rows left out by --where or --limit",
    ]


def test_what_is_left_out_and_why(here: Here) -> None:
    ran = here("check", "--metric", "category:rag & code-based", "--metric", "code_output_length")
    assert "left out: code_context_recall (needs contexts, reference_contexts)" in ran.out.splitlines()


def test_the_document(here: Here) -> None:
    ran = here("check", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert list(valid(ran.document, "check")) == ["ok", "plan_id", "problems", "mapping", "plan"]


def test_every_problem_at_once(here: Here) -> None:
    here.text("metrics.toml", '[data]\npath = "rows.jsonl"\n[run]\nmetrics = [\n  "code_token_f2",\n  "category:ragg",\n  "code_exact_match",\n]\n')
    ran = here("check")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.splitlines() == [
        "metrics.toml:4: [run] metrics: no category is called 'ragg'; did you mean RAG?",
        "metrics.toml:4: [run] metrics: no metric is called 'code_token_f2'",
        "            did you mean code_token_f1 or code_token_recall or code_rouge_2?",
        "rows.jsonl: code_exact_match needs expected; 1 of 4 rows lack it (d)",
        "            add it, or run with --on-missing skip to leave those cells out, counted",
        "3 problems, nothing was sent.",
    ]


def test_problems_as_a_document(here: Here) -> None:
    ran = here("check", "--json", "--on-missing", "stop")
    assert (ran.code, ran.err) == (2, "")
    assert ran.document["ok"] is False
    assert [problem["code"] for problem in ran.document["problems"]] == ["missing_field"]
    assert ran.document["mapping"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[run]\nmetrcs = ["a"]\n', "metrics.toml:2: [run] metrcs: unknown key metrcs; did you mean metrics?"),
        ("[dta]\n", "metrics.toml:1: [dta]: unknown key dta; did you mean data?"),
        ("[run\n", "metrics.toml:1:5: expected ']' at the end of a table declaration"),
        (
            '[run]\nmetrics = ["./evil.py:run"]\n',
            "metrics.toml:2: [run] metrics: './evil.py:run' names a Python file, and a config never runs code load it with the explicit flag",
        ),
    ],
)
def test_a_config_that_cannot_be_read(here: Here, text: str, told: str) -> None:
    here.text("metrics.toml", text)
    ran = here("check")
    assert ran.code == 2
    assert ran.sentence.startswith(told)
    assert here("check", "--json").document["ok"] is False


def test_no_config_and_no_data(here: Here) -> None:
    (here.folder / "metrics.toml").unlink()
    ran = here("check")
    assert ran.code == 2
    assert ran.err == "metrics.toml: there is no such file here; write one with metrics init --for FILE, or give --data FILE and --metric NAME\n"


def test_a_config_may_be_named_in_three_ways(here: Here) -> None:
    (here.folder / "metrics.toml").rename(here.folder / "my.toml")
    assert {here(*words).code for words in (("check", "my.toml"), ("check", "-c", "my.toml"), ("-c", "my.toml", "check"))} == {0}


def test_bounds_that_are_in_force_are_printed(here: Here) -> None:
    assert "METRICS_CONFINE: paths stay in the working directory, the store is SQLite" in here("check", METRICS_CONFINE="1").out.splitlines()


def test_another_plan_says_what_differs(here: Here) -> None:
    plan_id = here("check", "--json").document["plan_id"]
    assert here("check", "--expect-plan", plan_id).code == 0
    ran = here("check", "--expect-plan", plan_id, "--metric", "code_output_length")
    assert ran.code == 2
    assert ran.sentence.startswith(f"--expect-plan: the metrics changed since plan {plan_id} was made")
    (here.folder / "rows.jsonl").write_text((here.folder / "rows.jsonl").read_text().replace("Paris", "Parma"))
    assert here("check", "--expect-plan", plan_id).sentence.startswith(f"--expect-plan: the data changed since plan {plan_id} was made")
