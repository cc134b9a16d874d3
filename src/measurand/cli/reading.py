"""What commands that only read share: the settings (the config that was named, else ./metrics.toml, else the defaults), and the run that was named."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from measurand.cli.session import Session
from measurand.core.errors import UsageError

if TYPE_CHECKING:
    from measurand.config import Settings
    from measurand.run.store import StoredRun

CONFIG_NAME: Final = "metrics.toml"


def reading_settings(session: Session) -> Settings:
    """Where the store is, and the project."""
    from measurand.config import from_mapping, load

    path = session.config or (Path(CONFIG_NAME) if Path(CONFIG_NAME).exists() else None)
    return from_mapping({}, Path.cwd(), environ=os.environ) if path is None else load(path, environ=os.environ)


def config_named(session: Session, typed: str | None = None) -> str | None:
    """The config that was named, as one types it; None for ./metrics.toml and for none, which the next command finds itself."""
    named = typed or session.config
    return None if named is None or Path(named) == Path(CONFIG_NAME) else shlex.quote(str(named))


def read_run(ref: str, settings: Settings) -> StoredRun:
    """The run that RUN means. Raises `UsageError` when there is none."""
    from measurand.run.store import is_run_file, open_run

    if is_run_file(ref):
        confine(ref, "RUN")
    return open_run(ref, settings.store_url(os.environ), settings.project)


def confine(path: Path | str | None, where: str) -> None:
    """Raises `UsageError` for a path out of the working directory where METRICS_CONFINE is set."""
    from measurand.config import Bounds, confined

    if path is not None and Bounds.from_environ(os.environ).confine:
        problem = confined(path, Path.cwd(), where)
        if problem:
            raise UsageError(problem)
