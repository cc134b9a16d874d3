"""What every command is given: the options of all commands, accepted before and after the command's name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from attrs import frozen

from measurand.report import terminal

if TYPE_CHECKING:
    from pathlib import Path

Function = TypeVar("Function", bound=Callable[..., Any])

_PRIVATE: Final = ("_config", "_load", "_color", "_quiet", "_verbose")


@frozen
class Session:
    """What was typed for all commands."""

    config: Path | None = None
    load: tuple[Path, ...] = ()
    color: terminal.Color | None = None
    quiet: bool = False
    verbose: bool = False

    def imported(self) -> None:
        """Imports the files of `--load`, once, so that the metrics declared there are known. Raises `UsageError` naming file and line."""
        if self.load:
            from measurand.cli.loading import import_file

            for path in self.load:
                import_file(path)

    def over(self, outer: Session) -> Session:
        """This one, typed after the command's name, over `outer`, typed before it."""
        return Session(
            config=self.config or outer.config,
            load=(*outer.load, *self.load),
            color=self.color or outer.color,
            quiet=self.quiet or outer.quiet,
            verbose=self.verbose or outer.verbose,
        )

    @classmethod
    def of(cls, typed: dict[str, Any]) -> Session:
        """Takes the options of all commands out of what click read."""
        config, load, color, quiet, verbose = (typed.pop(name, None) for name in _PRIVATE)
        if not config and not load:
            return cls(color=color, quiet=bool(quiet), verbose=bool(verbose))
        from pathlib import Path

        return cls(Path(config) if config else None, tuple(Path(one) for one in load or ()), color, bool(quiet), bool(verbose))


def global_options(*, config_flag: bool = False) -> list[click.Parameter]:
    """The options of all commands. `config_flag`: the command has a `--config` of another meaning, so that only `-c` names the file."""
    names = ["-c"] if config_flag else ["-c", "--config"]
    return [
        click.Option(["_config", *names], metavar="FILE", help="The config, default ./metrics.toml."),
        click.Option(["_load", "--load"], metavar="FILE.py", multiple=True, help="Import a file whose @metric functions are then known; repeatable."),
        click.Option(["_color", "--color"], type=click.Choice(["auto", "always", "never"]), help="Colour; auto: on a terminal without NO_COLOR."),
        click.Option(["_quiet", "-q", "--quiet"], is_flag=True, help="No messages but errors."),
        click.Option(["_verbose", "-v", "--verbose"], is_flag=True, help="More messages."),
    ]


def shown_by_us(option: click.Option | None) -> click.Option | None:
    """The help option, printing as everything else is printed: in any encoding, to any stdout."""

    def show(context: click.Context, param: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            terminal.write(context.get_help())
            context.exit()

    if option is not None:
        option.callback = show
    return option


class Command(click.Command):
    """A command whose help lists its own options, and those of all commands in one line."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`-h`, `--help`."""
        return shown_by_us(super().get_help_option(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Own options in full."""
        own = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and param.name not in _PRIVATE]
        records = [record for record in (param.get_help_record(ctx) for param in own) if record is not None]
        if records:
            with formatter.section("Options"):
                formatter.write_dl(records)
        with formatter.section("Also"):
            formatter.write_text("-c FILE, --load FILE.py, --color WHEN, -q, -v as in `metrics --help`.")


def command(name: str) -> Callable[[Function], click.Command]:
    """Makes a function a command: its docstring is the help, its first parameter the `Session`, the rest the options that `click.option` gives it."""

    def made(function: Function) -> click.Command:
        own: list[click.Parameter] = list(reversed(getattr(function, "__click_params__", [])))
        flag = any("--config" in param.opts for param in own)

        @functools.wraps(function)
        def run(**typed: Any) -> Any:
            context = click.get_current_context()
            session = Session.of(typed).over(context.obj or Session())
            terminal.set_up(color=session.color or "auto", quiet=session.quiet)
            session.imported()
            return function(session, **typed)

        return Command(name, callback=run, params=[*own, *global_options(config_flag=flag)], help=function.__doc__)

    return made
