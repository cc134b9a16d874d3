"""What ran: versions of the program and its interpreter, and the git commit of the working directory."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from typing import Any

from measurand import __version__


def versions() -> dict[str, Any]:
    """Versions that are kept with a run."""
    return {"measurand": __version__, "python": platform.python_version(), "process": f"{socket.gethostname()}:{os.getpid()}"}


def is_running(process: Any) -> bool:
    """Whether the process that a run's `versions` name may still be at work. One on another host may."""
    host, _, number = str(process or "").rpartition(":")
    if not number.isdecimal():
        return False
    if host != socket.gethostname():
        return True
    if int(number) == os.getpid():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def git_commit() -> str | None:
    """The commit of the working directory's repository, with "+changes" when tracked files differ from it; None outside a repository."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        dirty = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{head}+changes" if dirty else head


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True, timeout=5).stdout.strip()
