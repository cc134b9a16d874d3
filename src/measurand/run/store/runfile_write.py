"""Writing a whole run as one file: gzipped JSON Lines. The first line is the manifest; then a line for each row with its results, and one for each
recorded call with its users.

The same run gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

import attrs

from measurand.core.errors import StoreError
from measurand.run.store.migrations import MIGRATIONS
from measurand.run.store.place import shown_path
from measurand.run.store.read import StoredRun
from measurand.run.store.strict_json import dumps_ascii
from measurand.run.store.values import STATUS_NAMES, RunInfo, StoredCall, StoredResult, StoredSample

FORMATS: Final = (1, 2)
"""Without recorded calls, and with."""
MANIFEST_KEY: Final = "measurand_run"


def export_run(run: StoredRun, path: str | os.PathLike[str], *, content: bool = True) -> None:
    """Write the run to a file, which appears whole or not at all. `content=False` leaves out rows, details, draws, requests, replies and error messages. StoreError."""
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
    counts = Counter(rows=len(run), results=run.result_count())
    counts["calls"], counts["uses"] = run.call_counts()
    seen: Counter[str] = Counter()
    # No name and no time in the header: equal runs are equal files. Level 6: level 9 takes twice as long for 2 %.
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=6) as packed, io.BufferedWriter(packed, 1 << 16) as lines:
        lines.write(_line(_manifest(run.info, counts, content=content)))
        for sample, its_results in _rows_with_results(run):
            lines.write(_line(_row(sample, its_results, content=content)))
            seen.update(rows=1, results=len(its_results))
        for call in run.all_calls():
            lines.write(_line(_call(call, content=content)))
            seen.update(calls=1, uses=len(call.uses))
    if seen != counts:
        raise StoreError(f"run {run.info.run_id} changed while it was exported; export it again")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _line(value: Any) -> bytes:
    return dumps_ascii(value).encode("ascii") + b"\n"


def _manifest(info: RunInfo, counts: Counter[str], *, content: bool) -> dict[str, Any]:
    run = attrs.asdict(info)
    metrics = run.pop("metrics")
    stored = {name: counts[name] for name in (("rows", "results", "calls", "uses") if counts["calls"] else ("rows", "results"))}
    return {MANIFEST_KEY: FORMATS[bool(counts["calls"])], "schema": len(MIGRATIONS), "content": content, "stored": stored, "run": run, "metrics": list(metrics)}


def _call(call: StoredCall, *, content: bool) -> dict[str, Any]:
    kept = attrs.asdict(call, recurse=False)
    uses = kept.pop("uses")
    if not content:
        kept |= {"request": None, "reply": None}
    return {"call": {name: value for name, value in kept.items() if value is not None}, "uses": [list(use) for use in uses]}


def _row(sample: StoredSample, results: list[StoredResult], *, content: bool) -> dict[str, Any]:
    row = {name: value for name, value in sample._asdict().items() if value is not None and (content or name != "row")}
    row["results"] = [_result(result, content=content) for result in results]
    return row


def _result(result: StoredResult, *, content: bool) -> dict[str, Any]:
    rest = result.rest if content else _without_texts(result.rest)
    packed = {"metric": result.metric, "status": STATUS_NAMES[result.status], "score": result.score, "rest": rest}
    return {name: value for name, value in packed.items() if value is not None and value != {}}


def _without_texts(rest: dict[str, Any]) -> dict[str, Any]:
    """Without details, draws and the wording of errors: all may quote the row."""
    kept = {name: value for name, value in rest.items() if name not in ("details", "draws")}
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
