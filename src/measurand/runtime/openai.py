"""Chat completions, as OpenAI and every compatible server speak them: vLLM, llama.cpp, Ollama, LM Studio, LiteLLM, OpenRouter, Groq, Gemini's endpoint."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from measurand.config.runtimes import ModelSettings
from measurand.core.exchange import ChatMessage, Completion, Finish, ModelRequest, Token
from measurand.runtime.faults import UnavailableError
from measurand.runtime.keys import bearer
from measurand.runtime.service import Reply
from measurand.runtime.usage import count, usage_of
from measurand.runtime.verdict import said_in

GIVES_LOGPROBS: Final = True
HEADERS: Final[tuple[tuple[str, str], ...]] = ()
ALTERNATIVES: Final = 20
"""Alternatives asked for at every token."""
ROOM_TO_THINK: Final = 4096
"""Tokens added to what an answer needs for a model that takes max_completion_tokens: what it thinks counts too."""

DROPPED: Final = "dropped"
FORMATS: Final = ("json_schema", "json_schema_lax", "json_object_schema", "json_object", "none")
"""How a schema is asked for, best first. json_schema_lax: without `strict`. json_object_schema: llama-cpp-python's."""

_FINISHES: Final[Mapping[str, Finish]] = {
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii"), "filtered"),
    "refusal": "refused",
}
_TEXT_PARTS: Final = (None, "text", "output_text")

key_header = bearer


def path(_settings: ModelSettings) -> str:
    """Below base_url."""
    return "/chat/completions"


def body(request: ModelRequest, settings: ModelSettings, facts: Mapping[str, str]) -> dict[str, Any]:
    """The request in this wire format, without what the model is known (`facts`) to refuse. Nothing is sent that nobody set; extra_body wins."""
    form = facts.get("response_format", FORMATS[0]) if request.schema is not None else None
    sent: dict[str, Any] = {"model": settings.model, "messages": _messages(request, spell_out=form is not None and not form.startswith("json_schema"))}
    if settings.temperature is not None and "temperature" not in facts:
        sent["temperature"] = settings.temperature
    limit = _limit(request, settings, thinks=facts.get("max_tokens") == "max_completion_tokens")
    name = facts.get("max_tokens", "max_tokens")
    if limit is not None and name != DROPPED:
        sent[name] = limit
    if request.schema is not None and form is not None and form != "none":
        sent["response_format"] = _response_format(form, request.schema)
    if request.logprobs and "logprobs" not in facts:
        sent["logprobs"] = True
        sent["top_logprobs"] = int(facts.get("top_logprobs", ALTERNATIVES))
    return {**sent, **settings.extra_body}


def completion(reply: Reply, request: ModelRequest) -> Completion:
    """Reads a reply. Raises `UnavailableError` when it holds no message at all, or one that the server says has failed."""
    choice = _first_choice(reply.body)
    reason = choice.get("finish_reason")
    if reason == "error" or choice.get("error"):
        why = said_in(json.dumps({"error": choice.get("error") or "it says no more"}).encode()).message
        raise UnavailableError(f"the model failed while it replied: {why[:200]}")
    message = choice["message"]
    refusal = message.get("refusal")
    text = joined(message.get("content"))
    usage = reply.body.get("usage")
    finish = finish_of(reason, _FINISHES)
    return Completion(
        text=refusal if isinstance(refusal, str) and refusal else text,
        finish="refused" if refusal else finish,
        tokens=_tokens(choice.get("logprobs")) if request.logprobs else None,
        usage=usage_of(
            count(usage, "prompt_tokens"),
            count(usage, "completion_tokens"),
            count(usage, "prompt_tokens_details", "cached_tokens") or count(usage, "prompt_cache_hit_tokens"),
            request,
            text,
        ),
        model=_str(reply.body.get("model")),
        fingerprint=_str(reply.body.get("system_fingerprint")),
        latency_s=reply.latency_s,
    )


def joined(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts of which those of text count, and no thoughts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS else part for part in content)
    return "".join(text for text in texts if isinstance(text, str))


def finish_of(reason: Any, finishes: Mapping[str, Finish]) -> Finish:
    """How a reply ended, in whatever case the server writes it; "stop" for words that say nothing else."""
    return finishes.get(reason.lower(), "stop") if isinstance(reason, str) else "stop"


def spelled_out(messages: tuple[ChatMessage, ...], schema: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages for a server that is not given the schema; it is appended unless the last message asks for JSON by itself."""
    sent = [{"role": one.role, "content": one.content} for one in messages]
    if sent and "JSON" not in sent[-1]["content"]:
        sent[-1]["content"] += f"\n\nReply with JSON only, of this JSON Schema: {json.dumps(schema, ensure_ascii=False, separators=(',', ':'))}"
    return sent


def _messages(request: ModelRequest, *, spell_out: bool) -> list[dict[str, str]]:
    if spell_out and request.schema is not None:
        return spelled_out(request.messages, request.schema)
    return [{"role": one.role, "content": one.content} for one in request.messages]


def _limit(request: ModelRequest, settings: ModelSettings, *, thinks: bool) -> int | None:
    """The config's max_output_tokens, or less where the answer needs less; for a model that thinks first the config's, or the answer's with room."""
    ours, needed = settings.max_output_tokens, request.max_tokens
    if thinks:
        return ours if ours is not None else needed + ROOM_TO_THINK if needed is not None else None
    return min((one for one in (ours, needed) if one is not None), default=None)


def _response_format(form: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    if form == "json_object_schema":
        return {"type": "json_object", "schema": schema}
    named = {"name": "answer", "schema": schema}
    return {"type": "json_schema", "json_schema": named if form == "json_schema_lax" else {**named, "strict": True}}


def _first_choice(reply: Any) -> dict[str, Any]:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        raise UnavailableError("the reply has no choices[0].message; is base_url that of an OpenAI-compatible server?")
    return first


def _tokens(logprobs: Any) -> tuple[Token, ...] | None:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return None
    return tuple(
        Token(one["token"], _logprob(one), tuple((other["token"], _logprob(other)) for other in _listed(one.get("top_logprobs")) if _is_token(other)))
        for one in content
        if _is_token(one)
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_token(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("token"), str)


def _logprob(one: dict[str, Any]) -> float:
    """Null, NaN and what is above 0 are no log-probabilities: the token then counts as impossible, which is what is known of it."""
    value = one.get("logprob")
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and -1e9 < value <= 1e-3
    return min(0.0, float(value)) if usable else -math.inf  # type: ignore[arg-type]  # `usable` says that it is a number


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) else None
