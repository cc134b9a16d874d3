"""Requests, replies and vectors as the JSON that is recorded: exact, and no more than reading needs."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from measurand.core.exchange import Completion, ModelRequest, Token, TokenUsage

if TYPE_CHECKING:
    import numpy as np

    Vector = np.ndarray[tuple[int], np.dtype[np.float32]]


def request_json(request: ModelRequest) -> dict[str, Any]:
    """A request as it is recorded and shown; what was not asked for is absent."""
    kept: dict[str, Any] = {"messages": [{"role": one.role, "content": one.content} for one in request.messages]}
    if request.schema is not None:
        kept["schema"] = request.schema
    if request.logprobs:
        kept["logprobs"] = True
    if request.max_tokens is not None:
        kept["max_tokens"] = request.max_tokens
    if request.draw:
        kept["draw"] = request.draw
    if request.typed is not None:
        kept["typed"] = request.typed
    return kept


def completion_json(completion: Completion) -> dict[str, Any]:
    """A reply without its usage and its server, which are recorded beside it. Tokens are [text, logprob, [[text, logprob], …]]."""
    kept: dict[str, Any] = {"text": completion.text, "finish": completion.finish}
    if completion.tokens is not None:
        kept["tokens"] = [[one.text, _number(one.logprob), [[text, _number(logprob)] for text, logprob in one.top]] for one in completion.tokens]
    if completion.typed is not None:
        kept["typed"] = {question: dict(answers) for question, answers in completion.typed.items()}
    return kept


def completion_of(reply: Mapping[str, Any], usage: Mapping[str, Any] | None = None, served: Mapping[str, Any] | None = None) -> Completion:
    """The reply that `completion_json` was given; with `usage` and `served` as they were recorded beside it."""
    tokens = reply.get("tokens")
    usage, served = usage or {}, served or {}
    return Completion(
        text=reply["text"],
        finish=reply["finish"],
        tokens=None if tokens is None else tuple(_token(one) for one in tokens),
        typed=reply.get("typed"),
        usage=TokenUsage(usage.get("input_tokens", 0), usage.get("output_tokens", 0), usage.get("cached_tokens", 0), usage.get("reported", False)),
        model=served.get("model"),
        fingerprint=served.get("fingerprint"),
        latency_s=usage.get("latency_s", 0.0),
    )


def usage_json(usage: TokenUsage, latency_s: float, cost_usd: float | None, calls: int = 1) -> dict[str, Any]:
    """What a call used, as it is recorded. `calls`: 0 for the second and further texts of one embedding request."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reported": usage.reported,
        "cost_usd": cost_usd,
        "latency_s": latency_s,
        "calls": calls,
    }


def served_json(model: str | None, fingerprint: str | None = None) -> dict[str, Any] | None:
    """What the server calls the model that answered; None when it says nothing."""
    kept = {name: value for name, value in (("model", model), ("fingerprint", fingerprint)) if value is not None}
    return kept or None


def vector_json(vector: Vector) -> dict[str, Any]:
    """One embedding vector: base64 of its float32 numbers, little end first."""
    return {"vector": base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")}


def vector_of(reply: Mapping[str, Any]) -> Vector:
    """The vector that `vector_json` was given."""
    import numpy as np

    return np.frombuffer(base64.b64decode(reply["vector"]), dtype="<f4").astype(np.float32)


def _token(kept: Any) -> Token:
    text, logprob, top = kept
    return Token(text, float(logprob), tuple((one, float(value)) for one, value in top))


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)  # "-inf", which servers do send and JSON has not
