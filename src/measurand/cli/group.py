"""The group of commands. A command's module is imported when it is typed, so that none pays for another."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import click

from measurand import __version__
from measurand.cli.session import Session, global_options, shown_by_us
from measurand.core.errors import Problem, UsageError, did_you_mean
from measurand.report import terminal

COMMANDS: Final = {
    "list": ("measurand.cli.list_:list_", "What can be measured: find metrics by category, need, cost, your data."),
    "show": ("measurand.cli.show:show", "One metric in full, with an example computed on the spot."),
    "categories": ("measurand.cli.categories:categories", "Every flag, what it means, how many metrics have it."),
    "init": ("measurand.cli.init:init", "Write a commented metrics.toml for your data."),
    "schema": ("measurand.cli.schema:schema", "JSON Schemas of the config, of records and of every --json output."),
    "check": ("measurand.cli.check:check", "Everything a run needs, all problems at once; sends nothing."),
    "score": ("measurand.cli.score:score", "Rows in, results out as JSON Lines; a filter, nothing is stored."),
    "run": ("measurand.cli.run:run", "Score a dataset and store the results."),
    "runs": ("measurand.cli.runs:runs", "What was run."),
    "results": ("measurand.cli.results:results", "The rows of a run, or one row in full."),
    "export": ("measurand.cli.export:export", "A run as JSON Lines, CSV, Parquet, or whole."),
    "cache": ("measurand.cli.cache:cache", "Recorded calls: what there is, to a file, from one, away."),
    "delete": ("measurand.cli.delete:delete", "Remove runs, or one row everywhere."),
}
"""Name → module:attribute, and its line in `metrics --help`."""

LATER: Final = (
    "compare", "gate", "power", "report", "import", "convert", "calibrate", "label", "audit", "explain", "lock", "serve",
)  # fmt: skip
"""Commands of the interface that this version does not have yet."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are typed."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`-h`, `--help`."""
        return shown_by_us(super().get_help_option(ctx))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """In the order of the table, which is the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """The command, or None for a word that is none."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Raises `UsageError` for a word that is no command, naming the nearest."""
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            raise UsageError(_unknown(args[0]))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        """From the table, so that no command's module is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def _unknown(word: str) -> Problem:
    if word in LATER:
        return Problem("not_yet", f"metrics {word}", f"measurand {__version__} does not have this command yet", "metrics --help shows those there are")
    hint = did_you_mean(word, COMMANDS) or "metrics --help shows those there are"
    return Problem("unknown_command", "metrics", f"there is no command '{word}'", hint)


@click.group(
    cls=LazyGroup,
    params=[*global_options(), click.Option(["_version", "--version"], is_flag=True, is_eager=True, help="Say the version and end.")],
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.pass_context
def metrics(context: click.Context, /, _version: bool, **typed: Any) -> int:
    """Measure LLM, RAG and agent systems: find a metric, check a plan, run it, read numbers with their intervals.

    First steps: metrics list · metrics init --for data.jsonl · metrics check · metrics run
    """
    if _version:
        terminal.write(f"measurand {__version__}")
        context.exit(0)
    context.obj = Session.of(typed)
    if context.invoked_subcommand is None:
        terminal.say(context.get_help(), always=True)
        context.exit(2)
    return 0
