"""A judged metric is data: what is split, one closed question with a fixed answer form, and how verdicts fold to a number."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from measurand.core.coerce import COERCERS
from measurand.core.errors import DeclarationError, UndefinedError, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.metric import Direction, Metric, declared_metric, named_parameters
from measurand.core.request import Ask, Form, Request, Split, Verdict, YesNo
from measurand.core.score import Score
from measurand.core.taxonomy import MetricCategory

Fold = Callable[[Sequence[float]], float | None]

_TICKED: Final = re.compile(r"`([^`]*)`")
_CLAUSE: Final = re.compile(r"\s*\([^()]*\)|(?:(?!\s*\()[^.;])+[.;]?|.")


@frozen
class Question:
    """What a judged metric asks. `claims` names the text that is split, `each` the list that is gone through; neither: one question a row."""

    ask: str
    form: Form
    claims: str | None
    each: str | None
    fold: Fold | None
    direction: Direction

    def wording(self, present: frozenset[str]) -> str:
        """The question as it is asked of a row: a clause about an optional field is left out where the field is missing."""
        clauses = _CLAUSE.findall(self.ask)
        kept = "".join(clause for clause in clauses if all(name in present for name in _optional_in(clause)))
        return kept.replace("?`", "`").strip().rstrip(";")


def judged(
    name: str,
    categories: MetricCategory,
    *,
    ask: str,
    doc: str,
    form: Form | None = None,
    claims: str | None = None,
    each: str | None = None,
    fold: Fold | None = None,
    direction: Direction = "higher",
    version: str | None = None,
    origin: tuple[str, str] | None = None,
    **stated: Any,
) -> Metric[Any]:
    """Declares a judged metric from its question.

    Words in backticks are fields (or `item`, one claim or one element); `` `expected?` `` is optional. Raises `DeclarationError` for a word that
    is neither, for `item` without something to go through, and for items without a fold.
    """
    where = f"{name}: {ask!r}"
    if claims and each:
        raise DeclarationError(f"{where}: a question goes through claims= or each=, not both")
    if (claims or each) and fold is None:
        raise DeclarationError(f'{where}: several verdicts need a fold, e.g. fold=share("yes")')
    required, optional = _fields_of(ask, claims or each, where)
    question = Question(ask, form or YesNo(), claims, each, fold, direction)
    yes_no = isinstance(question.form, YesNo) and not (claims or each)
    threshold = stated.pop("threshold", None)
    metric: Metric[Any] = declared_metric(
        lambda *arguments: _steps(question, (*required, *optional), arguments),
        name,
        categories,
        where=where,
        number="proportion",
        judge=True,
        embedder=False,
        steps=True,
        parameters=named_parameters(required, optional, where),
        doc=doc,
        version=version or _version(question),
        origin=origin or ("measurand.catalogue.judged", name),
        direction=direction,
        threshold=0.5 if threshold is None and yes_no and direction != "none" else threshold,
        judged=question,
        **stated,
    )
    return metric


def _version(question: Question) -> str:
    return hashlib.blake2b(repr(question).encode(), digest_size=4).hexdigest()


def _optional_in(clause: str) -> list[str]:
    return [word[:-1] for word in _TICKED.findall(clause) if word.endswith("?")]


def _fields_of(ask: str, gone_through: str | None, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    required: dict[str, None] = {gone_through: None} if gone_through else {}
    optional: dict[str, None] = {}
    for word in _TICKED.findall(ask):
        name = word.removesuffix("?")
        if name == "item":
            if not gone_through:
                raise DeclarationError(f"{where}: `item` needs something to go through; give claims= or each=")
            continue
        if name not in FIELDS and not name.startswith("metadata."):
            raise DeclarationError(f"{where}: `{word}` is no field; {did_you_mean(name, FIELDS) or 'a record has ' + ', '.join(FIELDS)}")
        (optional if word.endswith("?") else required).setdefault(name)
    if not required and not optional:
        raise DeclarationError(f"{where}: the question names no field; write the fields it is about in backticks")
    return tuple(required), tuple(name for name in optional if name not in required)


def _steps(question: Question, names: tuple[str, ...], arguments: tuple[Any, ...]) -> Generator[Request[Any], Any, Score[float]]:
    values = dict(zip(names, arguments, strict=True))
    wording = question.wording(frozenset(name for name, value in values.items() if value is not None))
    if question.fold is None:
        return _single((yield Ask(wording, question.form)))
    if question.claims:
        items = list((yield Split(_text(values[question.claims], question.claims))))
        if not items:
            raise UndefinedError(f"{question.claims} makes no claims", question.claims)
    else:
        items = _elements(values[question.each or ""], question.each or "")
        if not items:
            if question.direction == "higher":
                return Score(0.0, {"items": []})
            raise UndefinedError(f"{question.each} is empty", question.each)
    verdicts: Sequence[Verdict] = yield Ask(wording, question.form, over=items)
    kept = [{"text": text, **verdict.probabilities} for text, verdict in zip(items, verdicts, strict=True)]
    answers = [value for value in (verdict.value for verdict in verdicts) if value is not None]
    score = question.fold(answers)
    if score is None:
        raise UndefinedError("no verdict applies to this row")
    return Score(score, {"items": kept})


def _single(verdict: Verdict) -> Score[float]:
    value = verdict.value
    if value is None:
        raise UndefinedError("the judge says that the question does not apply")
    p = verdict.probabilities
    if isinstance(verdict.form, YesNo):
        return Score(value, {}, f"{round(value * 100)}% yes", p, abs(value - 0.5) * 2)
    likeliest = max(p, key=lambda option: p[option])
    entropy = -sum(mass * math.log(mass) for mass in p.values() if mass > 0)
    return Score(value, {}, likeliest, p, 1.0 - entropy / math.log(len(verdict.form.options)))


def _text(value: Any, name: str) -> str:
    return value if isinstance(value, str) else str(COERCERS["str"](value, name))


def _elements(value: Any, name: str) -> list[str]:
    texts = [element if isinstance(element, str) else getattr(element, "text", None) or getattr(element, "content", None) for element in value]
    if any(text is None for text in texts):
        raise UndefinedError(f"{name} holds elements without text", name)
    return [str(text) for text in texts]


def answers(question: Question) -> Mapping[str, str]:
    """The answers a question allows, with what each means ("" where the word says it)."""
    match question.form:
        case YesNo():
            return {"yes": "", "no": ""}
        case form if hasattr(form, "levels"):
            return dict(zip(form.options, form.levels, strict=True))
        case form:
            return {name: option.means for name, option in form.choices.items()}
