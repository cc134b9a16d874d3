"""The entry point: runs what was typed, and turns what went wrong into words and an exit code. Nothing else decides an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from measurand.core.errors import Problem

DONE: Final = 0
WRONG: Final = 2
INTERNAL: Final = 70
INTERRUPTED: Final = 130

_BRIEF: Final = frozenset({"list", "show", "categories", "-h", "--help"})
"""Commands that declare metrics, print, and end: collecting garbage would be a twentieth of their time and frees nothing."""

_SENDING: Final = frozenset({"check", "run", "score"})
"""Commands that could have sent something: with several problems they say that nothing was."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line (default: the process's own) and returns its exit code, see interface.md; 1 comes from `gate` alone."""
    words = list(sys.argv[1:] if argv is None else argv)
    _tolerate()
    brief = words[:1] and words[0] in _BRIEF and not any(word.startswith("--for") for word in words)
    if brief:
        gc.disable()
    try:
        return _finished(words)
    finally:
        gc.enable()


def _finished(words: Sequence[str]) -> int:
    """The exit code once everything printed has left: a reader that went away is no failure, a full disk behind `>` is one and is said once."""
    from measurand.report.terminal import StdoutError, flush, set_up

    set_up()
    try:
        code = _version() if words == ["--version"] else _answered(words)
        flush()
    except BrokenPipeError:
        _close_quietly()
        return DONE
    except StdoutError as error:
        _close_quietly()
        if sys.stderr is not None:
            sys.stderr.write(f"stdout: cannot be written: {error}\n")
        return WRONG
    return code


def _tolerate() -> None:
    """A character that a terminal's encoding lacks is never a reason to fail; our own are replaced before, in `report.terminal`."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _version() -> int:
    from measurand import __version__
    from measurand.report.terminal import write

    write(f"measurand {__version__}")
    return DONE


def _answered(words: Sequence[str]) -> int:
    import click

    from measurand.core.errors import MeasurandError, Problem, ProblemsError
    from measurand.report.terminal import StdoutError

    as_json = _wants_json(words)
    try:
        return _run(words)
    except click.ClickException as error:
        from measurand.cli.usage import usage_problem

        return _say_problems([usage_problem(error, words)], WRONG, as_json)
    except ProblemsError as error:
        return _say_problems(error.problems, error.exit_code, as_json, sends=not _SENDING.isdisjoint(words))
    except MeasurandError as error:
        return _say_problems([Problem(_code_of(error), "", str(error))], error.exit_code, as_json)
    except (BrokenPipeError, StdoutError):
        raise
    except (KeyboardInterrupt, click.Abort):
        return _say_problems([Problem("interrupted", "", "interrupted")], INTERRUPTED, as_json)
    except Exception as error:  # noqa: BLE001  # a bug says so in one line; the traceback goes into a file
        from measurand.cli.crash import internal_error

        return _say_problems([internal_error(error, words)], INTERNAL, as_json)


def _run(words: Sequence[str]) -> int:
    """What click's own `main` does, without its ideas about exit codes."""
    import click

    from measurand.cli.group import metrics

    try:
        with metrics.make_context("metrics", list(words)) as context:
            code = metrics.invoke(context)
            return code if isinstance(code, int) else DONE
    except click.exceptions.Exit as end:
        return end.exit_code


def _wants_json(words: Sequence[str]) -> bool:
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _code_of(error: Exception) -> str:
    name = type(error).__name__.removesuffix("Error")
    return "".join(f"_{one.lower()}" if one.isupper() and at else one.lower() for at, one in enumerate(name))


def _say_problems(problems: Sequence[Problem], code: int, as_json: bool, *, sends: bool = False) -> int:
    from measurand.report import terminal
    from measurand.report.problems_text import problem_lines, problems_json

    if as_json:
        if not terminal.document_printed():
            terminal.print_json(problems_json(problems))
    else:
        terminal.say("\n".join(problem_lines(problems, sent_nothing=sends and code == WRONG)), always=True)
    return code


def _close_quietly() -> None:
    """Nobody reads on: whatever is still buffered goes nowhere, also what the interpreter flushes at its end."""
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
