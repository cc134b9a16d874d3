from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.report import terminal

HOSTILE = [
    "\x1b[2J\x1b]0;owned\x07ok",
    "abc\u202etxt.exe",
    "line\rFAKE PASS",
    "a\nb",
    "\x9b31mred",
    "half \ud800",
    "tag \U000e0041",
    "zero\u200bwidth",
    "\ufeffbom",
]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    terminal.set_up()
    yield
    terminal.set_up()


def stdout(monkeypatch: pytest.MonkeyPatch, encoding: str) -> io.BytesIO:
    """Standard output as bytes in an encoding."""
    received = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(received, encoding=encoding, errors="replace", write_through=True))
    return received


# ---------------------------------------------------------------- writing


def test_what_an_encoding_lacks_is_written_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    received = stdout(monkeypatch, "ascii")
    terminal.write("0.652 – 0.830 · ≥ 3 … −1 ← “x” é ␛[2J")
    assert received.getvalue().decode("ascii") == '0.652 - 0.830 | >= 3 ... -1 <- "x" ? <ESC>[2J\n'


def test_what_an_encoding_has_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    received = stdout(monkeypatch, "latin-1")
    terminal.write("é · ü")
    assert received.getvalue() == "é · ü\n".encode("latin-1")


def test_a_closed_stdout_and_stderr_are_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setattr("sys.stderr", None)
    terminal.write("x")
    terminal.say("x")
    terminal.print_json({})
    terminal.flush()


def test_quiet_says_only_what_must_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.set_up(quiet=True)
    terminal.write("data")
    terminal.note("what next")
    terminal.say("message")
    terminal.say("error", always=True)
    assert capsys.readouterr() == ("data\n", "error\n")


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252", "utf-16"])
@pytest.mark.parametrize("text", [*HOSTILE[:5], *HOSTILE[6:], "plain", "你好 😀 é"])
def test_json_reads_back_whatever_the_encoding(monkeypatch: pytest.MonkeyPatch, encoding: str, text: str) -> None:
    received = stdout(monkeypatch, encoding)
    terminal.print_json({"text": text})
    terminal.json_line([text])
    written = received.getvalue().decode(encoding)
    document, line = written.rsplit("\n", 2)[:2]
    assert json.loads(document) == {"text": text}
    assert json.loads(line) == [text]
    assert all(one == "\n" or terminal.safe(one) == one for one in written.removeprefix("\ufeff"))


def test_half_a_character_is_json_too(monkeypatch: pytest.MonkeyPatch) -> None:
    received = stdout(monkeypatch, "utf-8")
    terminal.json_line("\ud800")
    assert received.getvalue() == b'"\\ud800"\n'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_json_holds_no_nan(value: object) -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        terminal.print_json(value)


def test_it_is_known_whether_json_went_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert not terminal.document_printed()
    terminal.json_line(1)
    assert terminal.document_printed()
    terminal.set_up()
    assert not terminal.document_printed()


# ---------------------------------------------------------------- colour


def test_colour_is_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert terminal.bold("x") == "x"
    terminal.set_up(color="always")
    monkeypatch.setenv("NO_COLOR", "1")
    assert (terminal.bold("x"), terminal.dim("x"), terminal.red("x")) == ("\x1b[1mx\x1b[0m", "\x1b[2mx\x1b[0m", "\x1b[31mx\x1b[0m")
    assert terminal.bold("") == ""
    terminal.set_up(color="never")
    assert terminal.red("x") == "x"


# ---------------------------------------------------------------- layout


def test_width_is_that_of_columns_or_80(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, width in (("120", 120), ("10", 40), ("0", 80), ("wide", 80), ("", 80)):
        monkeypatch.setenv("COLUMNS", value)
        assert terminal.width() == width
    monkeypatch.delenv("COLUMNS")
    assert terminal.width() == 80


def test_a_table() -> None:
    lines = terminal.table(("NAME", "N", "WHAT"), [("a", "1", "first"), ("long", "1 000", "second")], right=(1,), fit=40)
    assert lines == [
        "NAME      N  WHAT",
        "a         1  first",
        "long  1 000  second",
    ]


def test_a_table_without_rows_is_its_header() -> None:
    assert terminal.table(("NAME", "WHAT"), []) == ["NAME  WHAT"]


def test_the_last_column_is_cut_or_continued() -> None:
    rows = [("name", "one two three four five")]
    assert terminal.table(("NAME", "WHAT"), rows, fit=20) == ["NAME  WHAT", "name  one two three…"]
    assert terminal.table(("NAME", "WHAT"), rows, fit=20, wrap=True) == ["NAME  WHAT", "name  one two three", "      four five"]


def test_columns_shrink_in_the_order_asked() -> None:
    rows = [("a" * 20, "b" * 30, "c" * 30)]
    assert terminal.table(("A", "B", "C"), rows, fit=70, shrink=(1,))[1] == f"{'a' * 20}  {'b' * 15}…  {'c' * 30}"


def test_a_note_at_the_end_of_a_line() -> None:
    lines = terminal.table(("NAME", "N"), [("a", "1", "over tasks"), ("b", "2")], right=(1,), fit=16)
    assert lines == ["NAME  N", "a     1  over t…", "b     2"]


def test_wide_and_combining_characters_are_aligned() -> None:
    lines = terminal.table(("NAME", "N"), [("你好", "1"), ("e\u0301", "2"), ("👩\u200d🔬", "3")], right=(1,))
    assert [terminal.columns(line) for line in lines] == [7, 7, 7, 7]


def test_cells_are_safe() -> None:
    for text in HOSTILE:
        line = terminal.table(("NAME",), [(text,)], fit=80)[1]
        assert terminal.safe(line) == line
        assert line.isprintable()


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=5), st.integers(40, 120))
def test_a_table_never_is_wider_than_it_may_be(rows: list[tuple[str, str, str]], fit: int) -> None:
    lines = terminal.table(("A", "B", "C"), rows, fit=fit, shrink=(0, 1))
    assert len(lines) == len(rows) + 1
    assert all(terminal.columns(line) <= fit for line in lines)


def test_paths_are_relative_where_they_lie_below(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert terminal.shown_path(f"{tmp_path}/a/b.txt") == "a/b.txt"
    assert terminal.shown_path("/somewhere/else") == "/somewhere/else"
    assert terminal.shown_path("a\x1bb") == "a␛b"
