"""`metrics run`: what it prints, what it stores, how it ends."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from .here import CONFIG, ROWS, Here, house, valid  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return house(Here(tmp_path, monkeypatch, capsys))


def test_the_summary(here: Here) -> None:
    ran = here("run", "--name", "first")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "METRIC              N   MEAN   95 % INTERVAL  ERRORS  N/A  USD"
    assert lines[1].split()[:3] == ["code_token_f1", "3", "0.556"]
    assert any(re.fullmatch(r"4 rows of rows\.jsonl, \d\.\d s", line) for line in lines)
    assert re.fullmatch(r'run [0-9a-f]{8} "first"\. As a table: metrics export latest -o results\.csv', lines[-1])


def test_the_document(here: Here) -> None:
    ran = here("run", "--json", "--by", "lang", "--by", "tags")
    assert (ran.code, ran.err) == (0, "")
    document = valid(ran.document, "run")
    assert (document["status"], document["reason"], document["project"], document["dataset"]["rows"]) == ("complete", None, "p", 4)
    assert {(part["by"], part["value"]) for part in document["metrics"][0]["slices"]} == {
        ("lang", "de"), ("lang", "en"), ("lang", "fr"), ("tags", "x"), ("tags", "y"),
    }  # fmt: skip


def test_what_is_printed_can_be_had_again(here: Here) -> None:
    document = here("run", "--json").document
    assert here("runs", "latest", "--json").document == document
    assert here("runs", document["run_id"][:5], "--json").document == document


def test_data_columns_conditions_and_a_limit_from_the_command_line(here: Here) -> None:
    here.rows("other.jsonl", [{"nr": at, "Said": "x", "Right": "x" if at % 2 else "y", "lang": "en" if at < 4 else "de"} for at in range(6)])
    words = ["--data", "other.jsonl", "--column", "output=Said", "--column", "expected=Right", "--column", "id=nr", "--metric", "code_exact_match"]
    document = here("run", "--json", *words, "--where", "lang=en", "--limit", "3").document
    assert (document["dataset"]["rows"], document["dataset"]["filtered"], document["metrics"][0]["mean"]) == (3, 3, pytest.approx(1 / 3))


def test_set_takes_toml_values(here: Here) -> None:
    words = ["--set", "metrics.code_token_f1.threshold=0.5", "--set", 'project="q"', "--set", 'run.slices=["lang"]']
    document = here("run", "--json", *words).document
    assert (document["project"], document["metrics"][0]["pass_rate"]["value"], len(document["metrics"][0]["slices"])) == ("q", pytest.approx(2 / 3), 3)


def test_without_a_config(here: Here) -> None:
    (here.folder / "metrics.toml").unlink()
    document = here("run", "--json", "--data", "rows.jsonl", "--metric", "code_output_length").document
    assert document["project"] == here.folder.name


def test_the_rows_of_an_earlier_run(here: Here) -> None:
    first = here("run", "--json", "--name", "first").document
    here("export", "first", "-o", "first.run")
    (here.folder / "rows.jsonl").unlink()
    for ref in ("first", "latest", first["run_id"], "first.run"):
        again = here("run", "--json", "--data", f"run:{ref}").document
        assert again["dataset"]["path"] == f"run:{ref}"
        assert [(one["name"], one["mean"], one["n"]) for one in again["metrics"]] == [(one["name"], one["mean"], one["n"]) for one in first["metrics"]]


def test_the_rows_of_a_run_that_kept_none(here: Here) -> None:
    here("run", "--set", 'run.content="none"')
    ran = here("run", "--data", "run:latest")
    assert ran.code == 2
    assert ran.sentence.startswith("--data run:latest: the run was kept without its texts")


def test_problems_are_told_and_nothing_is_stored(here: Here) -> None:
    ran = here("run", "--on-missing", "stop")
    assert ran.code == 2
    assert ran.err.splitlines()[0] == "rows.jsonl: code_token_f1 needs expected; 1 of 4 rows lack it (d)"
    assert valid(here("run", "--on-missing", "stop", "--json").document, "problems")
    assert not (here.folder / ".metrics").exists()


def test_too_many_errors_end_a_run_incomplete_and_its_results_are_there(here: Here) -> None:
    here.rows("rows.jsonl", [{"id": "a", "output": {"a": 1}, "expected": "x"}])
    ran = here("run", "--metric", "code_exact_match")
    assert ran.code == 3
    assert "INCOMPLETE: 1 of 1 results are errors" in ran.out
    document = here("run", "--metric", "code_exact_match", "--json").document
    assert (document["status"], document["metrics"][0]["errors"]) == ("incomplete", 1)
    assert len(here("results", document["run_id"], "--errors", "--json").lines) == 1


def test_another_config_is_named_in_what_to_type_next(here: Here) -> None:
    here.text("sub/other.toml", CONFIG.replace('"p"', '"q"').replace("rows.jsonl", "../rows.jsonl"))
    ran = here("run", "sub/other.toml")
    proposed = ran.out.splitlines()[-1].partition("As a table: metrics ")[2].split()
    assert proposed == ["export", "latest", "-o", "results.csv", "-c", "sub/other.toml"]
    assert here(*proposed).code == 0
    assert here("results", "latest").code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--data", "row.jsonl"], "row.jsonl: there is no such file; did you mean rows.jsonl"),
        (["--data", "."], ".: it is a directory; name a file, or a pattern: ./*.jsonl"),
        (["--data", "empty.jsonl"], "empty.jsonl: 0 rows: the dataset is empty"),
        (["--where", "lang=xx"], "rows.jsonl: 0 rows: none of 4 meets --where lang=xx"),
        (["--where", "id=zzz"], "rows.jsonl: 0 rows: none of 4 meets --where id=zzz"),
        (["--where", "lagn=en"], "--where lagn=en: nothing in the data is called 'lagn'; did you mean lang?"),
        (["--where", "lang"], "--where: 'lang' has no '='; write --where FIELD=VALUE"),
        (["--column", "output=lang", "--column", "output=tags"], "--column: names two columns for output: lang and tags; keep one"),
        (["--by", "nope"], "--by: the rows have nothing called 'nope' to slice by"),
        (["--set", "run.draw=2"], "--set run.draw: unknown key draw; did you mean draws?"),
        (["--set", "run.draws=x"], "--set run.draws: 'x' is no TOML value; a text is quoted: --set 'run.draws=\"x\"'"),
        (["--limit", "0"], "metrics run --limit: 0 is not in the range x>=1"),
        (["--metric", "code_token_f2"], "--metric: no metric is called 'code_token_f2'; did you mean code_token_f1"),
        (["--metric", "./evil.py:run"], "--metric: './evil.py:run' names a Python file, and a config never runs code"),
        (["--data", "run:nope"], "RUN: no run 'nope': there is no store at .metrics/store.db yet"),
        (["nowhere.toml"], "nowhere.toml: there is no such file; write one with"),
        (["."], ".: is a directory; name the file in it: metrics.toml"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(here: Here, words: list[str], told: str) -> None:
    here.text("empty.jsonl", "")
    ran = here("run", *words)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.sentence.startswith(told)
    as_json = here("run", *words, "--json")
    assert as_json.code == 2
    assert valid(as_json.document, "problems")


def test_planned_rows_and_run_rows_are_the_same(here: Here) -> None:
    plan_id = here("check", "--json").document["plan_id"]
    assert here("run", "--expect-plan", plan_id).code == 0
    assert here("run", "--expect-plan", plan_id, "--limit", "2").code == 2


def test_paths_stay_in_the_working_directory_where_that_is_asked(here: Here, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "rows.jsonl"
    outside.write_text(json.dumps(ROWS[0]) + "\n")
    (here.folder / "link.jsonl").symlink_to(outside)
    assert here("run", METRICS_CONFINE="1").code == 0
    for data in (str(outside), "link.jsonl"):
        ran = here("run", "--data", data, METRICS_CONFINE="1")
        assert ran.code == 2
        assert "leads out of the working directory METRICS_CONFINE is set: name a file inside it" in ran.sentence.replace("; ", " ")


def test_secrets_are_in_no_output_and_in_no_file(here: Here) -> None:
    here.text(
        "metrics.toml",
        CONFIG
        + '[models.j]\nprovider = "openai"\nmodel = "x"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "MY_KEY"\nheaders = { X-Team = "PLANTED1" }\n',
    )
    words = ["--set", 'models.j.headers={X-Other="PLANTED2"}', '--set=models.j.extra_body={seed="PLANTED3"}', "--name", "n"]
    environ = {"MY_KEY": "PLANTED4", "HTTPS_PROXY": "http://p:PLANTED5@x:1"}
    first = here("run", *words, **environ)
    assert first.code == 0
    said = [first, here("runs", "n", "--config", **environ), here("check", *words[:3], **environ), here("export", "n", **environ)]
    here("export", "n", "-o", "n.run")
    kept = b"".join(path.read_bytes() for path in here.folder.rglob("*") if path.is_file() and path.name != "metrics.toml")
    kept += gzip.decompress((here.folder / "n.run").read_bytes())
    assert b"code_token_f1" in kept
    assert not re.search(b"PLANTED[245]", kept)
    assert not re.search("PLANTED[245]", "".join(ran.out + ran.err for ran in (said[0], said[1], said[3])))
    assert "PLANTED1" not in said[1].out
    command = json.loads(said[1].out)["command"]
    assert command[2:5] == ["--set", "models.j.headers=<redacted>", "--set=models.j.extra_body=<redacted>"]


def test_names_are_kept_as_they_are_and_never_become_paths(here: Here) -> None:
    names = ["org/model:free v1.2", "org-model-free v1.2", "../../escape", "/abs", "C:\\x", "CON", "."]
    before = {path.name for path in here.folder.parent.iterdir()}
    for name in names:
        assert here("run", "--name", name).code == 0
    assert [one["name"] for one in here("runs", "--json").document] == names[::-1]
    for name in names:
        assert here("runs", name, "--json").document["name"] == name
    assert {path.name for path in here.folder.iterdir()} == {"rows.jsonl", "metrics.toml", ".metrics"}
    assert {path.name for path in here.folder.parent.iterdir()} == before
