"""A judged metric is data: what is gone through, one closed question with a fixed answer form, and how verdicts fold to a number."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import field, frozen

from measurand.core.errors import DeclarationError, InvalidFieldError, UndefinedError, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.metric import Direction, Metric, Parameter, built_in, declared_metric, named_parameters
from measurand.core.score import Score
from measurand.core.taxonomy import MetricCategory

if TYPE_CHECKING:  # declaring a question needs none of this, and listing metrics declares them all
    from measurand.core.request import Form, Request, Verdict

Fold: TypeAlias = Callable[[Sequence[float]], float | None]
Steps: TypeAlias = "Generator[Request[Any], Any, Score[float]]"

_TICKED: Final = re.compile(r"`([^`]*)`")
_CLAUSE: Final = re.compile(r"\s*[(（][^()（）]*[)）]|(?:`[^`]*`|[.;?!](?!\s|$)|(?! ?[(（])[^.;?!。；？！`])+[.;?!。；？！]?|.", re.DOTALL)
"""A part of a question that is asked or left out as a whole: what stands in brackets, a sentence, what a semicolon ends."""

_PASSAGES: Final = frozenset({"contexts", "reference_contexts"})


@frozen
class Question:
    """What a judged metric asks.

    `claims` names the text whose claims a model extracts, `sentences` the text that is cut in code, `each` the list that is gone through; none of
    them: one question a row.
    """

    ask: str
    answer: Form | tuple[str, ...] | None
    """The form of the answer; the described levels of a scale, worst first; None: yes or no."""
    fold: Fold | None
    direction: Direction
    claims: str | None = None
    sentences: str | None = None
    each: str | None = None
    empty: Mapping[str, str] = field(factory=dict)
    """Field → the answer that is given without asking where the field is there and empty."""

    @property
    def form(self) -> Form:
        """The form of the answer."""
        from measurand.core.request import Scale, YesNo

        if self.answer is None:
            return YesNo()
        return Scale(self.answer) if isinstance(self.answer, tuple) else self.answer

    @property
    def yes_no(self) -> bool:
        """Whether it is answered with yes or no."""
        from measurand.core.request import YesNo

        return isinstance(self.form, YesNo)

    @property
    def options(self) -> tuple[str, ...]:
        """The answers that the form allows."""
        return ("yes", "no") if self.answer is None else self.form.options

    @property
    def through(self) -> str | None:
        """The field whose parts are asked about one by one."""
        return self.claims or self.sentences or self.each

    @property
    def part(self) -> str:
        """What one of those parts is, in words; "" where there are none."""
        if self.through is None:
            return ""
        return f"{'claim' if self.claims else 'sentence' if self.sentences else 'element'} of {self.through}"

    def wording(self, present: frozenset[str]) -> str:
        """The question as it is asked of a row: a clause about an optional field is left out where the field is missing."""
        return _worded(self.ask, present)


@lru_cache(maxsize=1024)
def _worded(ask: str, present: frozenset[str]) -> str:
    kept = "".join(clause for clause in _CLAUSE.findall(ask) if present.issuperset(_optional_in(clause)))
    return kept.replace("?`", "`").strip().rstrip(";")


class _Formula:
    """The bare formula of a judged metric: called with its fields it yields its requests, like a metric that is written as a generator."""

    def __init__(self, name: str, question: Question, parameters: tuple[Parameter, ...]) -> None:
        self.__name__ = self.__qualname__ = name
        self._question = question
        self._parameters = parameters

    def __call__(self, *given: Any, **named: Any) -> Steps:
        names = [one.name for one in self._parameters]
        arguments = dict(zip(names, given, strict=False)) | named
        lacking = [one.name for one in self._parameters if one.required and one.name not in arguments]
        if len(given) > len(names) or not arguments.keys() <= set(names) or lacking:
            raise TypeError(f"{self.__name__} takes {', '.join(names)}{'; missing: ' + ', '.join(lacking) if lacking else ''}")
        return _steps(self._question, {one.field: arguments.get(one.name) for one in self._parameters})

    @property
    def __signature__(self) -> Any:
        from inspect import Parameter as Named
        from inspect import Signature

        return Signature([Named(one.name, Named.POSITIONAL_OR_KEYWORD, default=Named.empty if one.required else None) for one in self._parameters])


def judged(
    name: str,
    categories: MetricCategory,
    *,
    ask: str,
    doc: str,
    form: Form | None = None,
    levels: Sequence[str] | None = None,
    claims: str | None = None,
    sentences: str | None = None,
    each: str | None = None,
    fold: Fold | None = None,
    direction: Direction = "higher",
    empty: Mapping[str, str] | None = None,
    version: str | None = None,
    origin: tuple[str, str] | None = None,
    **stated: Any,
) -> Metric[Any]:
    """Declares a judged metric from its question.

    Words in backticks are fields (or `item`, one claim, sentence or element); `` `expected?` `` is optional, and the clause around it is asked only
    where the field is there. `levels` describe a scale, worst first; without them and `form` the answer is yes or no. Raises `DeclarationError` for a
    word that is neither, for `item` without something to go through, and for items without a fold.
    """
    where = f"{name}: {ask!r}"
    question = Question(ask, form if levels is None else tuple(levels), fold, direction, claims, sentences, each, dict(empty or {}))
    _check(question, where)
    required, optional = _fields_of(question, where)
    parameters = named_parameters(required, optional, where)
    yes_no = question.through is None and (question.answer is None or question.yes_no)
    threshold = stated.pop("threshold", None)
    origin = origin or (sys._getframe(1).f_globals.get("__name__", "__main__"), name)
    metric: Metric[Any] = declared_metric(
        _Formula(name, question, parameters),
        name,
        categories,
        where=where,
        number="proportion",
        judge=True,
        embedder=False,
        steps=True,
        parameters=parameters,
        doc=doc,
        version=version or ("1" if built_in(origin[0]) else _version(question)),
        origin=origin,
        direction=direction,
        threshold=0.5 if threshold is None and yes_no and direction != "none" else threshold,
        judged=question,
        **stated,
    )
    return metric


def _check(question: Question, where: str) -> None:
    if sum(one is not None for one in (question.claims, question.sentences, question.each)) > 1:
        raise DeclarationError(f"{where}: a question goes through one of claims=, sentences= and each=, not several")
    if question.through and question.fold is None:
        raise DeclarationError(f'{where}: several verdicts need a fold, e.g. fold=share("yes")')
    if question.fold is not None and question.through is None:
        raise DeclarationError(f"{where}: a fold needs several verdicts; give claims=, sentences= or each=")
    for name, answer in question.empty.items():
        if answer not in question.options:
            raise DeclarationError(f"{where}: empty= answers '{answer}' for {name}; the question allows {', '.join(question.options)}")


def _version(question: Question) -> str:
    """Eight hex digits over whatever changes a verdict or the number made of them."""
    import hashlib

    fold = None if question.fold is None else getattr(question.fold, "name", getattr(question.fold, "__qualname__", repr(question.fold)))
    decides = (question.ask, repr(question.form), question.claims, question.sentences, question.each, fold, question.direction, sorted(question.empty.items()))
    return hashlib.blake2b(repr(decides).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _optional_in(clause: str) -> list[str]:
    return [word[:-1] for word in _TICKED.findall(clause) if word.endswith("?")]


def wording_problems(ask: str, through: str | None) -> list[tuple[str, str]]:
    """What is wrong with the words of a question that is asked of each part of `through` (None: of the row): (what was found, what to write)."""
    words = list(dict.fromkeys(_TICKED.findall(ask)))
    fields = [word for word in words if word != "item"]
    wrong = [(f"`{word}` is no field", _nearest_field(word)) for word in fields if not _is_field(word.removesuffix("?"))]
    if "item" in words and not through:
        wrong.append(("`item` needs something to go through", 'say what: each = "contexts", claims = "output" …'))
    if "item" not in words and through:
        wrong.append((f"it is asked of each part of {through} and names none", "write `item` where the part is meant"))
    if not any(not word.endswith("?") for word in fields) and not through:
        wrong.append(("the question names no field that it needs", "write the fields it is about in backticks"))
    left = _TICKED.findall(_worded(ask, frozenset()))
    gone = [word for word in words if not word.endswith("?") and word not in left]
    hint = "put what is about the optional field in brackets"
    wrong += [(f"where an optional field is missing, the clause that names `{word}` goes with it", hint) for word in gone]
    return wrong


def _is_field(name: str) -> bool:
    return name in FIELDS or (name.startswith("metadata.") and len(name) > len("metadata."))


def _nearest_field(word: str) -> str:
    return did_you_mean(word.removesuffix("?"), FIELDS) or f"a record has {', '.join(FIELDS)}"


def _fields_of(question: Question, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields that the question needs and those it uses where they are there. Raises `DeclarationError` with everything that is wrong."""
    wrong = [(f"'{name}' is no field", _nearest_field(name)) for name in (question.through, *question.empty) if name is not None and not _is_field(name)]
    wrong += wording_problems(question.ask, question.through)
    if wrong:
        raise DeclarationError(f"{where}: {' '.join(f'{found}; {hint}' if hint.endswith('?') else f'{found}; {hint}.' for found, hint in wrong)}")
    words = dict.fromkeys([*([question.through] if question.through else []), *_TICKED.findall(question.ask)])
    required = tuple(word for word in words if word != "item" and not word.endswith("?"))
    return required, tuple(word[:-1] for word in words if word.endswith("?") and word[:-1] not in required)


# ---------------------------------------------------------------- asking


def _steps(question: Question, values: Mapping[str, Any]) -> Steps:
    from measurand.core.request import Ask

    form = question.form
    texts = {name: _elements(values[name], name) for name in _PASSAGES & values.keys() if values[name] is not None}
    wording = question.wording(frozenset(name for name, value in values.items() if value is not None))
    hollow = next((name for name in question.empty if values.get(name) is not None and _is_empty(texts.get(name, values[name]))), None)
    sure = None if hollow is None else _certain(form, question.empty[hollow])
    reason = {} if hollow is None else {"reason": f"{hollow} is empty; nothing was asked about it"}
    if question.fold is None:
        verdict: Verdict = sure or (yield Ask(wording, form))
        return _single(verdict, reason)
    groups = [texts.get(question.each) or _elements(values[question.each], question.each)] if question.each else (yield from _parts(question, values))
    items = [item for group in groups for item in group]
    if not items:
        return _nothing(question)
    verdicts: Sequence[Verdict] = [sure] * len(items) if sure else (yield Ask(wording, form, over=items))
    return _folded(question, groups, verdicts, reason)


def _certain(form: Form, answer: str) -> Verdict:
    from measurand.core.request import Verdict

    return Verdict(form, {option: float(option == answer) for option in form.options})


def _parts(question: Question, values: Mapping[str, Any]) -> Generator[Request[Any], Any, list[list[str]]]:
    """The claims of a text, or the sentences of each of several texts."""
    from measurand.core.request import Split

    name = question.through or ""
    texts = _texts(values[name], name)
    if not any(text.strip() for text in texts):
        raise UndefinedError(f"{name} is empty", name)
    groups: list[list[str]] = []
    for text in texts:
        found = [] if not text.strip() else (yield Split(text)) if question.claims else _sentences(text)
        groups.append(list(found))
    if not any(groups):
        raise UndefinedError(f"{name} makes no {'claims, as a refusal does' if question.claims else 'sentences'}", name)
    return groups


def _sentences(text: str) -> list[str]:
    from measurand.formula.sentences import sentences

    return list(sentences(text))


def _nothing(question: Question) -> Score[float]:
    if question.direction == "higher":
        return Score(0.0, {"items": [], "reason": f"{question.through} is empty; nothing was asked about it"})
    raise UndefinedError(f"{question.through} is empty", question.through)


def _folded(question: Question, groups: Sequence[Sequence[str]], verdicts: Sequence[Verdict], reason: Mapping[str, str]) -> Score[float]:
    """The fold of the verdicts; of several references the best one's, with its place in `details.reference`."""
    pending = iter(verdicts)
    best: tuple[float, int] | None = None
    kept: list[dict[str, Any]] = []
    for index, group in enumerate(groups):
        answers = []
        for text in group:
            verdict = next(pending)
            kept.append({"text": text, **({"reference": index} if len(groups) > 1 else {}), **verdict.probabilities})
            if verdict.value is not None:
                answers.append(verdict.value)
        score = None if question.fold is None else question.fold(answers)
        if score is not None and (best is None or (score < best[0] if question.direction == "lower" else score > best[0])):
            best = score, index
    if best is None:
        raise UndefinedError("no verdict applies to this row")
    return Score(best[0], {"items": kept, **({"reference": best[1]} if len(groups) > 1 else {}), **reason})


def _single(verdict: Verdict, reason: Mapping[str, str]) -> Score[float]:
    from measurand.core.request import YesNo

    value = verdict.value
    if value is None:
        raise UndefinedError("the judge says that the question does not apply")
    p = verdict.probabilities
    if isinstance(verdict.form, YesNo):
        return Score(value, dict(reason), f"{round(value * 100)}% yes", p, abs(value - 0.5) * 2)
    likeliest = max(p, key=lambda option: p[option])
    entropy = -sum(mass * math.log(mass) for mass in p.values() if mass > 0)
    return Score(value, dict(reason), likeliest, p, 1.0 - entropy / math.log(len(verdict.form.options)))


def _texts(value: Any, name: str) -> list[str]:
    from measurand.core.coerce import COERCERS

    return [one if isinstance(one, str) else str(COERCERS["str"](one, name)) for one in (value if isinstance(value, (list, tuple)) else (value,))]


def _elements(value: Any, name: str) -> list[str]:
    texts = [_text_of(element) for element in value]
    for index, text in enumerate(texts):
        if text is None:
            raise InvalidFieldError(f"{name}[{index}] has no text; a judge needs the text", name)
    return [str(text) for text in texts]


def _text_of(element: Any) -> str | None:
    if isinstance(element, str):
        return element
    text = getattr(element, "text", None)
    return text if text is not None else getattr(element, "content", None)


def _is_empty(value: Any) -> bool:
    """Whether there is nothing to judge by: a blank text, no elements, or blank ones only."""
    return not value.strip() if isinstance(value, str) else all(isinstance(one, str) and not one.strip() for one in value)


def answers(question: Question) -> Mapping[str, str]:
    """The answers a question allows, with what each means ("" where the word says it)."""
    from measurand.core.request import Choice, Scale

    match question.form:
        case Scale(levels=levels):
            return dict(zip(question.options, levels, strict=True))
        case Choice(choices=choices):
            return {name: option.means for name, option in choices.items()}
        case _:
            return dict.fromkeys(question.options, "")
