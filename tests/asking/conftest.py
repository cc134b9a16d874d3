"""Judged runs as a user makes them: a folder with rows and a config, a mock server, the command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asking.project import Project
from tests.servers.mock import MockServer

from measurand import registry


@pytest.fixture
def mock() -> Iterator[MockServer]:
    with MockServer() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, mock: MockServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Project]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_KEY", "sk-judge-of-tests-0123456789")
    kept = registry.snapshot
    yield Project(tmp_path, mock, capsys)
    registry._snapshot = kept
