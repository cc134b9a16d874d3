"""A folder to write configs into, and short ways to read them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.config import ConfigError, Settings, load

Write = Callable[..., Path]
Read = Callable[..., Settings]
Refused = Callable[..., list[str]]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a config into the working directory and gives its relative path."""
    monkeypatch.chdir(tmp_path)

    def written(text: str | bytes, name: str = "metrics.toml") -> Path:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return written


@pytest.fixture
def read(write: Write) -> Read:
    """The settings of a text."""
    return lambda text, *overrides, **environ: load(write(text), overrides, environ=environ)


@pytest.fixture
def refused(write: Write) -> Refused:
    """The sentences of everything that is wrong with a text."""

    def sentences(text: str | bytes, *overrides: str, **environ: str) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            load(write(text), overrides, environ=environ)
        return [str(problem) for problem in caught.value.problems]

    return sentences
