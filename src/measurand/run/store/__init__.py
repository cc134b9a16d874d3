"""Runs that survive: a store in SQLite or PostgreSQL, and whole runs as files. Imports SQLAlchemy and numpy; import it late."""

from __future__ import annotations

from measurand.run.store.place import TEMPORARY, private_folder
from measurand.run.store.read import VERDICTS, StoredRun, Verdict
from measurand.run.store.runfile_read import is_run_file, open_run_file
from measurand.run.store.runfile_write import export_run, write_run
from measurand.run.store.store import Store, open_run, open_store
from measurand.run.store.values import (
    ERROR,
    NOT_APPLICABLE,
    NOT_STORED,
    OK,
    STATUS_NAMES,
    Deleted,
    ResultRow,
    RunInfo,
    RunMetric,
    RunStart,
    SampleRow,
    ScoreColumns,
    StoredResult,
    StoredSample,
)
from measurand.run.store.write import RunWriter

__all__ = [
    "ERROR",
    "NOT_APPLICABLE",
    "NOT_STORED",
    "OK",
    "STATUS_NAMES",
    "TEMPORARY",
    "VERDICTS",
    "Deleted",
    "ResultRow",
    "RunInfo",
    "RunMetric",
    "RunStart",
    "RunWriter",
    "SampleRow",
    "ScoreColumns",
    "Store",
    "StoredResult",
    "StoredRun",
    "StoredSample",
    "Verdict",
    "export_run",
    "is_run_file",
    "open_run",
    "open_run_file",
    "open_store",
    "private_folder",
    "write_run",
]
