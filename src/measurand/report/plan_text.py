"""A plan as people read it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from measurand.report.sentences import hanging, packed
from measurand.report.terminal import columns, compact, counted, duration, percent, safe, table, thousands, usd, width
from measurand.run.forecast import Destination, Forecast
from measurand.run.plan import Plan

_HEADROOM = 1.25  # a proposed budget leaves so much more than is planned


def plan_lines(plan: Plan, bounds: Sequence[str], command: str = "metrics run") -> list[str]:
    """What a run will do, what it leaves out, what reads what, what is sent where, and what to type: `command`, with the id of this plan."""
    rows = plan.dataset.rows if plan.dataset else 0
    filtered = plan.dataset.filtered if plan.dataset else 0
    lines = hanging(f"{counted(rows, 'row')}, {counted(len(plan.metrics), 'metric')}, {_who(plan)}")
    lines += [f"{counted(filtered, 'row')} left out by --where or --limit", ""] if filtered else [""]
    lines += _asking_table(plan) if plan.asks else _code_table(plan)
    for left in plan.left_out:
        lines.append(f"left out: {safe(left.metric)} (needs {', '.join(name.replace('|', ' or ') for name in left.missing)})")
    if plan.asks:
        lines += ["", *(line for sentence in _of_asking(plan) for line in hanging(sentence))]
    lines += ["", *mapping_lines(plan), *bounds, ""]
    return [*lines, *packed(f"plan {plan.plan_id}.", [f"Run it: {safe(command)} --expect-plan {plan.plan_id}{_budget(plan, command)}"])]


def _who(plan: Plan) -> str:
    if not plan.asks:
        return "no model: nothing is sent, nothing is paid"
    judges = [safe(one.settings.model) for one in plan.bound.judges.values()]
    embeddings = [safe(one.settings.model) for one in plan.bound.embeddings.values()]
    said = [f"{'judge' if len(judges) == 1 else 'judges'} {', '.join(judges)}"] if judges else []
    return ", ".join(said + ([f"embedding {', '.join(embeddings)}"] if embeddings else []))


def _code_table(plan: Plan) -> list[str]:
    return table(
        ("METRIC", "ROWS", "CALLS", "USD"),
        [(one.instance.name, thousands(one.applicable_rows), "0", usd(0.0)) for one in plan.metrics],
        right=(1, 2, 3),
    )


def _asking_table(plan: Plan) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for one in plan.metrics:
        rows.append((one.instance.name, thousands(one.applicable_rows), *_figures(one.forecast)))
        if one.reasons.calls:
            rows.append((f"{one.instance.name}: reasons", "", *_figures(one.reasons)))
    rows.append(("total", "", *_figures(plan.cost.total)))
    *lines, last = table(("METRIC", "ROWS", "CALLS", "TOKENS IN", "USD"), rows, right=(1, 2, 3, 4), shrink=(0,))
    if not plan.cost.minutes:
        return [*lines, last]
    beside = f"{last}   {_time(plan)}"
    return [*lines, beside] if columns(beside) <= width() else [*lines, last, f"  {_time(plan)}"]


def _figures(one: Forecast) -> tuple[str, str, str]:
    return thousands(one.calls), compact(one.input_tokens), usd(one.cost_usd)


def _time(plan: Plan) -> str:
    return f"about {duration(max(1.0, (plan.cost.minutes or 0.0) * 60))} at {plan.cost.in_flight} in flight"


def _of_asking(plan: Plan) -> Iterator[str]:
    """What is worth saying of a plan that asks models."""
    whole, run = plan.cost.total, plan.settings.run
    if whole.calls_min < whole.calls:
        yield f"{thousands(whole.calls_min)} to {counted(whole.calls, 'call')}, depending on {_depends(plan)}; the most is planned"
    yield from _counted_before(plan)
    for name, (rows, why) in plan.cost.unasked.items():
        yield f"{safe(name)}: {counted(rows, 'row')} of at most 500 looked at cannot be asked about, an error each: {safe(why)}"
    yield from _never_failing(plan)
    yield from _recorded(plan)
    if run.mode == "replay":
        yield "replay: nothing is sent; every reply comes from the record"
    yield from map(_sends, plan.cost.destinations)
    if run.mode != "replay" and not plan.cost.destinations:
        yield "nothing is sent: the model is on this machine"
    yield from _ways(plan)
    if plan.cost.assumed_s is not None:
        yield f"the time is a guess: {plan.cost.assumed_s:g} s a call, no call to the model is recorded yet"
    yield from _bounds(plan)


def _depends(plan: Plan) -> str:
    open_ones = [one for one in plan.metrics if one.forecast.calls_min < one.forecast.calls or one.reasons.calls_min < one.reasons.calls]
    verdicts = any(one.instance.judge for one in open_ones)
    batches = any(one.instance.embedding for one in open_ones)
    said = (["the verdicts"] if verdicts else []) + (["how full the batches of embeddings are"] if batches else [])
    return " and on ".join(said)


def _counted_before(plan: Plan) -> Iterator[str]:
    """What estimates are multiplied by, where that is to be seen in two decimals."""
    for name, by in plan.cost.corrected.items():
        if f"{by:.2f}" != "1.00":
            whose = f"tokens of {safe(name)}" if len(plan.bound.judges) > 1 else "tokens"
            yield f"{whose} as this server counted them before: × {by:.2f}"


def _never_failing(plan: Plan) -> Iterator[str]:
    """The metrics of which failures alone were to be explained, and that cannot fail."""
    failing = [one.instance for one in plan.metrics if one.instance.judge and one.instance.explain == "failed"]
    names = [safe(one.name) for one in failing if one.threshold is None or one.metric.direction == "none"]
    if names:
        yield f'explain = "failed": no reasons for {", ".join(names)}, which {"has" if len(names) == 1 else "have"} no threshold to fail'


def _recorded(plan: Plan) -> Iterator[str]:
    """What need not be asked again, and what must be although it was asked before."""
    reuse, whole = plan.cost.reuse, plan.cost.total
    if reuse is not None and reuse.found:
        left = "" if not whole.cost_usd else f"; the rest costs about ${usd(whole.cost_usd * reuse.left)}"
        every = reuse.whole and reuse.found == reuse.asked
        yield "what judges are asked is recorded already" if every else f"about {percent(reuse.share)} of what judges are asked is recorded already{left}"
    if plan.cost.regrouped is not None:
        run, names = plan.cost.regrouped
        yield f"asked together with other questions than in run {run}, so that its answers cannot be used: {', '.join(map(safe, names))}"


def _sends(one: Destination) -> str:
    roles = f" ({', '.join(one.roles)})" if one.roles else ""
    return f"sends {', '.join(map(safe, one.fields))} of {counted(one.rows, 'row')} to {safe(one.host)}{roles}"


def _ways(plan: Plan) -> Iterator[str]:
    for name, way in plan.cost.probed.items():
        whose = f"p of {safe(name)}" if len(plan.cost.probed) > 1 else "p"
        if way:
            yield f"{whose}: {_WAYS[way]}"
        elif plan.settings.run.mode == "replay":
            yield f"{whose}: no probe is recorded, and without one a replay ends at once"
        else:
            yield f"{whose}: not probed yet; the run's first call finds out how this model gives probabilities, the dearer way is planned"


_WAYS = {"logprobs": "by logprobs", "sampled": "by draws of structured replies", "typed": "as the server gives it"}


def _bounds(plan: Plan) -> Iterator[str]:
    run, whole = plan.settings.run, plan.cost.total
    said = []
    if run.budget_usd is not None:
        said.append(f"{run.budget_usd:g} USD")
    if run.budget_calls is not None:
        said.append(counted(run.budget_calls, "call"))
    if run.budget_tokens is not None:
        said.append(counted(run.budget_tokens, "token"))
    if not said:
        return
    short = (
        (run.budget_usd is not None and whole.cost_usd is not None and whole.cost_usd > run.budget_usd)
        or (run.budget_calls is not None and whole.calls > run.budget_calls)
        or (run.budget_tokens is not None and whole.input_tokens + whole.output_tokens > run.budget_tokens)
    )
    yield f"budget: {', '.join(said)}" + ("; the plan needs more, and the run will end there, incomplete" if short else "")


def _budget(plan: Plan, command: str) -> str:
    """The budget to propose: what is planned and a quarter more, in two digits."""
    planned = plan.cost.total.cost_usd
    if not planned or plan.settings.run.mode == "replay" or plan.settings.run.budget_usd is not None or "--budget" in command:
        return ""
    wanted = planned * _HEADROOM
    digit = 10.0 ** (math.floor(math.log10(wanted)) - 1)
    return f" --budget {round(math.ceil(wanted / digit - 1e-9) * digit, 10):g}"


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
