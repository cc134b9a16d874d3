"""A plan as people read it."""

from __future__ import annotations

from collections.abc import Sequence

from measurand.report.terminal import counted, safe, table, thousands, usd, width, wrapped
from measurand.run.plan import Plan


def plan_lines(plan: Plan, bounds: Sequence[str], command: str = "metrics run") -> list[str]:
    """What a run will do, what it leaves out, what reads what, and what to type: `command`, with the id of this plan."""
    rows = plan.dataset.rows if plan.dataset else 0
    lines = [f"{counted(rows, 'row')}, {counted(len(plan.metrics), 'metric')}, no model: nothing is sent, nothing is paid", ""]
    lines += table(
        ("METRIC", "ROWS", "CALLS", "USD"),
        [(one.instance.name, thousands(one.applicable_rows), "0", usd(0.0)) for one in plan.metrics],
        right=(1, 2, 3),
    )
    for left in plan.left_out:
        lines.append(f"left out: {safe(left.metric)} (needs {', '.join(name.replace('|', ' or ') for name in left.missing)})")
    lines += ["", *mapping_lines(plan), *bounds, ""]
    lines.append(f"plan {plan.plan_id}. Run it: {safe(command)} --expect-plan {plan.plan_id}")
    return lines


def mapping_lines(plan: Plan) -> list[str]:
    """Which column feeds which field, and what is noted about it."""
    if plan.dataset is None:
        return []
    mapping = plan.dataset.mapping
    same = [entry["field"] for entry in mapping if entry["how"] == "exact" and entry["field"] == entry["column"]]
    derived = [entry["field"] for entry in mapping if entry["how"] == "derived"]
    aside = [safe(entry["column"]) for entry in mapping if entry["field"] == "metadata" and entry["how"] == "metadata"]
    pairs = [f"{entry['field']} ← {safe(entry['column'])}" for entry in mapping if entry["field"] not in (*same, *derived, "metadata")]
    parts = [*pairs, *([f"{', '.join(same)} as they are"] if same else []), *([f"{', '.join(derived)} derived from messages"] if derived else [])]
    if aside:
        parts.append(f"metadata ← {', '.join(aside)}")
    first, *rest = wrapped("mapping: " + " · ".join(parts), width() - 2) if parts else ["nothing is mapped"]
    lines = [first, *(f"  {line}" for line in rest)]
    lines += [f"  {safe(entry['column'])}: {safe(entry['note'])}" for entry in mapping if entry.get("note") and entry["how"] != "derived"]
    return lines + [safe(note) for note in plan.dataset.notes]
