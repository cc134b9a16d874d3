"""Whether clusters group whole tasks: what intervals over tasks rest on."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from measurand.core.errors import Problem
from measurand.data.dataset import Dataset

_SHOWN = 5


def split_tasks(dataset: Dataset) -> list[Problem]:
    """Tasks whose rows lie in two clusters, with both rows. Costs a further pass, and only where rows carry both."""
    if not (dataset.has_trials and dataset.has_clusters):
        return []
    split = _hashes_of_split_tasks(dataset)
    return list(_named(dataset, split)) if split else []


def _hashes_of_split_tasks(dataset: Dataset) -> set[int]:
    """16 bytes a row, no object that lives on."""
    import numpy as np

    pairs = array("q")
    for row in dataset.records():
        pairs.append(hash(row.record.task))
        pairs.append(hash(row.record.fields.get("cluster")))
    each = np.unique(np.frombuffer(pairs, dtype=np.int64).reshape(-1, 2), axis=0)[:, 0]
    return set(each[1:][each[1:] == each[:-1]].tolist())


def _named(dataset: Dataset, split: set[int]) -> Iterator[Problem]:
    first: dict[str, tuple[str | None, str]] = {}
    told: set[str] = set()
    for row in dataset.records():
        task, cluster = row.record.task, row.record.fields.get("cluster")
        if hash(task) not in split or task in told:
            continue
        known, where = first.setdefault(task, (cluster, row.where))
        if known == cluster:
            continue
        if len(told) == _SHOWN:
            yield Problem("split_task", dataset.label, f"and {len(split) - _SHOWN} more tasks like this")
            return
        told.add(task)
        message = f"the task '{task}' is in {_said(cluster)} here and in {_said(known)} at {where}; a cluster groups whole tasks"
        yield Problem("split_task", row.where, message, "give all rows of a task one cluster, or name another column: --column cluster=COLUMN")


def _said(cluster: str | None) -> str:
    return "no cluster" if cluster is None else f"the cluster '{cluster}'"
