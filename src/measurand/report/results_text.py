"""Results of rows as people read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from measurand.core.result import NO_USAGE, CallUsage, MetricResult
from measurand.report.terminal import counted, duration, number, safe, safe_lines, table, thousands, usd

if TYPE_CHECKING:
    from measurand.run.store import StoredRun, StoredSample

_GROUP: Final = 500  # rows of the table that are aligned with each other; memory stays flat


def results_lines(found: Iterable[MetricResult], run: StoredRun, ref: str, *, filtered: bool, config: str | None = None) -> Iterator[str]:
    """A table, streamed in groups, and what to type next: `ref` is how the run was named, `config` the file that was."""
    results = iter(found)
    first = next(results, None)
    if first is None:
        yield "no such results" if filtered else f"run {run.info.run_id} has no results"
        return
    count = 0
    pending = chain([first], results)
    while group := list(islice(pending, _GROUP)):
        lines = table(("ROW", "METRIC", "SCORE", "STATUS", "PASSED", "WHY"), [_cells(one) for one in group], right=(2,), shrink=(5, 0, 1))
        yield from lines if count == 0 else lines[1:]
        count += len(group)
    yield f"{counted(count, 'result')}. One row in full: metrics results {safe(quote(ref))} --id {safe(quote(first.sample_id or ''))}{f' -c {config}' if config else ''}"


def _cells(one: MetricResult) -> tuple[str, ...]:
    passed = "" if one.passed is None else "yes" if one.passed else "no"
    return (one.sample_id or "", one.metric, number(one.score), one.status.replace("_", " "), passed, one.error.message if one.error else one.label or "")


def row_lines(sample: StoredSample, found: list[MetricResult]) -> list[str]:
    """One row with everything: its fields as they were read, and each result with its details."""
    lines = [f"row {safe(sample.id)} · task {safe(sample.task)} · trial {sample.trial}", ""]
    if sample.row is None:
        lines.append("the store keeps no texts of this run ([run] content)")
    else:
        lines += [line for name, value in sample.row.items() for line in _entry(name, value)]
    for one in found:
        said = number(one.score) if one.score is not None else one.status.replace("_", " ")
        verdict = "" if one.passed is None else ", passed" if one.passed else ", failed"
        lines += ["", f"{safe(one.metric)}  {said}{verdict}"]
        if one.error is not None:
            lines.append(f"  {one.error.code}: {safe_lines(one.error.message)}")
        if one.label:
            lines.append(f"  {safe(one.label)}")
        lines += [line for name, value in one.details.items() for line in _entry(f"  {name}", value)]
        lines += [line for draw in one.draws or () for line in _entry("  draw", draw)]
        if one.usage != NO_USAGE:
            lines.append(f"  {_used(one.usage)}")
        lines.append(f"  {safe(one.signature)}")
    return lines


def _used(usage: CallUsage) -> str:
    shared = f", {usage.shared_calls} shared with others" if usage.shared_calls else ""
    cost = "cost not known" if usage.cost_usd is None else f"{usd(usage.cost_usd)} USD"
    tokens = f"{thousands(usage.input_tokens)} + {counted(usage.output_tokens, 'token')}"
    return f"{counted(usage.calls, 'call')}{shared}, {tokens}, {cost}, {duration(usage.latency_s)}"


def _entry(name: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    first, *rest = safe_lines(text).split("\n")
    indent = " " * (len(name) - len(name.lstrip()) + 2)
    return [f"{safe(name)}: {first}", *(f"{indent}{line}" for line in rest)]
