"""The command as a user starts it: a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest


class Ran(NamedTuple):
    """How a process ended, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def metrics(tmp_path: Path) -> Callable[..., Ran]:
    """Runs `metrics WORDS…` in `tmp_path`; keywords are environment variables, `stdin` its input."""

    def run(*words: str, stdin: str = "", **environ: str) -> Ran:
        process = subprocess.run(
            [sys.executable, "-m", "measurand", *words],
            input=stdin.encode(),
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **environ},
            timeout=60,
        )
        return Ran(process.returncode, process.stdout.decode(errors="replace"), process.stderr.decode(errors="replace"))

    return run
