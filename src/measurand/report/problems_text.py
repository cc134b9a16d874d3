"""Problems as people and as programs read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from measurand.core.errors import Problem
from measurand.report.figures import counted
from measurand.report.visible import safe_lines

_ONE_LINE: Final = 120
_HANGING: Final = "            "


def problem_lines(problems: Sequence[Problem], *, sent_nothing: bool) -> list[str]:
    """A line for each problem, its hint below where one line would be long; with several, how many there are."""
    lines = [line for problem in problems for line in _lines(problem)]
    if len(problems) > 1:
        lines.append(f"{counted(len(problems), 'problem')}{', nothing was sent' if sent_nothing else ''}.")
    return lines


def _lines(problem: Problem) -> list[str]:
    whole = safe_lines(str(problem))
    if not problem.hint or len(whole) <= _ONE_LINE:
        return [whole]
    return [safe_lines(f"{problem.where}: {problem.message}" if problem.where else problem.message), safe_lines(_HANGING + problem.hint)]


def problems_json(problems: Sequence[Problem]) -> dict[str, Any]:
    """The document of a command that could not do its work."""
    return {"ok": False, "problems": [{"code": one.code, "where": one.where, "message": one.message, "hint": one.hint} for one in problems]}
