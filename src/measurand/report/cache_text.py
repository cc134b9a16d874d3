"""The recorded calls as people and programs read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from measurand.report.terminal import counted, safe, table, thousands

if TYPE_CHECKING:
    from measurand.run.cassette import Written
    from measurand.run.store import CallGroup, Imported

_STEP = 1_000


class CallGroupJson(TypedDict):
    """Recorded calls of one model, kind and status."""

    model: str
    kind: str
    status: str
    imported: bool
    calls: int
    unused: int
    bytes: int


class CacheInfoJson(TypedDict):
    """`metrics cache info --json`."""

    store: str
    calls: int
    imported: int
    unused: int
    bytes: int
    groups: list[CallGroupJson]


class CacheExportJson(TypedDict):
    """`metrics cache export --json`."""

    ok: bool
    path: str
    calls: int
    without_reply: int


class CacheImportJson(TypedDict):
    """`metrics cache import --json`."""

    ok: bool
    imported: int
    known: int


class CachePruneJson(TypedDict):
    """`metrics cache prune --json`."""

    ok: bool
    dry_run: bool
    calls: int


def info_json(groups: Sequence[CallGroup], store: str) -> CacheInfoJson:
    """What is recorded."""
    return {
        "store": store,
        "calls": sum(one.calls for one in groups),
        "imported": sum(one.calls for one in groups if one.imported),
        "unused": sum(one.unused for one in groups),
        "bytes": sum(one.bytes for one in groups),
        "groups": [
            {
                "model": one.model,
                "kind": one.kind,
                "status": one.status,
                "imported": one.imported,
                "calls": one.calls,
                "unused": one.unused,
                "bytes": one.bytes,
            }
            for one in groups
        ],
    }


def info_lines(groups: Sequence[CallGroup], store: str) -> list[str]:
    """A table of what is recorded, and what to type."""
    if not groups:
        return [f"no calls are recorded in {safe(store)}; a run with a judge or an embedding model records them"]
    rows = [(one.model, one.kind, one.status, "yes" if one.imported else "", thousands(one.calls), thousands(one.unused), _size(one.bytes)) for one in groups]
    lines = table(("MODEL", "KIND", "STATUS", "IMPORTED", "CALLS", "UNUSED", "SIZE"), rows, right=(4, 5, 6), shrink=(0,))
    told = info_json(groups, store)
    unused = f", {thousands(told['unused'])} used by no run: metrics cache prune --unused" if told["unused"] else ""
    return [*lines, f"{counted(told['calls'], 'recorded call')} in {safe(store)}, {_size(told['bytes'])}{unused}"]


def exported_json(written: Written, path: Path) -> CacheExportJson:
    """What was written."""
    return {"ok": True, "path": str(path), "calls": written.calls, "without_reply": written.without_reply}


def exported_lines(written: Written, label: str, path: str) -> list[str]:
    """What was written, and what could not be."""
    lines = [f"wrote {counted(written.calls, 'call')} of run {safe(label)} to {path}"]
    if written.without_reply:
        lines.append(f"{counted(written.without_reply, 'call')} left out: their replies are not kept ([run] content)")
    return lines


def imported_json(imported: Imported) -> CacheImportJson:
    """What was taken in."""
    return {"ok": True, "imported": imported.calls, "known": imported.known}


def imported_line(imported: Imported) -> str:
    """What was taken in, in a sentence."""
    known = f"; {thousands(imported.known)} already recorded" if imported.known else ""
    return f"imported {counted(imported.calls, 'call')}{known}"


def pruned_json(count: int, *, dry_run: bool) -> CachePruneJson:
    """What was removed."""
    return {"ok": True, "dry_run": dry_run, "calls": count}


def pruned_line(count: int, *, dry_run: bool) -> str:
    """What was removed, in a sentence."""
    return f"{'would remove' if dry_run else 'removed'} {counted(count, 'recorded call')} that no run uses"


def _size(count: int) -> str:
    if count < _STEP:
        return f"{count} B"
    for unit in ("kB", "MB", "GB"):
        count_in = count / _STEP
        if count_in < _STEP or unit == "GB":
            return f"{count_in:.1f} {unit}"
        count = round(count_in)
    raise AssertionError(count)
