"""Reading a run file in place: its rows go into a temporary store, so that everything downstream reads one thing."""

from __future__ import annotations

import gzip
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from measurand.core.errors import DataError, Problem, StoreError
from measurand.run.store import schema
from measurand.run.store.engine import connect, dialect_of
from measurand.run.store.migrations import migrate
from measurand.run.store.place import TEMPORARY, Place, parse_place, shown_path
from measurand.run.store.read import StoredRun, select_runs
from measurand.run.store.runfile_write import FORMATS, MANIFEST_KEY
from measurand.run.store.strict_json import dumps, loads
from measurand.run.store.values import STATUS_NAMES, ResultRow, RunInfo, RunMetric, SampleRow, StoredCall
from measurand.run.store.write import RunWriter, begin_run

_GZIP_MAGIC: Final = b"\x1f\x8b"
_GROUP: Final = 2_000
_GROUP_BYTES: Final = 16_000_000
_LINE_LIMIT: Final = 256_000_000  # a row of 16 MB, every character escaped, with its results
_STATUS_OF: Final = {name: number for number, name in enumerate(STATUS_NAMES)}


def is_run_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file that begins as a run file does."""
    try:
        with open(path, "rb") as stream:
            return stream.read(2) == _GZIP_MAGIC
    except (OSError, ValueError):
        return False


def open_run_file(path: str | os.PathLike[str]) -> StoredRun:
    """A run out of a file of `metrics export --format run`. DataError with file and line when it is torn, damaged or no run file."""
    file = _RunFile(Path(path))
    lines = file.lines()
    info, stored = _read_manifest(file, next(lines, {}))
    place = parse_place(TEMPORARY)
    engine = connect(place)
    try:
        migrate(engine, dialect_of(engine))
        _load_rows(file, lines, _begin(file, engine, place, info), stored, len(info.metrics))
        with engine.connect() as connection:
            key, loaded = select_runs(connection, schema.runs.c.run_id == info.run_id)[0]
    except BaseException:
        engine.dispose()
        raise
    return StoredRun(engine, place, key, loaded, close=engine.dispose)


def _begin(file: _RunFile, engine: Engine, place: Place, info: RunInfo) -> RunWriter:
    try:
        return begin_run(engine, place, info)
    except (TypeError, ValueError, AttributeError, SQLAlchemyError, StoreError) as error:
        raise file.wrong("the manifest's values are not of their types") from error


class _RunFile:
    """Reads the lines of one run file; every error names the file and the line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0

    def wrong(self, message: str, hint: str = "export the run again with `metrics export RUN --format run -o FILE`") -> DataError:
        where = f"{shown_path(self.path)}:{self.number}" if self.number else shown_path(self.path)
        return DataError(Problem("bad_run_file", where, message, hint))

    def lines(self) -> Iterator[dict[str, Any]]:
        try:
            with gzip.open(self.path, "rb") as stream:
                while line := stream.readline(_LINE_LIMIT):
                    self.number += 1
                    yield self._value(line)
        except EOFError:
            raise self.wrong("the file is cut off after this line") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self.wrong(f"the file is damaged after this line ({error})") from None
        except OSError as error:
            raise self.wrong(f"cannot be read: {(error.strerror or str(error)).lower()}", "") from None

    def _value(self, line: bytes) -> dict[str, Any]:
        if not line.endswith(b"\n"):
            raise self.wrong("this line is cut off" if len(line) < _LINE_LIMIT else f"this line is longer than {_LINE_LIMIT:,} bytes")
        try:
            value = loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            raise self.wrong("this line is no JSON") from None
        if not isinstance(value, dict):
            raise self.wrong("this line is no JSON object")
        return value


def _read_manifest(file: _RunFile, manifest: dict[str, Any]) -> tuple[RunInfo, Counter[str]]:
    """The run, and how many rows, results, calls and uses must follow. DataError."""
    if MANIFEST_KEY not in manifest:
        raise file.wrong("is no run file: its first line has no manifest")
    if manifest[MANIFEST_KEY] not in FORMATS:
        raise file.wrong(f"has format {manifest[MANIFEST_KEY]!r}; this measurand reads {' and '.join(map(str, FORMATS))}", "upgrade measurand")
    try:
        metrics = tuple(RunMetric(**metric) for metric in manifest["metrics"])
        info = RunInfo(**manifest["run"], metrics=metrics)
        stored = manifest["stored"]
        return info, Counter(rows=int(stored["rows"]), results=int(stored["results"]), calls=int(stored.get("calls", 0)), uses=int(stored.get("uses", 0)))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise file.wrong(f"the manifest cannot be read: {error}") from None


class _Loader:
    """Takes the lines of a file in groups. `known`: the number of metrics."""

    def __init__(self, file: _RunFile, writer: RunWriter, known: int) -> None:
        self._file = file
        self._writer = writer
        self._known = known
        self._samples: list[SampleRow] = []
        self._results: list[ResultRow] = []
        self._calls: list[StoredCall] = []
        self._size = 0
        self.seen: Counter[str] = Counter()

    def take(self, line: dict[str, Any]) -> None:
        if "call" in line:
            call, size = _unpack_call(self._file, line, self._known)
            self._calls.append(call)
            self._size += size
        else:
            self._size += _unpack(self._file, line, self._samples, self._results, self._known)
        if len(self._samples) + len(self._calls) >= _GROUP or self._size >= _GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        try:
            self._writer.add(self._samples, self._results)
            self._writer.add_calls(self._calls)
        except StoreError as error:
            raise self._file.wrong(f"a row up to this line cannot be stored: {error}") from error
        self.seen.update(rows=len(self._samples), results=len(self._results), calls=len(self._calls), uses=sum(len(one.uses) for one in self._calls))
        for taken in (self._samples, self._results, self._calls):
            taken.clear()
        self._size = 0

    @property
    def lines(self) -> int:
        return self.seen["rows"] + self.seen["calls"] + len(self._samples) + len(self._calls)


def _load_rows(file: _RunFile, lines: Iterator[dict[str, Any]], writer: RunWriter, stored: Counter[str], known: int) -> None:
    """Store the lines of a file whose manifest was read; `known` = number of metrics. DataError when they are not what it promised."""
    loader = _Loader(file, writer, known)
    for line in lines:
        loader.take(line)
        if loader.lines > stored["rows"] + stored["calls"]:
            break
    loader.flush()
    if loader.seen != stored:
        raise file.wrong(f"the file has {_told(loader.seen, stored, named=True)}, its manifest says {_told(stored, stored, named=False)}")


def _told(counts: Counter[str], stored: Counter[str], *, named: bool) -> str:
    names = ("rows", "results", "calls", "uses") if stored["calls"] else ("rows", "results")
    return " and ".join(f"{counts[name]} {name}" if named else str(counts[name]) for name in names)


def _unpack_call(file: _RunFile, line: dict[str, Any], known: int) -> tuple[StoredCall, int]:
    """The call, and the size of its texts."""
    try:
        call = StoredCall(**line["call"], uses=tuple((ordinal, metric) for ordinal, metric in line["uses"]))
        texts = (call.key, call.recorded_at, call.model, call.kind, call.status)
        tables = (call.usage, *(one for one in (call.request, call.reply, call.served) if one is not None))
        if not (all(type(one) is str for one in texts) and all(type(one) is dict for one in tables)):
            raise ValueError("key, kind, model, status and recorded_at are texts; request, reply, usage and served are objects")
        if not all(type(ordinal) is int and type(metric) is int and metric < known for ordinal, metric in call.uses):
            raise ValueError("a use names the ordinal of a row and a metric of the manifest")
    except (KeyError, TypeError, ValueError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise file.wrong(f"this line is no call of a run: {what}") from None
    return call, sum(len(dumps(one)) for one in (call.request, call.reply) if one is not None)


def _unpack(file: _RunFile, line: dict[str, Any], samples: list[SampleRow], results: list[ResultRow], known: int) -> int:
    """Append the row and its results; the size of the row's text."""
    try:
        ordinal = line["ordinal"]
        tags, slices, row = (None if line.get(name) is None else dumps(line[name]) for name in ("tags", "slices", "row"))
        texts = (line["id"], line["task"], line.get("cluster") or "")
        if not (all(type(text) is str for text in texts) and type(ordinal) is int and type(line["trial"]) is int):
            raise ValueError("id, task and cluster are texts, ordinal and trial integers")
        samples.append((ordinal, line["id"], line["task"], line["trial"], line.get("cluster"), dumps(line["task_hashes"]), tags, slices, row))
        results.extend(_result_row(ordinal, result, known) for result in line["results"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise file.wrong(f"this line is no row of a run: {what}") from None
    return len(row or "")


def _result_row(ordinal: int, result: dict[str, Any], known: int) -> ResultRow:
    metric, status, score = result["metric"], _STATUS_OF.get(result["status"]), result.get("score")
    if type(metric) is not int or not 0 <= metric < known:
        raise ValueError(f"no metric {metric!r} in the manifest")
    if status is None or (status == 0) != (type(score) in (int, float)):
        raise ValueError(f"status {result['status']!r} with score {score!r}")
    rest = result.get("rest")
    return ordinal, metric, status, None if score is None else float(score), None if rest is None else dumps(rest)
