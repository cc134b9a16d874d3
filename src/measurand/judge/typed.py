"""Typed questions, for a provider whose wire format they are: state and questions go out, probabilities come back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from measurand.core.coerce import Invalid
from measurand.core.plain import plain
from measurand.core.request import Ask, Choice, Form, Scale, Verdict, YesNo
from measurand.judge.exchange import Unreadable
from measurand.judge.needs import Needs
from measurand.judge.prompt import fields_in
from measurand.judge.reply import fold
from measurand.judge.row import Row

_TOLERANCE: Final = 0.01
"""How far the probabilities of a reply may be from adding up to 1, for servers that round them."""


def typed_questions(request: Ask, row: Row, needed: Needs) -> dict[str, Any]:
    """`{"state": {field: value}, "questions": {"q1": {"type": …, "question": …}}}`; over items one question for each, the items in the state."""
    named = [name for name in fields_in(request.question) if row.has(name)]
    state: dict[str, Any] = {name: _value(row, name) for name in named}
    if request.over is None:
        state |= {**needed.extra, **needed.instead}
        return {"state": state, "questions": {"q1": _question(request.form, request.question)}}
    state |= {name: text for name, text in needed.instead.items() if name in named}
    state["items"] = list(needed.items)
    each = (f"With item {number} of `items` as `item`: {request.question}" for number in range(1, needed.n + 1))
    return {"state": state, "questions": {f"q{number}": _question(request.form, words) for number, words in enumerate(each, 1)}}


def _value(row: Row, name: str) -> Any:
    value = row.value(name)
    if isinstance(value, Invalid):
        raise value.as_error(name)
    return plain(value)


def _question(form: Form, words: str) -> dict[str, Any]:
    match form:
        case YesNo():
            return {"type": "noul", "question": words}
        case Scale(levels=levels):
            return {"type": "score", "question": words, "levels": list(levels)}
        case Choice(choices=choices):
            return {"type": "choice", "question": words, "options": {name: option.means for name, option in choices.items()}}


def read_typed(reply: Mapping[str, Mapping[str, float]], form: Form, n: int) -> list[Verdict]:
    """The verdicts of `n` questions. Raises `Unreadable` for a missing one, a foreign answer, or what is no distribution."""
    return [_verdict(reply.get(f"q{number}"), form, number) for number in range(1, n + 1)]


def _verdict(answers: Mapping[str, float] | None, form: Form, number: int) -> Verdict:
    if not answers:
        raise Unreadable(f"question {number} has no answer")
    options = {fold(option): option for option in form.options}
    if isinstance(form, YesNo):
        options |= {"true": "yes", "false": "no"}
    found = dict.fromkeys(form.options, 0.0)
    for name, p in answers.items():
        option = options.get(fold(str(name)))
        if option is None:
            raise Unreadable(f"question {number} is answered with something else than {', '.join(form.options)}")
        if not _is_share(p):
            raise Unreadable(f"question {number} has an answer whose probability is not from 0 to 1")
        found[option] += p
    if isinstance(form, YesNo) and len(answers) == 1:
        only = next(option for option in found if option == options[fold(str(next(iter(answers))))])
        found["no" if only == "yes" else "yes"] = 1.0 - found[only]
    total = sum(found.values())
    if abs(total - 1.0) > _TOLERANCE:
        raise Unreadable(f"the probabilities of question {number} add up to {total:g}, not 1")
    return Verdict(form, {option: p / total for option, p in found.items()})


def _is_share(p: Any) -> bool:
    return isinstance(p, (int, float)) and not isinstance(p, bool) and math.isfinite(p) and 0.0 <= p <= 1.0
