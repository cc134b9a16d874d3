"""Writing a whole run as one file: gzipped JSON Lines. The first line is the manifest, each other one a row with its results.

The same run gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

import attrs

from measurand.core.errors import StoreError
from measurand.run.store.migrations import MIGRATIONS
from measurand.run.store.place import shown_path
from measurand.run.store.read import StoredRun
from measurand.run.store.strict_json import dumps_ascii
from measurand.run.store.values import STATUS_NAMES, RunInfo, StoredResult, StoredSample

FORMAT: Final = 1
MANIFEST_KEY: Final = "measurand_run"


def export_run(run: StoredRun, path: str | os.PathLike[str], *, content: bool = True) -> None:
    """Write the run to a file, which appears whole or not at all. `content=False` leaves out rows, details and error messages. StoreError."""
    target = Path(path)
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:100]}.", delete=False) as stream:
            try:
                _write_and_put_in_place(run, stream, target, content=content)
            except BaseException:
                Path(stream.name).unlink()
                raise
    except OSError as error:
        raise StoreError(f"the run cannot be written to {shown_path(target)}: {(error.strerror or str(error)).lower()}") from error


def _write_and_put_in_place(run: StoredRun, stream: IO[bytes], target: Path, *, content: bool) -> None:
    write_run(run, stream, content=content)
    stream.flush()
    os.fsync(stream.fileno())
    stream.close()
    written = Path(stream.name)
    written.chmod(0o666 & ~_umask())
    written.replace(target)


def write_run(run: StoredRun, stream: IO[bytes], *, content: bool = True) -> None:
    """Write the run to an open binary stream."""
    rows, results = len(run), run.result_count()
    seen_rows = seen_results = 0
    # No name and no time in the header: equal runs are equal files. Level 6: level 9 takes twice as long for 2 %.
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=6) as packed, io.BufferedWriter(packed, 1 << 16) as lines:
        lines.write(_line(_manifest(run.info, rows, results, content=content)))
        for sample, its_results in _rows_with_results(run):
            lines.write(_line(_row(sample, its_results, content=content)))
            seen_rows += 1
            seen_results += len(its_results)
    if (seen_rows, seen_results) != (rows, results):
        raise StoreError(f"run {run.info.run_id} changed while it was exported; export it again")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _line(value: Any) -> bytes:
    return dumps_ascii(value).encode("ascii") + b"\n"


def _manifest(info: RunInfo, rows: int, results: int, *, content: bool) -> dict[str, Any]:
    run = attrs.asdict(info)
    metrics = run.pop("metrics")
    counts = {"rows": rows, "results": results}
    return {MANIFEST_KEY: FORMAT, "schema": len(MIGRATIONS), "content": content, "stored": counts, "run": run, "metrics": list(metrics)}


def _row(sample: StoredSample, results: list[StoredResult], *, content: bool) -> dict[str, Any]:
    row = {name: value for name, value in sample._asdict().items() if value is not None and (content or name != "row")}
    row["results"] = [_result(result, content=content) for result in results]
    return row


def _result(result: StoredResult, *, content: bool) -> dict[str, Any]:
    rest = result.rest if content else _without_texts(result.rest)
    packed = {"metric": result.metric, "status": STATUS_NAMES[result.status], "score": result.score, "rest": rest}
    return {name: value for name, value in packed.items() if value is not None and value != {}}


def _without_texts(rest: dict[str, Any]) -> dict[str, Any]:
    """Without details and the wording of errors: both may quote the row."""
    kept = {name: value for name, value in rest.items() if name != "details"}
    if "error" in kept:
        kept["error"] = {**kept["error"], "message": f"{kept['error'].get('code')} (exported without content)"}
    return kept


def _rows_with_results(run: StoredRun) -> Iterator[tuple[StoredSample, list[StoredResult]]]:
    results = run.results()
    waiting = next(results, None)
    for sample in run.samples():
        its_results = []
        while waiting is not None and waiting.ordinal <= sample.ordinal:
            its_results.append(waiting)
            waiting = next(results, None)
        yield sample, its_results
