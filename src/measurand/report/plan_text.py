"""A plan as people read it."""

from __future__ import annotations

from collections.abc import Sequence

from measurand.report.sentences import hanging, packed
from measurand.report.terminal import counted, safe, table, thousands, usd
from measurand.run.plan import Plan


def plan_lines(plan: Plan, bounds: Sequence[str], command: str = "metrics run") -> list[str]:
    """What a run will do, what it leaves out, what reads what, and what to type: `command`, with the id of this plan."""
    rows = plan.dataset.rows if plan.dataset else 0
    filtered = plan.dataset.filtered if plan.dataset else 0
    lines = [f"{counted(rows, 'row')}, {counted(len(plan.metrics), 'metric')}, no model: nothing is sent, nothing is paid"]
    lines += [f"{counted(filtered, 'row')} left out by --where or --limit", ""] if filtered else [""]
    lines += table(
        ("METRIC", "ROWS", "CALLS", "USD"),
        [(one.instance.name, thousands(one.applicable_rows), "0", usd(0.0)) for one in plan.metrics],
        right=(1, 2, 3),
    )
    for left in plan.left_out:
        lines.append(f"left out: {safe(left.metric)} (needs {', '.join(name.replace('|', ' or ') for name in left.missing)})")
    lines += ["", *mapping_lines(plan), *bounds, ""]
    return [*lines, *packed(f"plan {plan.plan_id}.", [f"Run it: {safe(command)} --expect-plan {plan.plan_id}"])]


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
    lines = hanging("mapping: " + " · ".join(parts)) if parts else ["nothing is mapped"]
    noted = [f"{safe(entry['column'])}: {safe(entry['note'])}" for entry in mapping if entry.get("note") and entry["how"] != "derived"]
    return [*lines, *(line for note in (*noted, *map(safe, plan.dataset.notes)) for line in hanging(note))]
