"""Plans and runs over rows in memory, in short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measurand.config import Settings, from_mapping
from measurand.core.metric import Metric
from measurand.index import registry
from measurand.run.plan import Plan, RunOptions, make_plan
from measurand.run.start import Ended, start_run
from measurand.run.store import Store, StoredRun

Rows = Sequence[Mapping[str, Any]]

FOUR: Rows = (
    {"id": "a", "input": "q1", "output": "Paris", "expected": "paris", "lang": "en"},
    {"id": "b", "input": "q2", "output": "Rome, Italy", "expected": ["Rome", "Roma"], "lang": "de"},
    {"id": "c", "input": "q3", "output": "", "expected": "z", "lang": "en"},
    {"id": "d", "input": "q4", "output": "q", "lang": "fr"},
)
"""Four rows; the last one has no `expected`."""


def settings(tables: Mapping[str, Any] | None = None, *overrides: str) -> Settings:
    """The settings of the tables, relative to nowhere in particular."""
    return from_mapping(dict(tables or {}), Path.cwd(), overrides, environ={})


def plan(rows: Rows | str | Path, *metrics: str, tables: Mapping[str, Any] | None = None, on_missing: str | None = None, **options: Any) -> Plan:
    """A plan of these metrics over these rows."""
    overrides = () if on_missing is None else (f'run.on_missing="{on_missing}"',)
    data = str(rows) if isinstance(rows, Path) else rows
    return make_plan(settings(tables, *overrides), RunOptions(data=data, metrics=metrics, **options))


def codes(made: Plan) -> list[str]:
    """The codes of a plan's problems."""
    return [problem.code for problem in made.problems]


def run(store: Store, made: Plan) -> StoredRun:
    """The stored run of a plan, whatever became of it."""
    return store.resolve(started(store, made).run_id)


def started(store: Store, made: Plan) -> Ended:
    """How a run of the plan ended."""
    return start_run(made, store, command=["test"])


@contextmanager
def known(one: Metric[Any]) -> Iterator[str]:
    """The metric is known for a while, by the name that is given."""
    before = registry.snapshot
    registry.add(one)
    yield one.name
    registry._snapshot = before
