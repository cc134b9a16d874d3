"""Metrics that a config declares: what `[[questions]]` of the config in force say, known to the commands that list and show."""

from __future__ import annotations

import os

from measurand.cli.session import Session
from measurand.report import terminal

_HERE = "metrics.toml"


def questions_known(session: Session) -> None:
    """Makes the questions of `-c FILE` known, else those of ./metrics.toml where it has some.

    Raises `ConfigError` for a config that was named; one that only lies here is said to be wrong and left aside, for what is listed besides does not
    hang on it.
    """
    if session.config is None and not _may_hold_questions():
        return
    from pathlib import Path

    from measurand.config import ConfigError, load
    from measurand.run.questions import question_metrics

    try:
        question_metrics(load(session.config or Path(_HERE), environ=os.environ))
    except ConfigError as error:
        if session.config is not None:
            raise
        terminal.say(terminal.safe(f"{_HERE} cannot be used, so its questions are not known here: {error.problems[0]}"), always=True)


def _may_hold_questions() -> bool:
    """Whether the file here names questions, or extends one that may: a look at its bytes, as reading it in full would be most of a start."""
    try:
        with open(_HERE, "rb") as file:
            text = file.read(1_000_000)
    except OSError:
        return False
    return b"questions" in text or b"extends" in text
