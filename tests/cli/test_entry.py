from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import measurand
from measurand.cli.group import COMMANDS, LATER
from measurand.cli.main import main

Metrics = Callable[..., Any]
METRICS = [sys.executable, "-m", "measurand"]


def problem(ran: Any) -> dict[str, str]:
    """The one problem of a JSON answer."""
    document = json.loads(ran.out)
    assert document["ok"] is False
    assert len(document["problems"]) == 1
    found: dict[str, str] = document["problems"][0]
    assert list(found) == ["code", "where", "message", "hint"]
    return found


# ---------------------------------------------------------------- version and help


def test_version(metrics: Metrics) -> None:
    assert metrics("--version") == (0, f"measurand {measurand.__version__}\n", "")


def test_version_among_other_options(metrics: Metrics) -> None:
    assert metrics("-q", "--version") == (0, f"measurand {measurand.__version__}\n", "")


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_names_every_command_of_this_version_and_no_later_one(metrics: Metrics, word: str) -> None:
    ran = metrics(word)
    assert ran.code == 0
    assert ran.err == ""
    listed = re.findall(r"^  (\w+)  ", ran.out.partition("Commands:")[2], re.MULTILINE)
    assert listed == list(COMMANDS)
    assert not set(listed) & set(LATER)
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_its_own_options(metrics: Metrics, name: str) -> None:
    ran = metrics(name, "-h")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: metrics {name} [OPTIONS]")
    assert "--json" in ran.out
    assert "as in `metrics --help`" in ran.out
    assert not re.search(r"^  \[?[A-Z]", ran.out.partition("Options:")[2].partition("Also:")[0], re.MULTILINE)


def test_nothing_typed_is_answered_with_the_help(metrics: Metrics) -> None:
    ran = metrics()
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("Usage: metrics [OPTIONS]")


# ---------------------------------------------------------------- wrong usage


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["lst"], "metrics: there is no command 'lst'; did you mean list?\n"),
        (["xyzzy"], "metrics: there is no command 'xyzzy'; metrics --help shows those there are\n"),
        (["gate", "a", "b"], f"metrics gate: measurand {measurand.__version__} does not have this command yet; metrics --help shows those there are\n"),
        (["list", "--catgory", "rag"], "metrics list: there is no option --catgory; did you mean --category or --color?\n"),
        (["list", "--zzz"], "metrics list: there is no option --zzz; metrics list --help shows all it takes\n"),
        (["list", "rag"], "metrics list: got unexpected extra argument (rag); usage: metrics list [OPTIONS]\n"),
        (["--json", "list"], "options of a command stand after it: metrics COMMAND --json"),
        (["show"], "metrics show: NAME is missing; usage: metrics show [OPTIONS] NAME\n"),
        (["list", "--category"], "metrics list: option '--category' requires an argument; metrics list --help shows all it takes\n"),
        (["list", "--format", "xml"], "metrics list --format: 'xml' is not one of 'table', 'names', 'csv', 'markdown'\n"),
        (["list", "--max-cost", "-1"], "metrics list --max-cost: -1.0 is not in the range x>=0\n"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_2(metrics: Metrics, words: list[str], sentence: str) -> None:
    ran = metrics(*words)
    assert ran.code == 2
    if "--json" in words:
        assert sentence in problem(ran)["hint"]
    else:
        assert (ran.out, ran.err) == ("", sentence)


def test_wrong_usage_under_json_is_one_document_on_stdout(metrics: Metrics) -> None:
    ran = metrics("list", "--formt", "csv", "--json")
    assert ran.code == 2
    assert ran.err == ""
    assert problem(ran) == {
        "code": "unknown_option",
        "where": "metrics list",
        "message": "there is no option --formt",
        "hint": "did you mean --format or --for?",
    }


def test_several_problems_are_told_together(metrics: Metrics) -> None:
    ran = metrics("list", "--category", "rga", "--without", "flency", "--requires", "question")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "--category: no category is called 'rga'; did you mean RAG?",
        "--without: no category is called 'flency'; did you mean Fluency?",
        "--requires: 'question' is no field of a record; it is read as input; write --requires input",
        "3 problems.",
    ]


# ---------------------------------------------------------------- options of all commands


def test_options_of_all_commands_stand_before_and_after(metrics: Metrics) -> None:
    before = metrics("--color", "always", "list", "--search", "rouge")
    after = metrics("list", "--search", "rouge", "--color", "always")
    assert before == after
    assert "\x1b[1m" in before.out
    assert "\x1b[" not in metrics("--color", "always", "list", "--search", "rouge", "--color", "never").out


def test_quiet_leaves_the_data(metrics: Metrics) -> None:
    ran = metrics("-q", "list", "--search", "code_token_f1")
    assert ran.err == ""
    assert "metrics show" not in ran.out
    assert "code_token_f1" in ran.out


HOUSE = '''
from __future__ import annotations
from measurand import metric

@metric("house.{name}")
def {name}(output: str) -> bool:
    """The answer says please."""
    return "please" in output
'''


def test_load_makes_metrics_of_files_known(metrics: Metrics, tmp_path: Path) -> None:
    for name in ("polite", "kind"):
        (tmp_path / f"{name}.py").write_text(HOUSE.format(name=name))
    ran = metrics("--load", "polite.py", "list", "--search", "house.", "--format", "names", "--load", "kind.py", "--load", "./polite.py")
    assert ran == (0, "house.kind\nhouse.polite\n", "")


def test_a_loaded_file_may_import_what_stands_beside_it(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("WORD = 'please'\n")
    (tmp_path / "polite.py").write_text("import words\n" + HOUSE.replace("from __future__ import annotations\n", "").format(name="polite"))
    assert metrics("--load", "polite.py", "show", "house.polite").code == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1\nraise ValueError('no good')\n", "mine.py:2: ValueError: no good\n"),
        ("import nothing_of_the_kind\n", "mine.py:1: ModuleNotFoundError: No module named 'nothing_of_the_kind'\n"),
        ("def f(:\n", "mine.py:1: SyntaxError: invalid syntax (mine.py, line 1)\n"),
        ("import sys\n\n\nsys.exit(3)\n", "mine.py:4: SystemExit: 3\n"),
        (
            'from measurand import metric\n@metric\ndef polite(output: str) -> bool:\n    """Says please."""\n    return True\n',
            'a name without a dot is kept for built-ins; give yours a namespace: @metric("house.polite")\n',
        ),
    ],
)
def test_a_loaded_file_that_fails_is_one_sentence_with_its_line(metrics: Metrics, tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    ran = metrics("--load", "mine.py", "list")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(sentence)
    assert ran.err.startswith("mine.py:")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("poilte.py", "--load poilte.py: there is no such file; did you mean polite.py?\n"),
        ("folder", "--load folder: is a directory; name the Python file in it\n"),
        ("notes.txt", "--load notes.txt: is no Python file; its name ends in .py\n"),
    ],
)
def test_load_says_what_is_no_python_file(metrics: Metrics, tmp_path: Path, path: str, sentence: str) -> None:
    (tmp_path / "polite.py").write_text("")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "folder").mkdir()
    assert metrics("list", "--load", path) == (2, "", sentence)


def test_a_config_that_is_not_there_is_said(metrics: Metrics) -> None:
    ran = metrics("list", "-c", "nope.toml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("nope.toml: there is no such file")


# ---------------------------------------------------------------- bugs

BUG = """
import measurand.index

def query(self, **asked):
    raise KeyError("contexts " + {extra})

measurand.index.Registry.query = query
"""


def test_a_bug_is_one_line_and_a_private_file(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "bug.py").write_text(BUG.format(extra="''"))
    ran = metrics("--load", "bug.py", "list")
    assert (ran.code, ran.out) == (70, "")
    assert re.fullmatch(r"internal error in cli/list_\.py: KeyError 'contexts '\. Traceback in \.metrics/crash-\d{8}T\d{4}\.txt\.\n", ran.err)
    file = tmp_path / ran.err.partition("Traceback in ")[2].strip().rstrip(".")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert (tmp_path / ".metrics" / ".gitignore").read_text() == "*\n"
    assert "Traceback (most recent call last)" in file.read_text()


def test_a_second_bug_in_the_same_minute_has_its_own_file(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "bug.py").write_text(BUG.format(extra="''"))
    for _ in range(2):
        assert metrics("--load", "bug.py", "list").code == 70
    assert len(list((tmp_path / ".metrics").glob("crash-*.txt"))) == 2


def test_a_bug_keeps_secrets_out_of_line_and_file(metrics: Metrics, tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    (tmp_path / "bug.py").write_text(BUG.format(extra="__import__('os').environ['HOUSE_KEY'] + ' postgresql://me:pa55word@db/x'"))
    ran = metrics("--load", "bug.py", "list", HOUSE_KEY=secret)
    assert ran.code == 70
    kept = next((tmp_path / ".metrics").glob("crash-*.txt")).read_text()
    for text in (ran.err, kept):
        assert secret not in text
        assert "pa55word" not in text
        assert "‹HOUSE_KEY›" in text


def test_a_bug_under_json_is_a_document(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "bug.py").write_text(BUG.format(extra="''"))
    ran = metrics("--load", "bug.py", "list", "--json")
    assert (ran.code, ran.err) == (70, "")
    assert problem(ran)["code"] == "internal"


def test_a_bug_where_nothing_can_be_written_says_where_the_traceback_is_instead(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "bug.py").write_text(BUG.format(extra="''"))
    (tmp_path / ".metrics").write_text("in the way")
    (tmp_path / "tmp").mkdir()
    ran = metrics("--load", "bug.py", "list", TMPDIR=str(tmp_path / "tmp"))
    assert ran.code == 70
    assert "Traceback in tmp/crash-" in ran.err


# ---------------------------------------------------------------- interrupts and closed pipes


def test_ctrl_c_ends_with_130(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text(f"import os\nos.kill(os.getpid(), {int(signal.SIGINT)})\nimport time\ntime.sleep(5)\n")
    assert metrics("--load", "wait.py", "list") == (130, "", "interrupted\n")
    ran = metrics("--load", "wait.py", "list", "--json")
    assert (ran.code, problem(ran)["code"], ran.err) == (130, "interrupted", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--help"], ["schema", "config"], ["show", "code_token_f1"]])
def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path, words: list[str], unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # nobody reads from the first byte on
    try:
        process = subprocess.run([*METRICS, *words], stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
    finally:
        os.close(writing)
    assert (process.returncode, process.stderr) == (0, b"")


def test_head_takes_its_line(tmp_path: Path) -> None:
    listing = subprocess.Popen([*METRICS, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    head = subprocess.run(["head", "-1"], stdin=listing.stdout, capture_output=True, text=True)
    assert listing.stdout is not None
    listing.stdout.close()
    _, errors = listing.communicate(timeout=30)
    assert head.stdout.startswith("NAME ")
    assert (listing.returncode, errors) == (0, b"")


def test_without_a_stdout_there_is_nothing_to_say(tmp_path: Path) -> None:
    process = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *METRICS, "list"], stderr=subprocess.PIPE, cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--version"], ["--help"]])
def test_a_full_disk_is_said_once(tmp_path: Path, words: list[str], unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [*METRICS, *words], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}
        )
    assert process.returncode == 2
    assert process.stderr == "stdout: cannot be written: no space left on device\n"


# ---------------------------------------------------------------- encodings and colour


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--help"], ["categories"], ["show", "code_rouge_l"], ["show", "code_rouge_l", "--json"]])
def test_no_encoding_is_a_reason_to_fail(metrics: Metrics, encoding: str, words: list[str]) -> None:
    ran = metrics(*words, PYTHONIOENCODING=encoding)
    assert (ran.code, ran.err) == (0, "")


def test_json_says_the_same_in_every_encoding(metrics: Metrics, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(HOUSE.format(name="odd").replace("says please", "says – \\u4f60\\u597d \\u202e \\ud83d\\ude00"))
    narrow = metrics("show", "house.odd", "--json", "--load", "odd.py", PYTHONIOENCODING="ascii")
    wide = metrics("show", "house.odd", "--json", "--load", "odd.py")
    assert narrow.out.isascii()
    assert not wide.out.isascii()
    assert "\u202e" not in wide.out
    assert json.loads(narrow.out) == json.loads(wide.out)


def on_terminal(words: list[str], folder: Path, **environ: str) -> str:
    """What a terminal receives."""
    import pty

    controller, terminal = pty.openpty()
    process = subprocess.Popen([*METRICS, *words], stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder, env={**os.environ, "TERM": "xterm", **environ})
    os.close(terminal)
    received = b""
    try:
        while piece := os.read(controller, 65536):
            received += piece
    except OSError:  # Linux says so when the other side is closed
        pass
    os.close(controller)
    assert process.wait(timeout=30) == 0
    return received.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_colour_on_a_terminal_only_underlines(tmp_path: Path) -> None:
    words = ["show", "code_token_f1"]
    coloured = on_terminal(words, tmp_path)
    assert "\x1b[1m" in coloured
    plain = on_terminal(words, tmp_path, NO_COLOR="1")
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
    assert "\x1b" not in on_terminal(words, tmp_path, TERM="dumb")


# ---------------------------------------------------------------- in this process


def test_main_returns_the_code_and_leaves_the_collector_on(capsys: pytest.CaptureFixture[str]) -> None:
    import gc

    assert main(["list", "--search", "token f1 squad", "--format", "names"]) == 0
    assert gc.isenabled()
    assert capsys.readouterr().out == "code_normalized_match\ncode_token_f1\n"
    assert main(["nope"]) == 2


def test_every_listed_command_can_be_imported() -> None:
    from importlib import import_module

    import click

    for name, (target, line) in COMMANDS.items():
        module, _, attribute = target.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        assert command.name == name
        assert line.endswith(".")
