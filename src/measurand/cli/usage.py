"""What click found wrong with a command line, as one of our problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from measurand.cli.group import COMMANDS
from measurand.core.errors import Problem, did_you_mean

_ALSO: Final = "{path} --help shows all it takes"


def usage_problem(error: click.ClickException, words: Sequence[str]) -> Problem:
    """The problem with where it was typed and the nearest thing that exists. `words` are the command line."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = next((word for word in words if word in COMMANDS), None)
    path = context.command_path if context is not None else f"metrics {command}" if command else "metrics"
    match error:
        case click.exceptions.NoArgsIsHelpError(ctx=click.Context(command=click.Group() as group) as bare):
            words_after = ", ".join(group.list_commands(bare))
            return Problem("missing_argument", path, "the word after it is missing", f"there are {words_after}; {_ALSO.format(path=path)}")
        case click.NoSuchOption(option_name=name):
            return Problem("unknown_option", path, f"there is no option {name}", _option_hint(name, context, path))
        case click.MissingParameter(param=param):
            name = param.make_metavar(context) if param is not None and context is not None else "an argument"
            shown = param.opts[-1] if isinstance(param, click.Option) else name
            return Problem("missing_argument", path, f"{shown} is missing", _usage(context) or _ALSO.format(path=path))
        case click.BadParameter(param=param):
            named = param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name if param is not None else "an argument"
            return Problem("bad_option", f"{path} {named}", _sentence(error.message))
        case _:
            return Problem("bad_usage", path, _sentence(error.format_message()), _usage(context) or _ALSO.format(path=path))


def _option_hint(name: str, context: click.Context | None, path: str) -> str:
    if context is None:
        return _ALSO.format(path=path)
    known = [option for param in context.command.get_params(context) for option in (*param.opts, *param.secondary_opts) if option.startswith("-")]
    if isinstance(context.command, click.Group):
        alike = [option for option in known if option.lstrip("-")[:1] == name.lstrip("-")[:1]]
        return did_you_mean(name, alike) or f"options of a command stand after it: metrics COMMAND {name}"
    return did_you_mean(name, known) or _ALSO.format(path=path)


def _usage(context: click.Context | None) -> str:
    return "" if context is None else context.get_usage().replace("Usage: ", "usage: ").replace("\n", " ").strip()


def _sentence(text: str) -> str:
    text = text.strip().removesuffix(".")
    return text[:1].lower() + text[1:]
