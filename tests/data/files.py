"""What the fixtures of this folder are, and how a dataset's second pass is looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from measurand.data.dataset import Dataset
from measurand.data.rows import BadRow, Row

Write: TypeAlias = Callable[..., Path]
Read: TypeAlias = Callable[..., "list[Row | BadRow]"]
Survey: TypeAlias = Callable[..., Dataset]


def fields(dataset: Dataset) -> list[dict[str, Any]]:
    """The fields of each record."""
    return [dict(one.record.fields) for one in dataset.records()]


def identities(dataset: Dataset) -> list[tuple[str, str, int]]:
    """Id, task and trial of each record."""
    return [(one.record.id, one.record.task, one.record.trial) for one in dataset.records()]
