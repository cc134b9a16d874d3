"""What a model can do, found out by one cheap request before it is asked anything."""

from __future__ import annotations

from typing import Final

from attrs import frozen

from measurand.core.errors import CellError
from measurand.core.exchange import Completion, ModelRequest, Way
from measurand.core.request import YesNo
from measurand.judge.exchange import Exchange, Unreadable, Ways
from measurand.judge.forms import EACH, ITEMS, labels_of, list_words
from measurand.judge.logprobs import read_list
from measurand.judge.prompt import messages
from measurand.judge.row import ended, part
from measurand.judge.shown import numbered

_STATEMENTS: Final = ("Two is more than one.", "One is more than two.")
_NUMBER: Final = "271828"


@frozen
class Probe:
    """`logprobs`: replies come with log-probabilities. `numbered`: a list is answered line by line, so that they can be read for each item."""

    logprobs: bool
    numbered: bool


def probe() -> Exchange:
    """The request; its reading is a `Probe`, whatever the reply is."""
    n = len(_STATEMENTS)
    question = EACH.format(question="Is `item` true?")
    shown = ended([part(ITEMS, numbered(_STATEMENTS), _NUMBER)], _NUMBER)
    told = messages(shown, question, list_words(YesNo(), "logprobs", n))
    return Exchange(ModelRequest(told, logprobs=True, max_tokens=32), _found, 8)


def _found(completion: Completion) -> Probe:
    tokens = completion.tokens or ()
    if not any(len(token.top) > 1 for token in tokens):
        return Probe(logprobs=False, numbered=False)
    try:
        verdicts = read_list(completion, labels_of(YesNo(), "logprobs"), len(_STATEMENTS))
    except (Unreadable, CellError):
        return Probe(logprobs=True, numbered=False)
    return Probe(logprobs=True, numbered=not any("low_mass" in verdict.flags for verdict in verdicts))


def ways(p: str, found: Probe | None) -> Ways:
    """How a model is asked, after the setting `p` ("auto", "logprobs", "sampled"; "typed" for a provider of typed questions) and its probe.

    auto: by log-probabilities where it has them, lists too when it numbers its lines. Not probed yet: sampled, the dearer way.
    """
    if p == "typed":
        return Ways("typed", "typed")
    items: Way = "logprobs" if found is not None and found.numbered else "sampled"
    if p == "logprobs":
        return Ways("logprobs", items)
    if p == "auto" and found is not None and found.logprobs:
        return Ways("logprobs", items)
    return Ways("sampled", "sampled")
