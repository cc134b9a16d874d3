"""What the judge must see for a question: its fields, and the items it goes through, shown once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from attrs import frozen

from measurand.core.errors import CellError
from measurand.core.request import Ask, Split
from measurand.judge import forms
from measurand.judge.prompt import fields_in
from measurand.judge.row import Row
from measurand.judge.shown import numbered, visible

PASSAGES: Final = ("contexts", "reference_contexts")
"""Fields that are shown as numbered passages, and in chunks where they do not fit."""
_TEXTS: Final = ("output", "expected", "input")

Cut = tuple[int, int] | None
"""Which of the passages are shown, first and behind the last; None: all."""


@frozen
class Needs:
    """What is shown, and the question that is asked of it. `n` is the number of items, 0 without."""

    fields: tuple[str, ...]
    extra: Mapping[str, str]
    """Texts that are no fields, by the name of their parts."""
    instead: Mapping[str, str]
    """Fields that are shown in another form: some of the passages, a text in numbered parts."""
    words: str
    n: int
    items: tuple[str, ...]


def gone_through(request: Ask, row: Row, beside: Collection[str] = ()) -> str | None:
    """The field whose passages, or whose text in parts, are the items: it is shown as the field it is. None for other items.

    But for `contexts`, only a field that is shown anyway, by the question or by others `beside` it: that a claim stands in the expected answer
    is not for every question to know.
    """
    if not request.over:
        return None
    shown = {*fields_in(request.question), *beside}
    for name in PASSAGES:
        try:
            if row.passages(name) == request.over and (name == "contexts" or name in shown):
                return name
        except CellError:
            continue
    parts = _solid("".join(request.over))
    return next((name for name in _TEXTS if name in shown and isinstance(text := row.value(name), str) and _solid(text) == parts), None)


def _solid(text: str) -> str:
    return "".join(text.split())


def needs(request: Ask, row: Row, cut: Cut = None, *, key: str = "", beside: Collection[str] = (), taken: Mapping[str, str] | None = None) -> Needs:
    """What a question needs.

    `key`: of a question among others, in the names of its items; `beside`: fields that those show, `taken`: in another form than they stand in the row.
    """
    fields = fields_in(request.question)
    items = request.over
    if items is None:
        instead = {} if cut is None else {"contexts": numbered(row.passages("contexts")[cut[0] : cut[1]])}
        return Needs(tuple(fields), {}, instead, request.question, 0, ())
    through = gone_through(request, row, beside)
    if through in PASSAGES and cut is not None:
        items = items[cut[0] : cut[1]]
    shown = numbered(items)
    if through is not None and (taken or {}).get(through, shown) == shown:
        instead = {} if through in PASSAGES and cut is None else {through: shown}
        return Needs((*fields, through), {}, instead, _each(request, through), len(items), items)
    instead = {} if cut is None else {"contexts": numbered(row.passages("contexts")[cut[0] : cut[1]])}
    name = f"{forms.ITEMS}{key}"
    return Needs(tuple(fields), {name: shown}, instead, _each(request, name), len(items), items)


def _each(request: Ask, name: str) -> str:
    return (forms.EACH if name == forms.ITEMS else forms.EACH_OF).format(name=name, question=request.question)


def split_needs(request: Split, row: Row, key: str = "") -> Needs:
    """What a text to be split is shown as: the field it is, else a text of its own."""
    field = next((name for name in _TEXTS if row.value(name) == request.text), None)
    name = field or f"text{key}"
    extra = {} if field else {name: visible(request.text)}
    return Needs((field,) if field else (), extra, {}, forms.SPLIT.format(name=name), 0, ())
