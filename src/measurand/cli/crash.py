"""A bug: one line for the person, the traceback for a file."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from measurand.core.errors import Problem
from measurand.report.terminal import shown_path
from measurand.report.visible import safe

_PACKAGE: Final = str(Path(__file__).resolve().parent.parent)
_SHORTEST_SECRET: Final = 6
_LONGEST_REASON: Final = 200
_USERINFO: Final = re.compile(r"://[^/\s@]{1,500}@")


def internal_error(error: BaseException, words: Sequence[str]) -> Problem:
    """Writes the traceback under .metrics and says in one line what happened, where, and where the traceback is."""
    reason = " ".join(part for part in (type(error).__name__, safe(_without_secrets(str(error)))[:_LONGEST_REASON]) if part)
    sentence = f"internal error in {_place(error)}: {reason}. {_kept(error, words)}"
    if "run" in words:
        sentence += " Everything paid for is stored; the same command continues."
    return Problem("internal", "", sentence)


def _place(error: BaseException) -> str:
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    ours = [file for file in files if file.startswith(_PACKAGE)]
    if ours:
        return Path(ours[-1]).relative_to(_PACKAGE).as_posix()
    return Path(files[-1]).name if files else "an unknown place"


def _kept(error: BaseException, words: Sequence[str]) -> str:
    from measurand import __version__

    head = f"measurand {__version__}, Python {sys.version.split()[0]}, {sys.platform}\nmetrics {' '.join(words)}\n\n"
    text = _without_secrets(head + "".join(traceback.format_exception(error)))
    name = f"crash-{datetime.now():%Y%m%dT%H%M}.txt"  # noqa: DTZ005  # the user's own clock, as on the wall
    for folder in (Path(".metrics"), Path(tempfile.gettempdir())):
        try:
            return f"Traceback in {shown_path(_written(folder, name, text))}."
        except OSError:
            continue
    return "Its traceback could not be written: neither .metrics nor the temporary folder takes files."


def _written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.name == ".metrics" and not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n")
    path = folder / name
    count = 1
    while True:
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            break
        except FileExistsError:
            count += 1
            path = folder / f"{name.removesuffix('.txt')}-{count}.txt"
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return path


def _without_secrets(text: str) -> str:
    """The text without the value of any environment variable that names no file, and without passwords in URLs."""
    for name, value in sorted(os.environ.items(), key=lambda pair: -len(pair[1])):
        if len(value) >= _SHORTEST_SECRET and not os.path.exists(value) and value in text:
            text = text.replace(value, f"‹{name}›")
    return _USERINFO.sub("://‹…›@", text)
