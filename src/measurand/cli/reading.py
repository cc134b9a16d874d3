"""The settings of commands that only read: the config that was named, else ./metrics.toml, else the defaults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from measurand.cli.session import Session
from measurand.cli.work import CONFIG_NAME

if TYPE_CHECKING:
    from measurand.config import Settings


def reading_settings(session: Session) -> Settings:
    """Where the store is, and the project."""
    from measurand.config import from_mapping, load

    path = session.config or (Path(CONFIG_NAME) if Path(CONFIG_NAME).exists() else None)
    return from_mapping({}, Path.cwd(), environ=os.environ) if path is None else load(path, environ=os.environ)
