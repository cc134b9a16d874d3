"""Stored runs as people and programs read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from measurand.report.terminal import counted, safe, table, thousands

if TYPE_CHECKING:
    from measurand.run.store import Deleted, RunInfo


def run_json(info: RunInfo) -> dict[str, Any]:
    """A run as `runs --json` lists it."""
    return {
        "run_id": info.run_id,
        "name": info.name,
        "project": info.project,
        "started_at": info.started_at,
        "elapsed_s": info.elapsed_s,
        "status": info.status,
        "reason": info.reason,
        "dataset": dict(info.dataset),
        "metrics": [one.name for one in info.metrics],
        "plan_id": info.plan_id,
        "git_commit": info.git_commit,
    }


def runs_table(found: Sequence[RunInfo], project: str) -> list[str]:
    """One line a run, newest first, and what to type."""
    if not found:
        return [f"no runs of project {safe(project)} yet; metrics run makes one"]
    rows = [
        (
            info.run_id,
            info.name or "",
            info.started_at[:16].replace("T", " "),
            info.status,
            thousands(info.dataset.get("rows")),
            str(len(info.metrics)),
            str(info.dataset.get("path", "")),
        )
        for info in found
    ]
    lines = table(("RUN", "NAME", "STARTED (UTC)", "STATUS", "ROWS", "METRICS", "DATA"), rows, right=(4, 5), shrink=(1,))
    return [*lines, f"{counted(len(found), 'run')} of project {safe(project)}. One in full: metrics runs RUN · its rows: metrics results RUN"]


def deleted_json(deleted: Deleted, *, dry_run: bool) -> dict[str, Any]:
    """What a deletion removed."""
    return {"ok": True, "dry_run": dry_run, "runs": deleted.runs, "rows": deleted.rows, "results": deleted.results, "calls": deleted.calls}


def deleted_line(deleted: Deleted, *, dry_run: bool) -> str:
    """What a deletion removed, in a sentence."""
    parts = (counted(deleted.runs, "run"), counted(deleted.rows, "row"), counted(deleted.results, "result"), counted(deleted.calls, "recorded call"))
    return f"{'would remove' if dry_run else 'removed'} {', '.join(parts)}"
