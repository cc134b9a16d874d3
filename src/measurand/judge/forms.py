"""Answer forms in words and as JSON Schema: what a judge may answer, and under which label each answer stands in a reply."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any, Final

from measurand.core.exchange import Way
from measurand.core.request import Choice, Form, Scale, YesNo

LABELLED_LEVELS: Final = 10
"""A scale with more levels has labels of more than one token: it is always sampled."""

ITEMS: Final = "items"
"""The part that shows items which are no field."""
EACH: Final = "For each `item`: {question}"
EACH_OF: Final = "For each `item` of `{name}`: {question}"
WORD: Final = "Answer with {labels}."
LINES: Final = "{n} lines, one per item: number, full stop, {labels}."
TRUTH_JSON: Final = 'JSON: {"answer": boolean}'
TRUTHS_JSON: Final = 'JSON: {{"answers": [{truths}]}}'
ANSWER_JSON: Final = 'Answer {labels}, as JSON: {{"answer": "…"}}'
ANSWERS_JSON: Final = 'Answer {labels} for each, as JSON: {{"answers": [{n} in all]}}'
SPLIT: Final = "List each fact that `{name}` states. Short sentences that stand alone. A refusal has none."
CLAIMS_JSON: Final = 'JSON: {"claims": ["…"]}'
TEXTS_JSON: Final = 'JSON: {{"texts": [{n}]}}'
PREFER: Final = "Compare `A` with `B`: {question}"
BETTER: Final = "Which is better, A or B?"
TOGETHER: Final = "Answer as JSON."
KEYED: Final = "{key} ({shape}): {words}"
TRUTH: Final = "boolean"
LIST_OF: Final = "{n}, each {labels}"
CLAIMS: Final = "sentences"
WORDS: Final = (
    *(ITEMS, EACH, EACH_OF, WORD, LINES, TRUTH_JSON, TRUTHS_JSON, ANSWER_JSON, ANSWERS_JSON, SPLIT, CLAIMS_JSON, TEXTS_JSON, PREFER, BETTER),
    *(TOGETHER, KEYED, TRUTH, LIST_OF, CLAIMS),
)
"""All of them, for the hash that says when a recorded answer was asked for in other words."""


def way_of(form: Form, way: Way) -> Way:
    """The way a form is really asked: labels that are no single token are sampled."""
    most = len(ascii_uppercase) if isinstance(form, Choice) else LABELLED_LEVELS
    return "sampled" if way == "logprobs" and len(form.options) > most else way


def labels_of(form: Form, way: Way) -> dict[str, str]:
    """Label in the reply → option. Token by token a choice is answered with a letter, for names may begin alike."""
    if isinstance(form, Choice) and way == "logprobs" and not any(len(option) == 1 for option in form.options):
        return dict(zip(ascii_uppercase, form.options, strict=False))
    return {option: option for option in form.options}


def described(form: Form, labels: Mapping[str, str]) -> str:
    """The lines that say what each answer means; "" for yes and no."""
    match form:
        case YesNo():
            return ""
        case Scale(levels=levels):
            return "\n".join(f"{label}: {levels[int(option)]}" for label, option in labels.items())
        case Choice(choices=choices):
            lines = [": ".join(dict.fromkeys(part for part in (label, option, choices[option].means) if part)) for label, option in labels.items()]
            return "" if lines == list(labels) else "\n".join(lines)


def allowed(form: Form, labels: Mapping[str, str]) -> str:
    """The answers in a few words, as part of a sentence."""
    if isinstance(form, YesNo):
        return "yes or no"
    if isinstance(form, Scale):
        return f"a number from 0 to {len(form.levels) - 1}"
    names = list(labels)
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def single_words(form: Form, way: Way) -> str:
    """How one question is to be answered."""
    if isinstance(form, YesNo) and way != "logprobs":
        return TRUTH_JSON
    labels = labels_of(form, way)
    told = (WORD if way == "logprobs" else ANSWER_JSON).format(labels=allowed(form, labels))
    return "\n".join(part for part in (described(form, labels), told) if part)


def list_words(form: Form, way: Way, n: int) -> str:
    """How a question over `n` items is to be answered."""
    if isinstance(form, YesNo) and way != "logprobs":
        return TRUTHS_JSON.format(truths=truths(n))
    labels = labels_of(form, way)
    told = (LINES if way == "logprobs" else ANSWERS_JSON).format(labels=allowed(form, labels), n=n)
    return "\n".join(part for part in (described(form, labels), told) if part)


def truths(n: int) -> str:
    """So many answers of yes or no, in the words that tell the form."""
    return f"{n} {TRUTH}" if n == 1 else f"{n} {TRUTH}s"


def texts(n: int) -> str:
    """So many texts, in words."""
    return "1 text" if n == 1 else f"{n} texts"


def answer_schema(form: Form) -> dict[str, Any]:
    """The schema of one answer: yes and no are true and false."""
    return {"type": "boolean"} if isinstance(form, YesNo) else {"type": "string", "enum": list(form.options)}


def exactly(n: int, items: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a list of `n`."""
    return {"type": "array", "items": dict(items), "minItems": n, "maxItems": n}


def closed(**properties: Any) -> dict[str, Any]:
    """The schema of an object that has these keys and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
