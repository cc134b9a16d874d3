"""Typed questions as the wire format: the server answers with probabilities, no text is written or read.

    POST base_url/evaluate
    {"model": …, "state": {name: text}, "questions": {id: {"type": "noul", "question": …}}}      yes or no
                                                        {"type": "choice", "question": …, "options": {name: meaning}}
                                                        {"type": "score", "question": …, "levels": [meaning of 0, of 1, …]}
    → {"answers": {id: {"probabilities": {"yes": 0.9, "no": 0.1}}}, "model": …, "usage": {"input_tokens": …, "output_tokens": …}}

Every question is answered, by probabilities over its own answers (of a score: "0", "1", …); a question without numbers from 0 to 1 is an
`invalid_response` here, answers that are not the question's or do not sum to 1 are one where verdicts are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import InvalidResponseError, ProviderError
from measurand.core.exchange import Completion, ModelRequest
from measurand.runtime.faults import UnavailableError
from measurand.runtime.keys import bearer
from measurand.runtime.service import Reply
from measurand.runtime.usage import count, usage_of

GIVES_LOGPROBS: Final = False
HEADERS: Final[tuple[tuple[str, str], ...]] = ()

key_header = bearer


def path(_settings: ModelSettings) -> str:
    """Below base_url."""
    return "/evaluate"


def body(request: ModelRequest, settings: ModelSettings, facts: Mapping[str, str]) -> dict[str, Any]:
    """The typed request. Raises `ProviderError` for one that wants a text written: no such server can."""
    if request.typed is None:
        raise ProviderError("the provider systemone answers typed questions and writes no texts: bind another judge to metrics that list claims or write texts")
    sent: dict[str, Any] = {"model": settings.model, "state": request.typed["state"], "questions": request.typed["questions"]}
    if settings.temperature is not None and "temperature" not in facts:
        sent["temperature"] = settings.temperature
    return {**sent, **settings.extra_body}


def completion(reply: Reply, request: ModelRequest) -> Completion:
    """Reads and checks a reply. Raises `InvalidResponseError` when a question has no probabilities, `UnavailableError` when nothing is an answer."""
    given = reply.body
    answers = given.get("answers") if isinstance(given, dict) else None
    if not isinstance(answers, dict):
        raise UnavailableError('the reply has no "answers"; is base_url that of a server of typed questions?')
    assert request.typed is not None  # `body` has refused it otherwise
    typed = {name: _probabilities(name, answers.get(name)) for name in request.typed["questions"]}
    text = json.dumps(typed, ensure_ascii=False)
    model, usage = given.get("model"), given.get("usage")
    return Completion(
        text=text,
        typed=typed,
        usage=usage_of(_either(usage, "input_tokens", "prompt_tokens"), _either(usage, "output_tokens", "completion_tokens"), None, request, text),
        model=model if isinstance(model, str) else None,
        latency_s=reply.latency_s,
    )


def _probabilities(name: str, answer: Any) -> dict[str, float]:
    given = answer.get("probabilities") if isinstance(answer, dict) else None
    if not isinstance(given, dict) or not given:
        raise InvalidResponseError(f"the question {name!r} has no probabilities")
    if not all(isinstance(p, (int, float)) and not isinstance(p, bool) and 0 <= p <= 1 for p in given.values()):
        raise InvalidResponseError(f"the question {name!r} is answered with what are no probabilities")
    return {str(option): float(p) for option, p in given.items()}


def _either(usage: Any, *names: str) -> int | None:
    return next((found for name in names if (found := count(usage, name)) is not None), None)
