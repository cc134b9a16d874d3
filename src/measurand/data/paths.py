"""Which files a path, a list of paths or a glob means. Every one that cannot be read is a problem, named at once."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from measurand.core.errors import Problem, did_you_mean

_SUFFIXES: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
_MAGIC: Final = "*?["


@frozen
class File:
    """A file to read: where it is, what it is called in messages, in what format it is."""

    path: Path
    label: str
    format: str


def files_of(names: Sequence[str | Path], base: Path, format: str | None) -> tuple[list[File], list[Problem]]:
    """The files that the names mean, globs sorted, and what is wrong with them."""
    files: list[File] = []
    problems: list[Problem] = []
    for name in names:
        for found in _expanded(str(name), base):
            file = _file(found, base, format)
            if isinstance(file, Problem):
                problems.append(file)
            else:
                files.append(file)
        if _is_glob(str(name), base) and not _expanded(str(name), base):
            problems.append(Problem("no_such_file", str(name), "no file matches the pattern", f"it is looked up from {_shown(base)}"))
    return files, problems


def _is_glob(name: str, base: Path) -> bool:
    return any(mark in name for mark in _MAGIC) and not (base / name).exists()


def _expanded(name: str, base: Path) -> list[str]:
    if not _is_glob(name, base):
        return [name]
    return sorted(found for found in glob.glob(name, root_dir=base, recursive=True) if not (base / found).is_dir())


def _file(name: str, base: Path, format: str | None) -> File | Problem:
    path = base / Path(name).expanduser()
    label = name
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return _no_such_file(path, label, base)
    except OSError as error:
        return Problem("unreadable", label, f"it cannot be read: {error.strerror}")
    if stat.S_ISDIR(mode):
        return Problem("is_a_directory", label, "it is a directory", f"name a file, or a pattern: {label.rstrip('/')}/*.jsonl")
    if not stat.S_ISREG(mode):
        return Problem("no_file", label, "it is no regular file, and data is read more than once", "send it to --data -")
    if not os.access(path, os.R_OK):
        return Problem("unreadable", label, "it cannot be read: permission denied", f"chmod u+r {label}")
    found = format or format_of(label)
    if found is None:
        hint = f"files end in {', '.join(_SUFFIXES)} (.gz); or set [data] format"
        return Problem("unknown_format", label, "its name does not say its format", hint)
    return File(path, label, found)


def format_of(name: str) -> str | None:
    """The format that a file's name says, `.gz` aside; None when it says none."""
    bare = name.lower().removesuffix(".gz")
    return next((found for suffix, found in _SUFFIXES.items() if bare.endswith(suffix)), None)


def _no_such_file(path: Path, label: str, base: Path) -> Problem:
    folder = path.parent
    if not folder.is_dir():
        hint = "" if Path(label).is_absolute() else f"paths are looked up from {_shown(base)}"
        return Problem("no_such_file", label, f"there is no folder {_shown(folder)}", hint)
    there = sorted(entry.name for entry in os.scandir(folder) if format_of(entry.name))[:1000]
    near = did_you_mean(path.name, there)
    listed = f"{_shown(folder)} has {', '.join(there[:5])}{' …' if len(there) > 5 else ''}" if there else f"{_shown(folder)} has no data file"
    return Problem("no_such_file", label, "there is no such file", near or listed)


def _shown(folder: Path) -> str:
    """A folder as one types it: relative to where one is, when it is below."""
    try:
        relative = folder.resolve().relative_to(Path.cwd().resolve())
    except ValueError:
        return str(folder)
    return "this folder" if str(relative) == "." else f"{relative}/"
