"""The commands shown in README and docs, run for real.

A `console` block holds commands (lines that start with `$ `) and what they print. A block with a `title` is a file that the commands below it
find. A `python` block is run as a script. `python docs/consoles.py [PAGE …]` runs every page in a folder of its own and writes the outputs into it;
`tests/test_docs.py` runs them too and fails where a page says something else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs" / "pages").rglob("*.md")))
SHIPPED: Final = ("metrics.toml", "examples")
FENCE: Final = re.compile(r"^```(?P<language>\w+)?(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run: ids, times, dates, speeds.
VARYING: Final = re.compile(
    r"\b[0-9a-f]{8}\b|\b[0-9a-f]{6}(?:-[0-9a-f]{6})+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{6,32}\b|\b\d[\d.,]* ?(?:s|ms|min)\b|\b\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|\+00:00)?)?|\b\d{1,2}:\d\d(?::\d\d)?\b"
)
SECONDS: Final = 120


def stable(text: str) -> str:
    """The text with everything that differs from run to run replaced, and trailing blanks dropped."""
    return "\n".join(line.rstrip() for line in VARYING.sub("…", text).strip().splitlines())


def refreshed(page: str, folder: Path) -> str:
    """The page with the outputs of its commands, run in `folder`. Raises `RuntimeError` when a script of the page fails."""
    return FENCE.sub(lambda block: _block(block, folder), page)


def commands(page: str) -> Iterator[str]:
    """Every command that the page shows."""
    for block in FENCE.finditer(page):
        if block["language"] in ("console", "sh"):
            for line in block["body"].splitlines():
                if block["language"] == "sh" or line.startswith("$ "):
                    yield line.removeprefix("$ ")


def files(page: str, suffix: str) -> Iterator[str]:
    """The text of every file with this suffix that the page shows."""
    return (block["body"] for block in FENCE.finditer(page) if (block["title"] or "").endswith(suffix))


def _block(block: re.Match[str], folder: Path) -> str:
    if block["title"]:
        target = folder / block["title"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block["body"], encoding="utf-8")
    elif block["language"] == "python":
        done = _run([sys.executable, "-W", "error", "-c", block["body"]], folder)
        if done.returncode:
            raise RuntimeError(f"a script of the page fails:\n{block['body']}\n{done.stderr}")
    elif block["language"] == "console":
        return f"```console\n{''.join(_transcript(block['body'], folder))}```"
    return block[0]


def _transcript(body: str, folder: Path) -> Iterator[str]:
    for line in body.splitlines():
        if line.startswith("$ "):
            done = _run(line[2:], folder)
            ended = f"(exit {done.returncode})\n" if done.returncode else ""
            yield f"{line}\n{_whole_lines(done.stdout)}{_whole_lines(done.stderr)}{ended}"


def _whole_lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n" if text.strip() else ""


def _run(command: str | list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    # Only commands written in our own pages are run here.
    return subprocess.run(
        command, cwd=folder, shell=isinstance(command, str), env=environment, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=False
    )


def in_fresh_folder(work: Callable[[Path], str]) -> str:
    """Calls `work` with a new folder that holds what a clone ships: the config and the examples."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "measurand")
        folder.mkdir()
        for shipped in SHIPPED:
            source = ROOT / shipped
            if source.is_dir():
                shutil.copytree(source, folder / shipped, ignore=shutil.ignore_patterns("__pycache__", ".metrics"))
            else:
                shutil.copy(source, folder / shipped)
        return work(folder)


def main() -> int:
    """Writes the outputs into the pages named, or into every page; 1 where a script of a page fails."""
    failed = False
    for path in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        before = path.read_text(encoding="utf-8")
        try:
            after = in_fresh_folder(lambda folder, page=before: refreshed(page, folder))  # type: ignore[misc]  # the default binds the page
        except RuntimeError as error:
            failed = True
            print(f"{path.relative_to(ROOT)}: {error}", file=sys.stderr)
            continue
        if stable(after) != stable(before):
            path.write_text(after, encoding="utf-8")
            print(f"written: {path.relative_to(ROOT)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
