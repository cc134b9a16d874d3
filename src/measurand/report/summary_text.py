"""A run's summary as people read it: the numbers first, then what they rest on."""

from __future__ import annotations

from collections.abc import Iterator

from measurand.report.sentences import hanging, packed
from measurand.report.terminal import counted, duration, interval, number, percent, safe, table, thousands, usd
from measurand.run.bind import of_one_family
from measurand.run.summary import MetricReport, SliceSummary, Summary
from measurand.stats.statistic import Statistic

_HEADER = ("METRIC", "N", "MEAN", "95 % INTERVAL", "ERRORS", "N/A", "USD")
_RIGHT = (1, 2, 3, 4, 5, 6)
_SLICE_HEADER = ("", "N", "MEAN", "95 % INTERVAL", "ERRORS", "N/A")
_INDENT = "  "


def summary_lines(summary: Summary, *, fit: int | None = None) -> list[str]:
    """The table of metrics, a line for what needs saying about each, the slices, and what the numbers are over."""
    rows = [_row(one) for one in summary.metrics]
    lines = table(_HEADER, rows, right=_RIGHT, fit=fit, shrink=(0,))
    notes = [line for one in summary.metrics for note in _notes(one) for line in hanging(note, fit)]
    if notes:
        lines += ["", *notes]
    for by in dict.fromkeys(part.by for one in summary.metrics for part in one.slices):
        lines += ["", *_slice_table(by, summary, fit)]
    lines += [f"{safe(name)} has a value of its own in nearly every row: not a slice" for name in summary.slices_left_out]
    return [*lines, "", *(line for text in (*of_asking(summary), *_basis(summary)) for line in hanging(text, fit))]


def _row(one: MetricReport) -> tuple[str, ...]:
    found = one.found
    return (
        one.metric.name,
        thousands(found.n),
        number(found.mean),
        interval(found.ci_low, found.ci_high),
        thousands(one.errors),
        thousands(one.not_applicable),
        usd(one.cost_usd),
    )


def _notes(one: MetricReport) -> Iterator[str]:
    found = one.found
    said = ["lower is better"] if one.metric.direction == "lower" else []
    said += [_statistic(statistic) for statistic in found.statistics if statistic.name in _headlines(one) and statistic.value is not None]
    last = _last_power(one)
    if last:
        said.append(last)
    rate = found.pass_rate
    if rate is not None and one.metric.type != "binary":
        ends = "" if rate.low is None or rate.high is None else f" ({percent(rate.low)} – {percent(rate.high)})"
        said.append(f"{percent(rate.value)}{ends} pass at {one.metric.threshold:g}")
    said += found.notes
    said += _how_asked(one)
    if said:
        yield f"{safe(one.metric.name)}: {', '.join(said)}"


def _how_asked(one: MetricReport) -> Iterator[str]:
    """Where a judged metric's probabilities come from."""
    draws = int(one.signed("draws") or 1)
    way = one.signed("p")
    if way is not None:
        said = {"sampled": "p by structured replies", "typed": "p from the server"}.get(way, f"p by {way}")
        yield said if draws == 1 else f"{said}, {draws} draws"


def _statistic(one: Statistic) -> str:
    text = f"{one.name} {number(one.value)}"
    if one.low is not None and one.high is not None:
        return f"{text} ({interval(one.low, one.high)})"
    return f"{text} (at least {number(one.low)})" if one.low is not None else text


def _headlines(one: MetricReport) -> tuple[str, ...]:
    return ("p50", "p95", "corpus") if "Performance" in one.metric.categories else ("corpus",)


def _last_power(one: MetricReport) -> str:
    powers = [entry for entry in one.found.statistics if entry.name.startswith("pass^") and entry.value is not None]
    if len(powers) < 2:
        return ""
    return _statistic(powers[-1])


def _slice_table(by: str, summary: Summary, fit: int | None) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for one in summary.metrics:
        rows.append((one.metric.name, *[""] * (len(_SLICE_HEADER) - 1)))
        rows += [_slice_row(part) for part in one.slices if part.by == by]
    return table((f"BY {by}", *_SLICE_HEADER[1:]), rows, right=_RIGHT[:-1], fit=fit, shrink=(0,))


def _slice_row(part: SliceSummary) -> tuple[str, ...]:
    found = part.found
    return (
        _INDENT + part.value,
        thousands(found.n),
        number(found.mean),
        interval(found.ci_low, found.ci_high),
        thousands(part.errors),
        thousands(part.not_applicable),
    )


def of_asking(summary: Summary) -> Iterator[str]:
    """What was asked and paid, who answered, and what has to be known of the judges; nothing for a run that asked nobody."""
    usage = summary.usage
    if not usage.calls:
        return
    spent = [f"reused {thousands(usage.cached_calls)}, asked {thousands(usage.calls - usage.cached_calls)}", _price(summary)]
    if usage.unreported_calls:
        spent.append(f"the tokens of {counted(usage.unreported_calls, 'call')} are estimates, the server reports none")
    if summary.prefix_share is not None:
        spent.append(f"{percent(summary.prefix_share)} of the tokens sent came from the server's cache")
    yield " · ".join(spent)
    yield from _changed_models(summary)
    yield from map(safe, summary.info.counts.get("notes", ()))
    yield from _of_judges(summary)


def _price(summary: Summary) -> str:
    estimated = summary.estimated["cost_usd"] if summary.info.counts.get("estimated") else None
    if summary.paid_usd is None:
        tokens = f"{thousands(summary.usage.input_tokens)} tokens in, {thousands(summary.usage.output_tokens)} out"
        some = any(one.cost_usd for one in summary.metrics)
        return f"{tokens}, {'not every price' if some else 'no price'} is known"
    said = f"estimated ${usd(estimated)}, " if estimated is not None else ""
    return f"{said}paid ${usd(summary.paid_usd)}"


def _changed_models(summary: Summary) -> Iterator[str]:
    """Models of which more than one answered under the same name."""
    for model in dict.fromkeys(one.model for one in summary.served):
        names = [_served(one.name, one.fingerprint) for one in summary.served if one.model == model]
        if len(names) > 1:
            yield f"{safe(model)} changed during the run: answered as {', '.join(map(safe, names))}"


def _served(name: str | None, fingerprint: str | None) -> str:
    return f"{name or 'unnamed'} ({fingerprint})" if fingerprint else name or "unnamed"


def _of_judges(summary: Summary) -> Iterator[str]:
    """The notes of the config, and whether a judge is of the family that it judged."""
    config = summary.info.config
    run, tables = config.get("run", {}), config.get("models", {})
    asked = {model for one in summary.metrics for model in (one.signed("judge") or "").split("+")}
    for model in tables.values():
        if model.get("model") not in asked:
            continue
        if model.get("note"):
            yield f"{safe(model['model'])}: {safe(model['note'])}"
        if run.get("allow_self_judging") and of_one_family(run.get("subject_family"), model.get("family"), model["model"]):
            yield f"{safe(model['model'])} judged its own family ({safe(run['subject_family'])}): allow_self_judging"


def _basis(summary: Summary) -> list[str]:
    info = summary.info
    rows = int(info.counts.get("rows") or info.dataset.get("rows") or 0)
    over = f"{counted(rows, 'row')} of {safe(str(info.dataset.get('path', '')))}"
    units = max((one.found.n for one in summary.metrics), default=0)
    fullest = max(summary.metrics, key=lambda one: one.found.rows_scored, default=None)  # the metric that says most about the rows
    trials = fullest.found.trials if fullest is not None else None
    if trials is not None:
        each = f"{trials.most} trials each" if trials.fewest == trials.most else f"{trials.fewest} to {trials.most} trials each"
        over += f": {counted(units, 'task')}, {each}; intervals are over tasks"
    elif any(one.found.clustered is not None for one in summary.metrics):
        groups = max(one.found.clustered.n_clusters for one in summary.metrics if one.found.clustered is not None)
        over += f" in {counted(groups, 'cluster')}; intervals take that into account"
    lines = [over + (f", {duration(info.elapsed_s)}" if info.elapsed_s is not None else "")]
    filtered = info.dataset.get("filtered", 0)
    if filtered:
        lines.append(f"{counted(int(filtered), 'row')} left out by --where or --limit")
    skipped = info.dataset.get("skipped", 0)
    if skipped:
        lines.append(f"{counted(int(skipped), 'row')} could not be read and were skipped (on_bad_row)")
    if info.status != "complete":
        lines.append(f"INCOMPLETE: {safe(info.reason or 'it did not reach its end')}")
    return lines


def next_lines(summary: Summary, *, config: str | None = None, found_done: int = 0) -> list[str]:
    """What the run is called, and what to type next. `config`: the file that was named, which the next commands need too."""
    info = summary.info
    complete = info.status == "complete"
    ref = "latest" if complete else info.run_id
    named = f" -c {config}" if config else ""
    failing = any(one.found.pass_rate is not None and one.found.pass_rate.value not in (None, 1.0) for one in summary.metrics)
    steps = []
    if any(one.errors for one in summary.metrics):
        steps.append(f"Errors: metrics results {ref} --errors{named}")
    if failing:
        steps.append(f"Rows that fail: metrics results {ref} --failed{named}")
    steps.append(f"As a table: metrics export {ref} -o results.csv{named}")
    before = f"continued: {counted(found_done, 'row')} had been stored before" if found_done else ""
    return [*([before] if before else []), *packed(f"run {safe(info.label)}.", [safe(step) for step in steps])]
