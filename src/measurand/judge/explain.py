"""Why a judge answered as it did: asked after the verdict is fixed, for people to read. It never changes a score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from measurand.core.exchange import Completion, ModelRequest
from measurand.core.request import Ask, Verdict
from measurand.formula.sentences import sentences
from measurand.judge import forms
from measurand.judge.chunks import check_size
from measurand.judge.exchange import Exchange, Unreadable
from measurand.judge.needs import needs
from measurand.judge.prompt import data, messages
from measurand.judge.reply import read_json, said
from measurand.judge.row import Row

REASON_TOKENS: Final = 60
"""What two sentences take."""
_WHY: Final = 'The answer was: {answer}. Say why in at most two sentences, as JSON: {{"reason": "…"}}'
_SENTENCES: Final = 2
_CHARACTERS: Final = 600


def explain(
    request: Ask, verdicts: Verdict | Sequence[Verdict], row: Row, *, max_input_tokens: int | None = None, count: Callable[[str], int] = len
) -> Exchange:
    """The request for a reason; it is read to one or two sentences.

    Raises `InvalidFieldError` when a field cannot be shown, or all of it does not fit: a reason for a part would be none.
    """
    needed = needs(request, row)
    shown = data(row, needed.fields, needed.extra, needed.instead)
    told = messages(shown, needed.words, _WHY.format(answer=_told(verdicts)))

    def read(completion: Completion) -> str:
        reason = read_json(said(completion), "reason", data=shown)["reason"]
        if not isinstance(reason, str) or not reason.strip():
            raise Unreadable("the reason is no text")
        return " ".join(sentences(reason)[:_SENTENCES])[:_CHARACTERS]

    asked = ModelRequest(told, schema=forms.closed(reason={"type": "string"}))
    if max_input_tokens is not None:
        check_size(asked, max_input_tokens, count)
    return Exchange(asked, read, REASON_TOKENS)


def _told(verdicts: Verdict | Sequence[Verdict]) -> str:
    if isinstance(verdicts, Verdict):
        return _likeliest(verdicts)
    return ", ".join(f"{number}. {_likeliest(one)}" for number, one in enumerate(verdicts, 1))


def _likeliest(verdict: Verdict) -> str:
    return max(verdict.probabilities, key=lambda option: verdict.probabilities[option])
