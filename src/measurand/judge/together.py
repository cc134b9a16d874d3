"""Several questions about one row as one request: its fields are shown once, and each question has a key of its own in the reply."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from measurand.core.exchange import Completion, ModelRequest
from measurand.core.request import Ask, Form, Prefer, Request, Split, Verdict, Write, YesNo
from measurand.judge import forms
from measurand.judge.exchange import Exchange, Unreadable
from measurand.judge.exchanges import PAIR, certain
from measurand.judge.needs import Needs, needs, split_needs
from measurand.judge.prompt import data, fields_in, messages
from measurand.judge.reply import option_of, options_of, read_json, said, texts_of
from measurand.judge.row import Row
from measurand.judge.shown import visible


@frozen
class _Part:
    """One key of the reply: what its question needs to see, its words, the schema of its answer, and how that is read."""

    needed: Needs
    words: str
    shape: str
    """What the answer is, in words."""
    schema: Mapping[str, Any]
    read: Callable[[Any], Any]
    output_tokens: int


def together(requests: Sequence[Request[Any]], row: Row, *, draw: int = 0) -> Exchange:
    """The requests as one; it is read to a list with one entry for each, in order: verdicts or texts, or an `Unreadable` where that answer is none.

    All of them are of one visibility class. Raises `InvalidFieldError` when a field cannot be shown.
    """
    beside = {name for request in requests for name in _named(request, row)}
    parts: dict[str, _Part] = {}
    keys_of: list[tuple[str, ...]] = []
    instead: dict[str, str] = {}
    for request in requests:
        made = _parts(request, row, len(parts) + 1, beside, instead, alone=len(requests) == 1)
        keys_of.append(tuple(made))
        parts |= made
        for part in made.values():
            instead |= part.needed.instead
    fields = [name for part in parts.values() for name in part.needed.fields]
    extra = {name: text for part in parts.values() for name, text in part.needed.extra.items()}
    shown = data(row, fields, extra, instead)
    schema = forms.closed(**{key: part.schema for key, part in parts.items()})
    questions = "\n".join(forms.KEYED.format(key=key, shape=part.shape, words=part.words) for key, part in parts.items())
    told = messages(shown, questions, forms.TOGETHER)

    def read(completion: Completion) -> list[Any]:
        answers = read_json(said(completion), *parts, data=shown)
        return [_combined(request, [_read(key, parts[key], answers) for key in keys]) for request, keys in zip(requests, keys_of, strict=True)]

    return Exchange(ModelRequest(told, schema=schema, draw=draw), read, 3 + sum(part.output_tokens for part in parts.values()))


def _read(key: str, part: _Part, answers: Mapping[str, Any]) -> Any:
    if key not in answers:
        return Unreadable(f"it has no key '{key}'")
    try:
        return part.read(answers[key])
    except Unreadable as wrong:
        return Unreadable(f"{key}: {wrong}")


def _combined(request: Request[Any], readings: Sequence[Any]) -> Any:
    if not isinstance(request, Prefer):
        return readings[0]
    wrong = next((one for one in readings if isinstance(one, Unreadable)), None)
    return wrong or Verdict.yes((readings[0].probabilities["A"] + readings[1].probabilities["B"]) / 2)


def _named(request: Request[Any], row: Row) -> Sequence[str]:
    """The fields that a request shows whatever else is asked."""
    match request:
        case Ask(question=words) | Prefer(question=words) | Write(instruction=words):
            return fields_in(words)
        case Split():
            return split_needs(request, row).fields
        case _:
            return ()


def _parts(request: Request[Any], row: Row, number: int, beside: Collection[str], taken: Mapping[str, str], *, alone: bool) -> dict[str, _Part]:
    key = "" if alone else str(number)
    match request:
        case Ask():
            return {f"q{number}": _closed(request, row, key, beside, taken)}
        case Split():
            return {f"q{number}": _claims(request, row, key)}
        case Write():
            return {f"q{number}": _texts(request)}
        case Prefer():
            return {f"q{number + swapped}": _pair(request, str(number + swapped), swapped=swapped) for swapped in (False, True)}
        case _:
            raise TypeError(f"a judge is not asked {type(request).__name__}")


def _closed(request: Ask, row: Row, key: str, beside: Collection[str], taken: Mapping[str, str]) -> _Part:
    needed = needs(request, row, key=key, beside=beside, taken=taken)
    form = request.form
    labels = forms.labels_of(form, "sampled")
    told = forms.TRUTH if isinstance(form, YesNo) else forms.allowed(form, labels)
    answer = forms.answer_schema(form)
    words = _words(needed.words, form)
    if request.over is None:
        return _Part(needed, words, told, answer, lambda found: certain(form, option_of(found, labels)), 5)
    n = needed.n

    def read(found: Any) -> list[Verdict]:
        return [certain(form, option) for option in options_of(found, labels, n)]

    many = forms.truths(n) if isinstance(form, YesNo) else forms.LIST_OF.format(n=n, labels=told)
    return _Part(needed, words, many, forms.exactly(n, answer), read, 5 + 2 * n)


def _words(question: str, form: Form) -> str:
    meanings = forms.described(form, forms.labels_of(form, "sampled"))
    return f"{question}\n{meanings}" if meanings else question


def _claims(request: Split, row: Row, key: str) -> _Part:
    needed = split_needs(request, row, key)
    most = request.max_claims
    schema = {"type": "array", "items": {"type": "string"}}
    return _Part(needed, needed.words, forms.CLAIMS, schema, lambda found: texts_of(found)[:most], 5 + len(request.text) // 3)


def _texts(request: Write) -> _Part:
    n = request.n
    needed = Needs(tuple(fields_in(request.instruction)), {}, {}, request.instruction, 0, ())
    return _Part(needed, request.instruction, forms.texts(n), forms.exactly(n, {"type": "string"}), lambda found: texts_of(found, n), 5 + 30 * n)


def _pair(request: Prefer, key: str, *, swapped: bool) -> _Part:
    """One order of a comparison: both are in the reply, as two requests would have them."""
    first, second = (request.b, request.a) if swapped else (request.a, request.b)
    names = (f"A{key}", f"B{key}")
    extra = dict(zip(names, (visible(first), visible(second)), strict=True))
    needed = Needs(tuple(fields_in(request.question)), extra, {}, request.question, 0, ())
    words = f"A is `{names[0]}`, B is `{names[1]}`: {request.question or forms.BETTER}"
    return _Part(needed, words, "A or B", forms.answer_schema(PAIR), lambda found: certain(PAIR, option_of(found, {"A": "A", "B": "B"})), 5)
