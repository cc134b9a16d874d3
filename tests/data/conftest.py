"""Real files for the readers: what is written is what a test shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from measurand.data.dataset import Dataset, Selection, survey
from measurand.data.rows import BadRow, ReadOptions, Row
from measurand.data.source import open_source

from .files import Read, Survey, Write  # noqa: TID252  # tests are imported by path, there is no package to name


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file: bytes, text, or rows as JSON Lines."""

    def written(name: str, content: bytes | str | list[Any]) -> Path:
        path = tmp_path / name
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


@pytest.fixture
def read(write: Write, tmp_path: Path) -> Read:
    """Everything that a reader gives for a file of this content."""

    def rows(name: str, content: bytes | str | list[Any], **options: Any) -> list[Row | BadRow]:
        write(name, content)
        return list(open_source(name, ReadOptions(**options), tmp_path).rows())

    return rows


@pytest.fixture
def surveyed(write: Write, tmp_path: Path) -> Survey:
    """The dataset that a file of this content is. Rows given as a list are written as JSON Lines."""

    def dataset(content: bytes | str | list[Any], name: str = "rows.jsonl", *, where: Any = (), limit: int | None = None, **how: Any) -> Dataset:
        write(name, content)
        return survey(open_source(name, None, tmp_path), selection=Selection(where, limit), **how)

    return dataset
