"""Sentences in lines that fit, and commands in lines that are never broken."""

from __future__ import annotations

from collections.abc import Sequence

from measurand.report.terminal import columns, width, wrapped

_INDENT = "  "


def hanging(text: str, fit: int | None = None) -> list[str]:
    """A sentence in lines that fit, those after the first one indented."""
    first, *rest = wrapped(text, (width() if fit is None else fit) - len(_INDENT))
    return [first, *(_INDENT + line for line in rest)]


def packed(line: str, steps: Sequence[str]) -> list[str]:
    """The steps behind `line` and each other, a new line before one that does not fit."""
    lines = []
    for at, step in enumerate(steps):
        joined = f"{line} · {step}" if at else f"{line} {step}"
        if columns(joined) > width():
            lines.append(line)
            joined = step
        line = joined
    return [*lines, line]
