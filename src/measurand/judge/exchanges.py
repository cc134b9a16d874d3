"""One exchange for each kind of request and each way of asking: what is shown, what is said, and how the reply is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import frozen

from measurand.core.errors import InvalidFieldError
from measurand.core.exchange import Completion, ModelRequest, Way
from measurand.core.request import Ask, Choice, Form, Option, Prefer, Split, Verdict, Write
from measurand.judge import forms
from measurand.judge.exchange import Exchange
from measurand.judge.logprobs import Distribution, read_list, read_single
from measurand.judge.needs import Cut, Needs, needs, split_needs
from measurand.judge.prompt import data, fields_in, messages
from measurand.judge.reply import options_of, read_answer, read_json, said, texts_of
from measurand.judge.row import Row
from measurand.judge.shown import visible
from measurand.judge.typed import read_typed, typed_questions

PAIR: Final = Choice({"A": Option("", 1.0), "B": Option("", 0.0)})
"""The form of a comparison; its value is p(A)."""

_SINGLE_TOKENS: Final = 4
"""Room for a first token of white space or markdown, and to see that an answer does not go on as another word."""


@frozen
class Reading:
    """What one reply says: a `Verdict`, a list of them, or texts; `mass` is what lay on valid answers, for each verdict."""

    value: Any
    flags: tuple[str, ...] = ()
    mass: tuple[float, ...] = ()


# ---------------------------------------------------------------- closed questions


def closed_question(request: Ask, row: Row, way: Way, draw: int = 0, cut: Cut = None) -> Exchange:
    """An `Ask`, over items or not. With `cut`, only some of the passages are shown, or gone through."""
    needed = needs(request, row, cut)
    shown = data(row, needed.fields, needed.extra, needed.instead)
    way = forms.way_of(request.form, way)
    items = None if request.over is None else needed.items
    if way == "typed":
        typed = typed_questions(request, row, needed)
        return Exchange(ModelRequest(messages(shown, needed.words, ""), draw=draw, typed=typed), _typed_reader(request.form, items), 2 * max(1, needed.n))
    if items is None:
        return _single(shown, needed.words, request.form, way, draw)
    return _list(shown, needed.words, request.form, way, draw, needed.n)


def _single(shown: str, words: str, form: Form, way: Way, draw: int) -> Exchange:
    told = messages(shown, words, forms.single_words(form, way))
    labels = forms.labels_of(form, way)
    if way == "logprobs":

        def read_tokens(completion: Completion) -> Reading:
            said(completion, cut_is_fine=True)
            return _weighed(form, [read_single(completion, labels, shown)])

        return Exchange(ModelRequest(told, logprobs=True, max_tokens=_SINGLE_TOKENS, draw=draw), read_tokens, 1)

    def read_text(completion: Completion) -> Reading:
        return Reading(certain(form, read_answer(said(completion), labels, "answer", shown)))

    return Exchange(ModelRequest(told, schema=forms.closed(answer=forms.answer_schema(form)), draw=draw), read_text, 5)


def _list(shown: str, words: str, form: Form, way: Way, draw: int, n: int) -> Exchange:
    told = messages(shown, words, forms.list_words(form, way, n))
    labels = forms.labels_of(form, way)
    if way == "logprobs":

        def read_tokens(completion: Completion) -> Reading:
            said(completion)
            return _weighed(form, read_list(completion, labels, n), many=True)

        return Exchange(ModelRequest(told, logprobs=True, max_tokens=8 * n + 16, draw=draw), read_tokens, 4 * n)

    def read_text(completion: Completion) -> Reading:
        value = read_json(said(completion), "answers", data=shown)["answers"]
        return Reading([certain(form, option) for option in options_of(value, labels, n)])

    schema = forms.closed(answers=forms.exactly(n, forms.answer_schema(form)))
    return Exchange(ModelRequest(told, schema=schema, draw=draw), read_text, 5 + 2 * n)


def certain(form: Form, option: str) -> Verdict:
    """A verdict without probabilities: all on one option."""
    return Verdict(form, {one: 1.0 if one == option else 0.0 for one in form.options})


def _weighed(form: Form, found: Sequence[Distribution], *, many: bool = False) -> Reading:
    verdicts = [Verdict(form, one.probabilities) for one in found]
    flags = tuple(dict.fromkeys(flag for one in found for flag in one.flags))
    return Reading(verdicts if many else verdicts[0], flags, tuple(round(one.mass, 6) for one in found))


def _typed_reader(form: Form, items: Sequence[str] | None) -> Callable[[Completion], Reading]:
    def read(completion: Completion) -> Reading:
        if completion.typed is None:
            said(completion)
        verdicts = read_typed(completion.typed or {}, form, 1 if items is None else len(items))
        return Reading(verdicts[0] if items is None else verdicts)

    return read


# ---------------------------------------------------------------- texts


def split(request: Split, row: Row, way: Way, count: Callable[[str], int]) -> Exchange:
    """A `Split`: its reading is every claim the reply gives, more than `max_claims` too."""
    _need_words(way, "split a text into claims")
    needed = split_needs(request, row)
    shown = data(row, needed.fields, needed.extra)
    told = messages(shown, needed.words, forms.CLAIMS_JSON)

    def read(completion: Completion) -> Reading:
        return Reading(texts_of(read_json(said(completion), "claims", data=shown)["claims"]))

    schema = forms.closed(claims={"type": "array", "items": {"type": "string"}})
    return Exchange(ModelRequest(told, schema=schema), read, 8 + count(request.text) * 6 // 5)


def write(request: Write, row: Row, way: Way) -> Exchange:
    """A `Write`."""
    _need_words(way, "write texts")
    shown = data(row, fields_in(request.instruction))
    told = messages(shown, request.instruction, forms.TEXTS_JSON.format(n=forms.texts(request.n)))

    def read(completion: Completion) -> Reading:
        return Reading(texts_of(read_json(said(completion), "texts", data=shown)["texts"], request.n))

    schema = forms.closed(texts=forms.exactly(request.n, {"type": "string"}))
    return Exchange(ModelRequest(told, schema=schema), read, 5 + 30 * request.n)


def prefer(request: Prefer, row: Row, way: Way, draw: int, *, swapped: bool) -> Exchange:
    """One order of a `Prefer`; its reading is over A and B as they are shown."""
    first, second = (request.b, request.a) if swapped else (request.a, request.b)
    names = fields_in(request.question)
    pair = {"A": visible(first), "B": visible(second)}
    words = forms.PREFER.format(question=request.question or forms.BETTER)
    shown = data(row, names, pair)
    if way != "typed":
        return _single(shown, words, PAIR, way, draw)
    typed = typed_questions(Ask(words, PAIR), row, Needs(tuple(names), pair, {}, words, 0, ()))
    return Exchange(ModelRequest(messages(shown, words, ""), draw=draw, typed=typed), _typed_reader(PAIR, None), 2)


def _need_words(way: Way, what: str) -> None:
    if way == "typed":
        raise InvalidFieldError(f"this judge answers typed questions only; it cannot {what}; bind a model that writes")
