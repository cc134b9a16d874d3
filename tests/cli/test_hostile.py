"""What goes wrong around a command: signals, full disks, closed pipes, poor terminals, hostile rows. One clear sentence, and nothing stored is lost."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

Metrics = Callable[..., Any]

METRICS = [sys.executable, "-m", "measurand"]
ROWS = 5_000

STOPPING = '''
import time
from pathlib import Path

from measurand import metric, registry

seen = 0


@registry.metric("test.stopping")
def stopping(output: str) -> float:
    """Half; the first time it comes to row 4 500 it waits to be stopped."""
    global seen
    seen += 1
    if seen == 4_500 and not Path("reached").exists():
        Path("reached").touch()
        time.sleep(60)
    return 0.5
'''

WORDS = ["run", "--load", "stopping.py", "--data", "rows.jsonl", "--metric", "test.stopping", "--metric", "code_output_length", "--no-progress"]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"id": "r{at}", "output": "{"x" * (at % 50)}", "expected": "x"}}\n' for at in range(ROWS)))
    (tmp_path / "stopping.py").write_text(STOPPING)
    return path


def stopped(folder: Path, how: int, *further: str) -> subprocess.CompletedProcess[str]:
    """The process, stopped by a signal at row 4 500."""
    process = subprocess.Popen([*METRICS, *WORDS, *further], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not (folder / "reached").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def stored(folder: Path) -> tuple[list[tuple[str, str]], int, int, int]:
    """(id and status of each run, rows, results, different slots)."""
    with sqlite3.connect(folder / ".metrics" / "store.db") as store:
        runs = store.execute("SELECT run_id, status FROM runs").fetchall()
        (count,) = store.execute("SELECT count(*) FROM samples").fetchone()
        results, slots = store.execute("SELECT count(*), count(DISTINCT run || ' ' || ordinal || ' ' || metric) FROM results").fetchone()
    store.close()
    return runs, count, results, slots


# ---------------------------------------------------------------- stopped in the middle


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interrupted_run_ends_with_3_and_the_same_command_continues_it(rows: Path, metrics: Metrics, as_json: bool) -> None:
    folder = rows.parent
    further = ["--json"] if as_json else []
    first = stopped(folder, signal.SIGINT, *further)
    assert (first.returncode, first.stderr) == (3, "")
    if as_json:
        document = json.loads(first.stdout)
        assert (document["status"], document["reason"]) == ("incomplete", "interrupted")
    else:
        assert "INCOMPLETE: interrupted" in first.stdout
    ((run_id, status),), count, results, slots = stored(folder)
    assert (status, count, results, slots) == ("incomplete", 4_000, 8_000, 8_000)
    again = metrics(*WORDS, *further)
    assert (again.code, again.err) == (0, "")
    assert as_json or "continued: 4 000 rows had been stored before" in again.out
    assert stored(folder) == ([(run_id, "complete")], ROWS, 2 * ROWS, 2 * ROWS)
    assert json.loads(metrics("runs", run_id, "--json").out)["metrics"][0]["rows_scored"] == ROWS


def test_a_killed_run_is_readable_and_continues_with_one_result_a_slot(rows: Path, metrics: Metrics) -> None:
    folder = rows.parent
    assert stopped(folder, signal.SIGKILL).returncode == -signal.SIGKILL
    ((run_id, status),), count, _, _ = stored(folder)
    assert (status, count) == ("incomplete", 4_000)
    assert "incomplete" in metrics("runs").out
    assert len(metrics("results", run_id, "--metric", "test.stopping", "--json").out.splitlines()) == 4_000
    assert metrics(*WORDS).code == 0
    assert stored(folder) == ([(run_id, "complete")], ROWS, 2 * ROWS, 2 * ROWS)
    assert metrics(*WORDS).code == 0
    assert len(stored(folder)[0]) == 2


def test_a_full_disk_ends_with_3_and_the_same_command_continues(rows: Path, metrics: Metrics) -> None:
    folder = rows.parent
    words = ["run", "--data", "rows.jsonl", "--metric", "code_output_length", "--metric", "code_token_f1", "--no-progress"]

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))

    first = subprocess.run([*METRICS, *words], cwd=folder, capture_output=True, text=True, preexec_fn=full, timeout=60)  # no threads here
    assert first.returncode == 3, first.stderr
    assert first.stderr == ""
    text = " ".join(line.strip() for line in first.stdout.splitlines())
    assert re.search(r"INCOMPLETE: .*(is the disk full|the disk is full).*all .* stored.*type the same command again", text)
    ((run_id, status),), count, results, slots = stored(folder)
    assert status == "incomplete"
    assert 0 < count < ROWS
    assert results == slots == 2 * count
    assert metrics(*words).code == 0
    assert stored(folder) == ([(run_id, "complete")], ROWS, 2 * ROWS, 2 * ROWS)


def test_a_full_disk_behind_stdout_is_said_once_and_the_run_is_stored(rows: Path, metrics: Metrics) -> None:
    folder = rows.parent
    for words in (
        ["run", "--data", "rows.jsonl", "--metric", "code_output_length"],
        ["results", "latest"],
        ["export", "latest"],
        ["export", "latest", "--format", "csv"],
    ):
        with open("/dev/full", "w") as full:
            ran = subprocess.run([*METRICS, *words], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert (ran.returncode, ran.stderr) == (2, "stdout: cannot be written: no space left on device\n"), words
    assert [status for _, status in stored(folder)[0]] == ["complete"]


# ---------------------------------------------------------------- pipes and terminals


@pytest.mark.parametrize(
    "words",
    [
        ["score", "code_output_length", "--data", "rows.jsonl"],
        ["results", "latest"],
        ["results", "latest", "--json"],
        ["export", "latest"],
        ["export", "latest", "--format", "csv"],
        ["export", "latest", "--format", "run"],
    ],
)
def test_a_reader_that_has_enough_is_no_failure(rows: Path, metrics: Metrics, words: list[str]) -> None:
    if words[0] != "score":
        assert metrics("run", "--data", "rows.jsonl", "--metric", "code_output_length").code == 0
    process = subprocess.Popen([*METRICS, *words], cwd=rows.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(20)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


def test_score_gives_a_row_its_results_before_the_next_one_comes(tmp_path: Path) -> None:
    process = subprocess.Popen([*METRICS, "score", "code_output_length"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    for at in range(3):
        process.stdin.write(f'{{"id": "{at}", "output": "x"}}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["sample_id"] == str(at)
    assert process.communicate(timeout=60)[0] == ""
    assert process.returncode == 0


@pytest.mark.parametrize("environ", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}])
def test_a_terminal_without_unicode(rows: Path, metrics: Metrics, environ: dict[str, str]) -> None:
    (rows.parent / "few.jsonl").write_text('{"id": "k", "output": "caf\\u00e9 \\u6f22", "expected": "x", "lang": "\\u202e"}\n')
    words = ("--data", "few.jsonl", "--metric", "code_token_f1")
    for command in (("check", *words), ("run", *words, "--by", "lang"), ("results", "latest"), ("results", "latest", "--id", "k"), ("runs",)):
        ran = metrics(*command, **environ)
        assert (ran.code, ran.err) == (0, ""), command
        assert ran.out.isascii()
    assert json.loads(metrics("results", "latest", "--json", **environ).out)["sample_id"] == "k"


def on_a_terminal(folder: Path, words: Sequence[str], **environ: str) -> tuple[int, str]:
    """The exit code and all that came to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover  # the other process
        os.chdir(folder)
        os.execve(sys.executable, [*METRICS, *words], {**os.environ, "TERM": "xterm", **environ})
    found = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:
            break
        if not piece:
            break
        found += piece
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), found.decode(errors="replace")


@pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")
@pytest.mark.parametrize(
    ("environ", "further", "coloured"),
    [({}, [], True), ({"NO_COLOR": "1"}, [], False), ({}, ["--color", "never"], False), ({"NO_COLOR": "1"}, ["--color", "always"], True)],
)
def test_a_bar_is_shown_with_and_without_colour(rows: Path, environ: dict[str, str], further: list[str], coloured: bool) -> None:
    code, text = on_a_terminal(rows.parent, ["run", "--data", "rows.jsonl", "--metric", "code_token_f1", *further], **{"NO_COLOR": "", **environ})
    assert code == 0
    assert re.search(r"\d{4}/5000", text)
    assert bool(re.search(r"\x1b\[[0-9;]*m", text)) is coloured


@pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")
def test_no_bar_where_none_is_wanted_and_no_binary_on_a_terminal(rows: Path) -> None:
    for further in (["--no-progress"], ["-q"]):
        code, text = on_a_terminal(rows.parent, ["run", "--data", "rows.jsonl", "--metric", "code_output_length", *further])
        assert code == 0
        assert "/5000" not in text
    code, text = on_a_terminal(rows.parent, ["export", "latest", "--format", "run"])
    assert (code, text.strip()) == (2, "--format run: is binary and would garble the terminal; give -o FILE")


# ---------------------------------------------------------------- hostile rows


def test_rows_that_reach_out_backtrack_or_write_on_the_terminal(tmp_path: Path, metrics: Metrics) -> None:
    schemas: list[Any] = [
        {"$ref": "http://127.0.0.1:9/x.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/a"}}},
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
    ]
    rows = [{"id": f"../../{at}", "output": json.dumps({"a": "a" * 40 + "!"}), "expected": "x", "output_schema": schema} for at, schema in enumerate(schemas)]
    rows.append({"id": "\x1b[2J", "output": "\x1b]0;owned\x07ok\rFAKE PASS", "expected": "abc\u202etxt.exe", "output_schema": {}, "tags": ["\x1b[31mred"]})
    rows.append({"id": "a\x00b", "output": "x" * 1_000_000, "expected": "x", "output_schema": {"type": "object"}})
    (tmp_path / "hostile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--data", "hostile.jsonl", "--metric", "code_json_schema", "--metric", "code_exact_match", "--set", "run.max_error_rate=1.0", "--by", "tags"]
    began = time.monotonic()
    ran = metrics("run", *words, "--on-missing", "skip")
    assert time.monotonic() - began < 20
    assert (ran.code, ran.err) == (0, "")
    statuses = {
        one["sample_id"]: one["status"] for one in map(json.loads, metrics("results", "latest", "--metric", "code_json_schema", "--json").out.splitlines())
    }
    assert [statuses[f"../../{at}"] for at in range(3)] == ["error", "error", "error"]
    assert statuses["a\x00b"] == "ok"
    for command in (["results", "latest"], ["results", "latest", "--id", "\x1b[2J"], ["check", *words, "--on-missing", "skip"], ["runs", "latest"]):
        shown = metrics(*command)
        assert shown.code == 0
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", ran.out + shown.out), command
    raw = json.loads(metrics("results", "latest", "--id", "\x1b[2J", "--json").out.splitlines()[0])
    assert raw["sample_id"] == "\x1b[2J"
    assert {path.name for path in tmp_path.iterdir()} == {"hostile.jsonl", ".metrics"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"id": "n", "output": ' + "[" * 100_000 + "]" * 100_000 + "}", "rows.jsonl:1: nested more than 200 levels deep"),
        ('{"id": "n", "output": NaN}', "rows.jsonl:1: NaN is no JSON number"),
        ('{"id": "n", "output": "' + "x" * 1_000_001 + '"}', "rows.jsonl:1: output has 1000001 characters, more than max_field_chars 1000000"),
        ('{"id": "n", "output": ' + "9" * 5_000 + "}", "rows.jsonl:1: "),
        ('{"id": "n", "cluster": ["x"], "output": "x"}', "rows.jsonl:1: cluster is a list; it must be a text"),
        ('{"id": "n", "tags": 5, "output": "x"}', "rows.jsonl:1: tags is a number; it must be a list of texts"),
        ('{"id": "n", "output": "\\ud800"}', "rows.jsonl:1: \\ud800 is half of a character"),
        ('["a", "list"]', "rows.jsonl:1: "),
    ],
)
@pytest.mark.parametrize("command", ["run", "score"])
def test_a_row_that_cannot_be_read_is_a_sentence_with_its_line(tmp_path: Path, metrics: Metrics, command: str, line: str, told: str) -> None:
    (tmp_path / "rows.jsonl").write_text(line + "\n")
    words = ["run", "--metric", "code_output_length"] if command == "run" else ["score", "code_output_length"]
    ran = metrics(*words, "--data", "rows.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(told)
    assert "Traceback" not in ran.err


def test_a_bomb_is_read_no_further_than_a_row_may_be_long(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bomb.jsonl.gz", "wb", compresslevel=1) as bomb:
        bomb.write(b'{"id": "')
        for _ in range(200):
            bomb.write(bytes(1_000_000))

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))

    words = ["run", "--data", "bomb.jsonl.gz", "--metric", "code_output_length"]
    ran = subprocess.run([*METRICS, *words], cwd=tmp_path, capture_output=True, text=True, preexec_fn=little, timeout=60)  # no threads here
    assert ran.returncode == 2
    assert ran.stderr.startswith("bomb.jsonl.gz:1: the line has more than max_row_bytes 16000000")
