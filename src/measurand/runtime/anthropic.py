"""Anthropic's messages.

A schema is asked for in words and read by the tolerant reader: a forced tool would cost some three hundred tokens a request, and a model that
thinks refuses it. There are no log-probabilities. max_tokens must be sent: max_output_tokens, else what the answer needs, else 4096.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from measurand.config.runtimes import ModelSettings
from measurand.core.exchange import Completion, Finish, ModelRequest
from measurand.runtime.faults import UnavailableError
from measurand.runtime.openai import finish_of, joined, spelled_out
from measurand.runtime.service import Reply
from measurand.runtime.usage import count, usage_of

GIVES_LOGPROBS: Final = False
HEADERS: Final = (("anthropic-version", "2023-06-01"),)
MAX_TOKENS: Final = 4096

_FINISHES: Final[Mapping[str, Finish]] = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refused"}


def key_header(key: str) -> tuple[str, str]:
    """The header the key goes into."""
    return "x-api-key", key


def path(settings: ModelSettings) -> str:
    """Below base_url, which may end in /v1."""
    return "/messages" if urlsplit(settings.base_url or "").path.rstrip("/").endswith("/v1") else "/v1/messages"


def body(request: ModelRequest, settings: ModelSettings, facts: Mapping[str, str]) -> dict[str, Any]:
    """The request in this wire format; the system text stands beside the messages."""
    messages = spelled_out(request.messages, request.schema) if request.schema is not None else [_message(one.role, one.content) for one in request.messages]
    system = "\n\n".join(one["content"] for one in messages if one["role"] == "system")
    limits = [limit for limit in (settings.max_output_tokens, request.max_tokens) if limit is not None]
    sent: dict[str, Any] = {
        "model": settings.model,
        "max_tokens": min(limits, default=MAX_TOKENS),
        "messages": [one for one in messages if one["role"] != "system"],
    }
    if system:
        sent["system"] = system
    if settings.temperature is not None and "temperature" not in facts:
        sent["temperature"] = settings.temperature
    return {**sent, **settings.extra_body}


def completion(reply: Reply, request: ModelRequest) -> Completion:
    """Reads a reply: its text blocks, in order. Raises `UnavailableError` when it has no content at all."""
    given = reply.body
    if not isinstance(given, dict) or not isinstance(given.get("content"), list):
        raise UnavailableError("the reply has no content; is base_url that of Anthropic's messages API?")
    text = joined([block for block in given["content"] if isinstance(block, dict) and block.get("type", "text") == "text"])
    model = given.get("model")
    usage = given.get("usage")
    fresh, read, written = count(usage, "input_tokens"), count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
    return Completion(
        text=text,
        finish=finish_of(given.get("stop_reason"), _FINISHES),
        usage=usage_of(None if fresh is None else fresh + (read or 0) + (written or 0), count(usage, "output_tokens"), read, request, text),
        model=model if isinstance(model, str) else None,
        latency_s=reply.latency_s,
    )


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
