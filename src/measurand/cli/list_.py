"""`metrics list`: what can be measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from measurand.cli.questions import questions_known
from measurand.cli.session import Session, command
from measurand.core.errors import Problem, UsageError, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.metric import Metric
from measurand.core.taxonomy import MetricCategory
from measurand.index import registry
from measurand.report import terminal
from measurand.report.catalogue_json import asks, broken_json, cost_usd, metric_json
from measurand.report.catalogue_text import FORMATS

if TYPE_CHECKING:
    from measurand.report.example_cost import ExampleCost
    from measurand.report.feed_text import Feed


@command("list")
@click.option("--category", "words", metavar="FLAG", multiple=True, help="Only with this flag, e.g. rag; repeated: with all of them.")
@click.option("--any", "any_of", is_flag=True, help="With any of the flags instead of all.")
@click.option("--without", "without", metavar="FLAG", multiple=True, help="Only without this flag; repeatable.")
@click.option("--method", type=click.Choice(["code", "llm", "embed"]), help="How it is computed.")
@click.option("--requires", metavar="FIELD", multiple=True, help="Only what needs this field; repeatable.")
@click.option("--for", "data", metavar="DATA", help="What these rows can feed, and what is missing for the rest.")
@click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD", help="At most so many US dollars a row; what has no known price is left out.")
@click.option("--search", default="", metavar="TEXT", help="Words in name, description, flags or names elsewhere.")
@click.option("--plugins", is_flag=True, help="Load installed plugins and list their metrics too.")
@click.option("--format", "layout", type=click.Choice(list(FORMATS)), default="table", help="How to print them.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(session: Session, data: str | None, plugins: bool, layout: str, as_json: bool, **wanted: Any) -> None:
    r"""What can be measured.

    \b
    metrics list --category rag --category code-based
    metrics list --for data.jsonl
    metrics list --search "word order" --format names
    """
    if plugins:
        _load_plugins()
    questions_known(session)
    most = wanted.pop("max_cost")
    found = _query(**wanted)
    costs: Mapping[str, ExampleCost] = {}
    if session.config is not None or most is not None:
        costs = _costs(found, session)
        found = [one for one in found if most is None or _at_most(one, costs, most)]
    feed = None
    if data is not None:
        from measurand.cli.feeding import feed_of

        feed = feed_of(data, found, session)
        found = [one for one, _ in feed.feedable]
    if as_json:
        broken = registry.snapshot.broken if plugins and not any(wanted.values()) and data is None and most is None else ()
        terminal.print_json([*(metric_json(one, costs.get(one.name)) for one in found), *map(broken_json, broken)])
    elif layout != "table":
        terminal.write("".join(f"{line}\n" for line in FORMATS[layout](found, costs)), end="")
    elif feed is not None:
        _show_feed(feed, data or "")
    else:
        _show_table(found, costs)


def _costs(found: Sequence[Metric[Any]], session: Session) -> Mapping[str, ExampleCost]:
    """What the metrics that ask cost with the models of the config. It is read also where none of them asks: one that cannot be is said."""
    from measurand.cli.reading import reading_settings

    settings = reading_settings(session)
    if not any(map(asks, found)):
        return {}
    from measurand.report.example_cost import example_costs

    return example_costs(found, settings)


def _at_most(one: Metric[Any], costs: Mapping[str, ExampleCost], most: float) -> bool:
    usd = cost_usd(one, costs.get(one.name))
    return usd is not None and usd <= most


def _query(words: Sequence[str], any_of: bool, without: Sequence[str], method: Any, requires: Sequence[str], search: str) -> list[Metric[Any]]:
    problems: list[Problem] = []
    flags = _flags(words, "--category", problems)
    excluded = _flags(without, "--without", problems)
    problems += [_unknown_field(name) for name in requires if name not in FIELDS and not name.startswith("metadata.")]
    if any_of and not words:
        problems.append(
            Problem("bad_option", "--any", "says how --category is meant, and there is none", "metrics list --category rag --category agentic --any")
        )
    if problems:
        raise UsageError(problems)
    return registry.query(
        all_of=None if any_of else flags,
        any_of=flags if any_of else None,
        without=excluded,
        method=method,
        requires=requires,
        search=search,
    )


def _flags(words: Sequence[str], where: str, problems: list[Problem]) -> MetricCategory | None:
    flags = MetricCategory(0)
    for word in words:
        try:
            flags |= MetricCategory.parse(word)
        except UsageError as error:
            problems += [evolve(problem, where=where) for problem in error.problems]
    return flags or None


def _unknown_field(name: str) -> Problem:
    by_alias = next((field.name for field in FIELDS.values() if name in field.aliases), None)
    hint = f"it is read as {by_alias}; write --requires {by_alias}" if by_alias else did_you_mean(name, FIELDS) or f"a record has {', '.join(FIELDS)}"
    return Problem("unknown_field", "--requires", f"'{name}' is no field of a record", hint)


def _load_plugins() -> None:
    from measurand.plugins import plugins_allowed

    if not plugins_allowed():
        terminal.say("plugins are off: METRICS_NO_PLUGINS is set")
    registry.load_plugins()
    for broken in registry.snapshot.broken:
        terminal.say(terminal.safe(f"the plugin {broken.namespace} ({broken.target}) cannot be loaded: {broken.reason}"), always=True)


def _show_feed(feed: Feed, data: str) -> None:
    from measurand.report.feed_text import feed_lines

    terminal.write("\n".join(feed_lines(feed, terminal.width())))
    fed, all_of_them = len(feed.feedable), len(feed.feedable) + len(feed.lacking)
    terminal.note(f"{fed} of {all_of_them} metrics can be measured. A config for these rows: metrics init --for {terminal.safe(data)}")


def _show_table(found: Sequence[Metric[Any]], costs: Mapping[str, ExampleCost]) -> None:
    waiting = sorted(registry.snapshot.plugins)
    more = f" Of plugins not loaded ({', '.join(map(terminal.safe, waiting))}): metrics list --plugins" if waiting else ""
    if not found:
        terminal.write(f"No metric meets all of this; there are {len(registry)}. Fewer conditions show more: metrics list.{more}")
        return
    terminal.write("\n".join(FORMATS["table"](found, costs)))
    example = found[len(found) // 2].name
    terminal.note(f"{len(found)} of {len(registry)} metrics. One in full: metrics show {example}. For your data: metrics list --for FILE{more}")
