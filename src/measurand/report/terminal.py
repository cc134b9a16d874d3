"""Plain text on a terminal or in a pipe: data to stdout, messages to stderr, tables, colour that only repeats what the words say.

Nothing here loads more than `os` and `sys`: it stands on the way to `metrics list`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Final, Literal, TextIO

from measurand.report.figures import compact, counted, duration, interval, number, percent, signed, thousands, usd
from measurand.report.visible import columns, cut, escaped, padded, safe, safe_lines, wrapped

__all__ = [
    "Color",
    "StdoutError",
    "bold",
    "columns",
    "compact",
    "counted",
    "cut",
    "dim",
    "document_printed",
    "duration",
    "flush",
    "interval",
    "json_line",
    "note",
    "number",
    "percent",
    "print_json",
    "red",
    "safe",
    "safe_lines",
    "say",
    "set_up",
    "shown_path",
    "signed",
    "table",
    "thousands",
    "usd",
    "width",
    "wrapped",
    "write",
]

Color = Literal["auto", "always", "never"]

_GAP: Final = "  "
_NARROWEST: Final = 40
_PLAIN: Final = str.maketrans({
    "–": "-", "—": "-", "−": "-", "…": "...", "·": "|", "≥": ">=", "≤": "<=", "×": "x", "←": "<-", "→": "->", "’": "'", "‘": "'", "“": '"', "”": '"',
    "∞": "inf", "≠": "!=", "±": "+-", "∩": "&", "∪": "|", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ", "␛": "<ESC>", "␊": "\\n",
})  # fmt: skip
"""What stands for our own characters where a terminal's encoding has none of them."""


class _State:
    """What was decided once for the process."""

    color: Color = "auto"
    quiet = False
    document = False


def set_up(*, color: Color = "auto", quiet: bool = False) -> None:
    """A fresh start with what `--color` and `-q` say: no JSON was printed yet."""
    _State.document = False
    _State.color = color
    _State.quiet = quiet


# ---------------------------------------------------------------- writing


class StdoutError(Exception):
    """Stdout cannot be written, for another reason than a reader that went away (that stays a `BrokenPipeError`). Says why."""

    def __init__(self, error: OSError) -> None:
        super().__init__((error.strerror or str(error)).lower())


def write(text: str = "", *, end: str = "\n") -> None:
    """Data, to stdout. Characters the encoding lacks are replaced; texts of others go through `safe` first. Raises `StdoutError`."""
    if sys.stdout is not None:
        _put(_encodable(text + end, sys.stdout))


def note(text: str) -> None:
    """The last line of a view for people, on stdout: how much there is, what to type next. Not under `-q`."""
    if not _State.quiet:
        write(text)


def say(text: str, *, end: str = "\n", always: bool = False) -> None:
    """A message, to stderr; under `-q` only with `always` (errors). One that cannot be delivered is no reason to stop."""
    if sys.stderr is None or (_State.quiet and not always):
        return
    flush()  # what was printed before stands before it
    try:
        sys.stderr.write(_encodable(text + end, sys.stderr))
    except OSError:
        return


def flush() -> None:
    """Everything written leaves. Raises `StdoutError` where it cannot."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StdoutError(error) from None


def _put(text: str) -> None:
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StdoutError(error) from None


def _encodable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text


# ---------------------------------------------------------------- JSON


def print_json(value: Any) -> None:
    """One JSON document on stdout, indented. Raises `ValueError` for NaN and infinity: they are no JSON."""
    import json

    _State.document = True
    _put_json(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def json_line(value: Any) -> None:
    """One line of JSON Lines on stdout."""
    import json

    _State.document = True
    _put_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def document_printed() -> bool:
    """Whether JSON went out already, so that an error need not print a document of its own."""
    return _State.document


def _put_json(text: str) -> None:
    if sys.stdout is None:
        return
    text = escaped(text)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = "".join(one if one.isascii() else _as_escape(one) for one in text)
    _put(text + "\n")


def _as_escape(character: str) -> str:
    import json

    return json.dumps(character)[1:-1]


# ---------------------------------------------------------------- colour


def bold(text: str) -> str:
    """Bold where stdout shows colour."""
    return _painted("1", text)


def dim(text: str) -> str:
    """Dim where stdout shows colour."""
    return _painted("2", text)


def red(text: str) -> str:
    """Red where stdout shows colour."""
    return _painted("31", text)


def _painted(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if _colored(sys.stdout) and text else text


def _colored(stream: TextIO | None) -> bool:
    if _State.color != "auto":
        return _State.color == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream is not None and stream.isatty()


# ---------------------------------------------------------------- layout


def width() -> int:
    """Columns to write in: COLUMNS, else the terminal's own, else 80; never less than 40."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked[:6]) > 0:
        return max(int(asked[:6]), _NARROWEST)
    try:
        found = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError, AttributeError):
        found = 0
    return max(found, _NARROWEST) if found else 80


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), fit: int | None = None, shrink: Sequence[int] = (), wrap: bool = False
) -> list[str]:
    """The lines of a table with aligned columns, no wider than `fit` (default: `width()`).

    `right` are the columns set to the right. Where the lines would be too wide the last column is cut with …, before it those in `shrink`, in order,
    down to twelve columns each; with `wrap` the last column is continued on further lines instead. Cells are made `safe`. A row may have one cell more than the header: it is a note at the end of its line, cut to fit.
    """
    names = [safe(name) for name in header]
    cells = [[safe(cell) for cell in row] for row in rows]
    widths = [max(map(columns, (names[index], *(row[index] for row in cells)))) for index in range(len(names))]
    room = width() if fit is None else fit
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - room
    last = len(widths) - 1
    for index in (*shrink, last):
        if excess > 0 and index not in right:
            taken = min(excess, max(0, widths[index] - 12))
            widths[index] -= taken
            excess -= taken
    if wrap:
        cells = [line for row in cells for line in _continued(row, widths[last])]
    return [bold(_line(names, widths, right, room)), *(_line(row, widths, right, room) for row in cells)]


def _continued(row: Sequence[str], size: int) -> list[list[str]]:
    first, *rest = wrapped(row[-1], size)
    return [[*row[:-1], first], *([""] * (len(row) - 1) + [line] for line in rest)]


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[int], room: int) -> str:
    placed = [padded(cut(cell, size), size, right=index in right) for index, (cell, size) in enumerate(zip(cells, widths, strict=False))]
    line = _GAP.join((*placed, *cells[len(widths) :])).rstrip()
    return cut(line, room)


def shown_path(path: str | os.PathLike[str]) -> str:
    """A path as people type it: relative where it lies in the working directory."""
    text = os.fspath(path)
    if os.path.isabs(text):
        relative = os.path.relpath(text)
        text = text if relative.startswith("..") else relative
    return safe(text)
