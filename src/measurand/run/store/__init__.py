"""Runs that survive: a store in SQLite or PostgreSQL, and whole runs as files. Imports SQLAlchemy and numpy; import it late."""

from __future__ import annotations

from measurand.run.store.cache import CallGroup, Imported
from measurand.run.store.place import TEMPORARY, private_folder
from measurand.run.store.read import VERDICTS, StoredRun, Verdict
from measurand.run.store.runfile_read import is_run_file, open_run_file
from measurand.run.store.runfile_write import export_run, write_run
from measurand.run.store.store import Store, open_run, open_store
from measurand.run.store.values import (
    ERROR,
    NOT_APPLICABLE,
    NOT_STORED,
    OF_THE_RUN,
    OK,
    STATUS_NAMES,
    CallTotals,
    Deleted,
    NewCall,
    Recorded,
    ResultRow,
    RunInfo,
    RunMetric,
    RunStart,
    SampleRow,
    ScoreColumns,
    ServedModel,
    StoredCall,
    StoredResult,
    StoredSample,
    Use,
)
from measurand.run.store.write import RunWriter

__all__ = [
    "ERROR",
    "NOT_APPLICABLE",
    "NOT_STORED",
    "OF_THE_RUN",
    "OK",
    "STATUS_NAMES",
    "TEMPORARY",
    "VERDICTS",
    "CallGroup",
    "CallTotals",
    "Deleted",
    "Imported",
    "NewCall",
    "Recorded",
    "ResultRow",
    "RunInfo",
    "RunMetric",
    "RunStart",
    "RunWriter",
    "SampleRow",
    "ScoreColumns",
    "ServedModel",
    "Store",
    "StoredCall",
    "StoredResult",
    "StoredRun",
    "StoredSample",
    "Use",
    "Verdict",
    "export_run",
    "is_run_file",
    "open_run",
    "open_run_file",
    "open_store",
    "private_folder",
    "write_run",
]
