"""`metrics cache`: the recorded calls."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import click

from measurand.cli.ages import days
from measurand.cli.reading import confine, read_run, reading_settings
from measurand.cli.session import Session, command, global_options, shown_by_us
from measurand.core.errors import Problem, UsageError, did_you_mean
from measurand.report import terminal

if TYPE_CHECKING:
    from measurand.run.store import Store

_WORDS: Final = ("info", "export", "import", "prune")


class _Group(click.Group):
    """The four words after `cache`."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`-h`, `--help`."""
        return shown_by_us(super().get_help_option(ctx))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """In the order of use."""
        return list(_WORDS)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Raises `UsageError` for a word that is none of them, naming the nearest."""
        if args and args[0] not in _WORDS and not ctx.resilient_parsing:
            hint = did_you_mean(args[0], _WORDS) or f"there are {', '.join(_WORDS)}"
            raise UsageError(Problem("unknown_command", "metrics cache", f"there is no command 'cache {args[0]}'", hint))
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The four words, and what all commands take."""
        help_option = self.get_help_option(ctx)
        record = help_option.get_help_record(ctx) if help_option is not None else None
        with formatter.section("Options"):
            formatter.write_dl([record] if record is not None else [])
        self.format_commands(ctx, formatter)
        with formatter.section("Also"):
            formatter.write_text("-c FILE, --load FILE.py, --color WHEN, -q, -v as in `metrics --help`.")


@click.group("cache", cls=_Group, params=global_options())
@click.pass_context
def cache(context: click.Context, /, **typed: Any) -> None:
    """The recorded calls: how many there are, to a file for git, from one, away with what no run uses.

    Each takes --json.
    """
    context.obj = Session.of(typed).over(context.obj or Session())


@command("info")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def info(session: Session, as_json: bool) -> None:
    """What is recorded.

    How many calls, of which models, how large, how many no run uses.
    """
    from measurand.report.cache_text import info_json, info_lines

    with _store(session) as store:
        groups, shown = store.call_groups(), store.shown
    if as_json:
        terminal.print_json(info_json(groups, shown))
    else:
        terminal.write("\n".join(info_lines(groups, shown)))


@command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--run", "ref", metavar="RUN", default="latest", help="Whose calls; default: latest.")
@click.option("--with-requests", is_flag=True, help="Also what was asked: the texts of the rows.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def export(session: Session, file: Path, ref: str, with_requests: bool, as_json: bool) -> None:
    """The calls of a run, as a file for git.

    A cassette: JSON Lines, which `metrics run --cassette FILE` replays. FILE - is standard output.
    """
    from measurand.report.cache_text import exported_json, exported_lines
    from measurand.run.cassette import write_cassette
    from measurand.run.whole_file import whole_file

    streamed = str(file) == "-"
    if not streamed:
        confine(file, "FILE")
    with read_run(ref, reading_settings(session)) as run:
        if run.call_counts()[0] == 0:
            raise UsageError(Problem("no_calls", "--run", f"run {run.info.label} used no recorded calls", "name another one with --run"))
        with _stdout() if streamed else whole_file(file, "FILE") as stream:
            written = write_cassette(run.all_calls(by_first_use=True), stream, with_requests=with_requests)
        label = run.info.label
    if as_json and not streamed:
        terminal.print_json(exported_json(written, file))
    else:
        for line in exported_lines(written, label, "standard output" if streamed else terminal.shown_path(file)):
            terminal.say(line)


@command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def import_(session: Session, file: Path, as_json: bool) -> None:
    """The calls of a file, into the store.

    All of them or none; nothing is written over. Its replies are marked as imported: they answer in a replay, and in mode cache with --trust-imported.
    """
    from measurand.report.cache_text import imported_json, imported_line
    from measurand.run.cassette import Cassette

    confine(file, "FILE")
    cassette = Cassette(file)
    with _store(session, create=True) as store:
        imported = store.import_calls(cassette)
    if as_json:
        terminal.print_json(imported_json(imported))
    else:
        terminal.write(imported_line(imported))


@command("prune")
@click.option("--unused", is_flag=True, help="All that no run uses.")
@click.option("--older-than", metavar="90d", help="What no run uses and was recorded longer ago.")
@click.option("--dry-run", is_flag=True, help="Only say how many would go.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def prune(session: Session, unused: bool, older_than: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove calls that no run uses.

    Those of a run go with it: metrics delete RUN.
    """
    from measurand.report.cache_text import pruned_json, pruned_line

    if not unused and older_than is None:
        raise UsageError(Problem("bad_usage", "metrics cache prune", "say what to remove", "give --unused, or --older-than 90d"))
    age = None if older_than is None else days(older_than, "--older-than")
    with _store(session) as store:
        count = store.prune(older_than_days=age, dry_run=dry_run)
    if as_json:
        terminal.print_json(pruned_json(count, dry_run=dry_run))
    else:
        terminal.write(pruned_line(count, dry_run=dry_run))


@contextmanager
def _stdout() -> Iterator[IO[bytes]]:
    """Standard output. A reader that goes away is not an error of the file."""
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise terminal.StdoutError(error) from None


def _store(session: Session, *, create: bool = False) -> Store:
    from measurand.run.store import open_store

    return open_store(reading_settings(session).store_url(os.environ), create=create)


for one in (info, export, import_, prune):
    cache.add_command(one)
