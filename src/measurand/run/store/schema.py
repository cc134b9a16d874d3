"""The tables as the newest migration leaves them; `migrations.py` makes them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Double, Integer, MetaData, SmallInteger, Table, Text

metadata: Final = MetaData()

meta: Final = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))

runs: Final = Table(
    "runs",
    metadata,
    Column("run", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("run_id", Text, nullable=False),
    Column("name", Text),
    Column("project", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("plan_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("elapsed_s", Double),
    Column("git_commit", Text),
    Column("has_trials", SmallInteger, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("config", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("command", Text, nullable=False),
    Column("mapping", Text, nullable=False),
    Column("counts", Text, nullable=False),
    Column("usage", Text, nullable=False),
    Column("removed_rows", BigInteger, nullable=False),
)

run_metrics: Final = Table(
    "run_metrics",
    metadata,
    Column("run", BigInteger, primary_key=True),
    Column("metric", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("base", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("signature", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("threshold", Double),
    Column("direction", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("low", Double),
    Column("high", Double),
    Column("categories", Text, nullable=False),
)

samples: Final = Table(
    "samples",
    metadata,
    Column("run", BigInteger, primary_key=True),
    Column("ordinal", BigInteger, primary_key=True),
    Column("id", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("trial", BigInteger, nullable=False),
    Column("cluster", Text),
    Column("task_hashes", Text, nullable=False),
    Column("tags", Text),
    Column("slices", Text),
)

# Apart from `samples`, so that a pass over ids, tasks or clusters does not read through gigabytes of texts.
contents: Final = Table(
    "contents",
    metadata,
    Column("run", BigInteger, primary_key=True),
    Column("ordinal", BigInteger, primary_key=True),
    Column("row", Text, nullable=False),
)

results: Final = Table(
    "results",
    metadata,
    Column("run", BigInteger, primary_key=True),
    Column("ordinal", BigInteger, primary_key=True),
    Column("metric", Integer, primary_key=True),
    Column("status", SmallInteger, nullable=False),
    Column("score", Double),
    Column("rest", Text),
)

calls: Final = Table(
    "calls",
    metadata,
    Column("call", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("request", Text),
    Column("reply", Text),
    Column("usage", Text, nullable=False),
    Column("served", Text),
    Column("run", BigInteger),
    Column("imported", SmallInteger, nullable=False),
    Column("recorded_at", Text, nullable=False),
)

leases: Final = Table(
    "leases",
    metadata,
    Column("key", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("expires_at", Double, nullable=False),
)

run_calls: Final = Table(
    "run_calls",
    metadata,
    Column("run", BigInteger, primary_key=True),
    Column("ordinal", BigInteger, primary_key=True),
    Column("metric", Integer, primary_key=True),
    Column("call", BigInteger, primary_key=True),
)

OF_A_ROW: Final = (results, contents, run_calls, samples)
"""The tables keyed by (run, ordinal, …); `samples`, which says what ordinal an id has, last."""
