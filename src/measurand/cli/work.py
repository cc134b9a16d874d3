"""What `check`, `run` and `score` share: where the settings come from, and what of the command line goes over them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from measurand.cli.reading import CONFIG_NAME, confine, read_run
from measurand.cli.session import Session
from measurand.core.errors import ConfigError, Problem, ProblemsError, UsageError

if TYPE_CHECKING:
    from measurand.config import Settings
    from measurand.run.plan import Plan, RunOptions

F = TypeVar("F", bound=Callable[..., Any])

STORED: Final = "run:"
_FOLLOWING: Final = ("no_metrics", "no_data")  # what a config lacks when the key that says it is itself wrong

_DATA_OPTIONS: Final = (
    click.option("--data", metavar="FILE|-|run:RUN", help="Rows, instead of [data] path; - is standard input, run:RUN an earlier run's rows."),
    click.option("--column", "columns", metavar="FIELD=COLUMN", multiple=True, help="Which column feeds a field; repeatable."),
    click.option("--set", "overrides", metavar="SECTION.KEY=VALUE", multiple=True, help="A key of the config, as a TOML value; repeatable."),
)
_RUN_OPTIONS: Final = (
    click.argument("config", required=False),
    *_DATA_OPTIONS,
    click.option("--where", metavar="FIELD=VALUE", multiple=True, help="Only the rows that have this value; repeatable."),
    click.option("--metric", "metrics", metavar="NAME", multiple=True, help="Instead of [run] metrics; repeatable."),
    click.option("--limit", type=click.IntRange(min=1), help="Only the first N rows."),
    click.option("--on-missing", type=click.Choice(["stop", "skip"]), help="What a row does that lacks a field."),
    click.option("--mode", type=click.Choice(["live", "cache", "replay"]), help="Where replies of models come from."),
    click.option("--budget", type=click.FloatRange(min=0), metavar="USD", help="Most that may be spent."),
    click.option("--min-trials", type=click.IntRange(min=1), metavar="K", help="Leave tasks with fewer trials out of pass@k and pass^k, counted."),
    click.option("--expect-plan", metavar="ID", help="Refuse to run another plan than this one."),
    click.option("--concurrency", type=click.IntRange(min=1), help="Requests in flight, for every model."),
    click.option("--by", "slices", metavar="FIELD", multiple=True, help="Also break the numbers down by a field; repeatable."),
    click.option("--name", help="A name for the run."),
)


def data_options(function: F) -> F:
    """The options that say which rows."""
    for option in reversed(_DATA_OPTIONS):
        function = option(function)
    return function


def run_options(function: F) -> F:
    """The options of `run`, which `check` takes too."""
    for option in reversed(_RUN_OPTIONS):
        function = option(function)
    return function


def settings_of(session: Session, typed: dict[str, Any]) -> Settings:
    """The settings of the config that was named, else of ./metrics.toml, else the defaults, with what was typed laid over."""
    from measurand.config import from_mapping, load

    path = Path(typed["config"]) if typed.get("config") else session.config
    overrides = (*typed.get("overrides", ()), *_typed_keys(typed))
    if path is None and Path(CONFIG_NAME).exists():
        path = Path(CONFIG_NAME)
    if path is None and not typed.get("data"):
        raise UsageError(
            Problem("no_config", CONFIG_NAME, "there is no such file here", "write one with metrics init --for FILE, or give --data FILE and --metric NAME")
        )
    settings: Settings = from_mapping({}, Path.cwd(), overrides, environ=os.environ) if path is None else load(path, overrides, environ=os.environ)
    if typed.get("concurrency"):
        runtimes = [f"models.{json.dumps(name)}.max_concurrency={typed['concurrency']}" for name in settings.models]
        return settings_of(session, {**typed, "concurrency": None, "overrides": (*typed.get("overrides", ()), *runtimes)})
    return settings


def _typed_keys(typed: dict[str, Any]) -> Iterator[str]:
    for option, key in (("on_missing", "on_missing"), ("mode", "mode"), ("budget", "budget_usd")):
        if typed.get(option) is not None:
            yield f"run.{key}={json.dumps(typed[option])}"


def plan_of(session: Session, typed: dict[str, Any]) -> Plan:
    """The plan of what was typed. Where the config is wrong, what is left of it is checked all the same, so that every problem is told at once."""
    from measurand.config import in_order
    from measurand.run.plan import check_expected, make_plan

    try:
        settings = settings_of(session, typed)
    except ConfigError as error:
        raise ConfigError(in_order([*error.problems, *_further_problems(error.partial, typed)])) from None
    return check_expected(make_plan(settings, run_options_of(settings, typed)), typed["expect_plan"])


def _further_problems(partial: Settings | None, typed: dict[str, Any]) -> list[Problem]:
    from measurand.run.plan import make_plan

    if partial is None:
        return []
    try:
        found: tuple[Problem, ...] = make_plan(partial, run_options_of(partial, typed)).problems
    except ProblemsError as error:
        found = error.problems
    return [problem for problem in found if problem.code not in _FOLLOWING]


def run_options_of(settings: Settings, typed: dict[str, Any]) -> RunOptions:
    """What one run is asked beside its settings."""
    from measurand.run.plan import RunOptions

    data = typed.get("data")
    return RunOptions(
        data=rows_of(data, settings),
        label=data if data and data.startswith(STORED) else None,
        columns=pairs(typed["columns"], "--column", "FIELD=COLUMN"),
        where=tuple(pair(one, "--where", "FIELD=VALUE") for one in typed["where"]),
        limit=typed["limit"],
        metrics=typed["metrics"],
        slices=typed["slices"],
        name=typed["name"],
        min_trials=typed["min_trials"],
        cassette=typed.get("records"),
        trust_imported=typed.get("trust_imported", False),
    )


def rows_of(data: str | None, settings: Settings) -> Any:
    """What `--data` says: a path, "-", or the rows of an earlier run; None where it was not given."""
    if data is None or data == "-":
        return data
    if data.startswith(STORED):
        return _stored_rows(data.removeprefix(STORED), settings)
    confine(data, "--data")
    return data


def _stored_rows(ref: str, settings: Settings) -> list[dict[str, Any]]:
    with read_run(ref, settings) as run:
        rows = [sample.row for sample in run.samples()]
        if run.info.config.get("run", {}).get("content", "full") != "full" or any(row is None for row in rows):
            raise UsageError(
                Problem(
                    "no_content",
                    f"--data {STORED}{ref}",
                    "the run was kept without its texts",
                    'score the original file; only runs with content = "full" keep their rows',
                )
            )
        return rows


def pairs(texts: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """`FIELD=COLUMN` texts as a mapping. Raises `UsageError` for a field named twice."""
    found: dict[str, str] = {}
    for text in texts:
        key, value = pair(text, option, form)
        if key in found:
            raise UsageError(Problem("twice", option, f"names two columns for {key}: {found[key]} and {value}", "keep one"))
        found[key] = value
    return found


def pair(text: str, option: str, form: str) -> tuple[str, str]:
    """The two sides of the first `=`."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(Problem("bad_option", option, f"'{text}' has no '='", f"write {option} {form}"))
    return key, value
