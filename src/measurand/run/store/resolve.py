"""RUN on the command line: `latest`, an id, a name, the beginning of an id. Files are tried before, in `runfile.py`."""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy import ColumnElement, Connection, func

from measurand.core.errors import Problem, UsageError, nearest
from measurand.run.store import schema
from measurand.run.store.plain_text import to_column
from measurand.run.store.read import select_runs
from measurand.run.store.values import RunInfo

_LATEST: Final = re.compile(r"latest(?:~([0-9]{1,9}))?")
_SHOWN: Final = 5
_LOOKED_AT: Final = 200  # runs whose ids and names a misspelt one is compared with

Found = tuple[int, RunInfo]


def find(connection: Connection, ref: str, project: str | None, *, code: str, note: str = "") -> Found:
    """The run that `ref` means and its key. UsageError (with problem code `code`) says what there is instead; `note` is added to it."""
    latest = _LATEST.fullmatch(ref)
    if latest is not None:
        return _latest(connection, int(latest[1] or 0), ref, project, code)
    found = select_runs(connection, schema.runs.c.run_id == to_column(ref)) or _named(connection, ref, project, code)
    if not found and ref:
        found = select_runs(connection, _id_begins(ref))
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(info.label for _, info in found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
        raise _problem(code, f"{ref!r} begins the ids of {len(found)} runs", f"type more of one: {shown}")
    raise _unknown(connection, ref, project, code, note)


def _problem(code: str, message: str, hint: str) -> UsageError:
    return UsageError(Problem(code, "RUN", message, hint))


def _id_begins(text: str) -> ColumnElement[bool]:
    beginning = to_column(text)
    return func.substr(schema.runs.c.run_id, 1, len(beginning)) == beginning


def _of_project(project: str | None) -> list[ColumnElement[bool]]:
    return [] if project is None else [schema.runs.c.project == to_column(project)]


def _latest(connection: Connection, back: int, ref: str, project: str | None, code: str) -> Found:
    complete = select_runs(connection, schema.runs.c.status == "complete", *_of_project(project), limit=back + 1)
    if len(complete) > back:
        return complete[back]
    whose = "" if project is None else f" of project {project!r}"
    incomplete = select_runs(connection, schema.runs.c.status == "incomplete", *_of_project(project), limit=1)
    hint = f"the newest incomplete one is {incomplete[0][1].label}; type its id" if incomplete else "`metrics run` makes one; `metrics runs` lists them"
    raise _problem(code, f"{ref!r}: the store has {len(complete) or 'no'} complete run{'s' if len(complete) != 1 else ''}{whose}", hint)


def _named(connection: Connection, name: str, project: str | None, code: str) -> list[Found]:
    runs = schema.runs.c
    named = select_runs(connection, runs.name == to_column(name), runs.status == "complete", *_of_project(project), limit=1)
    if named:
        return named
    if select_runs(connection, _id_begins(name), limit=1):
        return []
    unfinished = select_runs(connection, runs.name == to_column(name), *_of_project(project), limit=1)
    if unfinished:
        hint = f"an incomplete one is: {unfinished[0][1].run_id}; type its id to read it, or finish it with the same `metrics run`"
        raise _problem(code, f"no complete run is named {name!r}", hint)
    elsewhere = select_runs(connection, runs.name == to_column(name), limit=1)
    if elsewhere:
        info = elsewhere[0][1]
        raise _problem(code, f"no run of project {project!r} is named {name!r}", f"one of project {info.project!r} is: {info.run_id}; type its id")
    return []


def _unknown(connection: Connection, ref: str, project: str | None, code: str, note: str) -> UsageError:
    known = [info for _, info in select_runs(connection, *_of_project(project), limit=_LOOKED_AT)]
    near = nearest(ref, [word for info in known for word in (info.name, info.run_id) if word])
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    elif known:
        hint = f"newest: {', '.join(info.label for info in known[:_SHOWN])}; also latest, latest~1"
    else:
        hint = "the store has no runs" + ("" if project is None else f" of project {project!r}") + "; `metrics run` makes one"
    return _problem(code, f"no run has the id, the name or an id beginning {ref!r}{note}", hint)
