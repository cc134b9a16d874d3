"""What an answer that is no success means for the call: try again, ask otherwise, give up, or stop asking this server at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from measurand.core.errors import ModelStoppedError, RefusedError
from measurand.runtime.faults import DeclinedError, ThrottledError, UnavailableError
from measurand.runtime.http import Answer
from measurand.runtime.patience import retry_after

_TRY_AGAIN: Final = frozenset({408, 409, 421, 423, 424, 425, 498, 499})  # the last two: gateways that were full, or gave up on the model
_NO_MONEY: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"})
_TOO_MANY: Final = frozenset({"rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests", "resource_exhausted"})
_OUR_FAULT: Final = re.compile(r"invalid|not_found|unsupported|context_length|bad_request")
_FILTERED: Final = frozenset(
    {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "moderation_blocked", "flagged_input", "input_flagged"}
)
_TOO_LONG: Final = re.compile(
    r"context.?(?:length|window|size)|maximum context|(?:prompt|input|request|message|text)\w*[^.]{0,40} too (?:long|large)|too many (?:input )?tokens",
    re.IGNORECASE,
)


@frozen
class Said:
    """What a server says about an error, in whichever of the usual forms; empty where it says nothing."""

    message: str = ""
    code: str = ""
    kind: str = ""
    parameter: str = ""
    inner: str = ""
    status: int | None = None
    """The status that a body carries: some gateways answer 200 and write the real one inside."""

    @property
    def codes(self) -> set[str]:
        """Every machine-readable word, in lower case."""
        return {word.lower() for word in (self.code, self.kind, self.inner) if word}


def said_in(content: bytes) -> Said:
    """Reads an error body: OpenAI's, Anthropic's, Gemini's list, FastAPI's `detail`, Ollama's bare text, or plain text."""
    text = content.decode("utf-8", "replace")
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        return Said(_one_line(text))
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return Said(_one_line(text))
    error = body.get("error", body)
    if isinstance(error, str):
        return Said(_one_line(error))
    if not isinstance(error, dict):
        return Said(_one_line(text))
    detail = error.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        loc = detail[0].get("loc")
        place = [str(part) for part in loc if part != "body"] if isinstance(loc, list) else []
        return Said(_one_line(f"{'.'.join(place)}: {_text(detail[0].get('msg'))}"), parameter=".".join(place))
    code = error.get("code")
    inner = error.get("innererror")
    return Said(
        _one_line(_text(error.get("message")) or _text(detail) or text),
        _text(code),
        _text(error.get("type")),
        _text(error.get("param")),
        _text(inner.get("code")) if isinstance(inner, dict) else "",
        next((found for one in (code, error.get("status"), error.get("status_code")) if (found := _status(one)) is not None), None),
    )


def _status(value: Any) -> int | None:
    text = str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    return int(text) if re.fullmatch("[45][0-9][0-9]", text) else None


def refusal(answer: Answer, said: Said, *, url: str, section: str, sent: bytes, hide: Callable[[str], str]) -> Exception:
    """The exception for an answer beyond 2xx (or an error written into a 200). 401 and 403 are not judged here: a key may have been renewed."""
    status = said.status or answer.status
    message = f"{url} answered {status}" + (f': "{hide(said.message)}"' if said.message else "")
    told = retry_after(answer.headers)
    if status == 402 or said.codes & _NO_MONEY:
        return ModelStoppedError(f"{message}; the account behind [{section}] has nothing left to spend")
    if said.codes & _FILTERED or _flagged(answer.content, status):
        return RefusedError(f"{message}; a content filter would not let it pass")
    if status == 429 or (status < 300 and said.codes & _TOO_MANY):
        return ThrottledError(message, told)
    if 300 <= status < 400:
        return DeclinedError(f"{message}; redirects are not followed: write the address it leads to into [{section}] base_url", status=status)
    code = said.code or said.kind
    too_long = status == 413 or "context_length" in code or _TOO_LONG.search(said.message) is not None
    passing = status in _TRY_AGAIN or (status < 300 and not too_long and not any(_OUR_FAULT.search(word) for word in said.codes))
    if (status < 500 and not passing) or status == 501 or _format_refused(status, said, sent):
        return DeclinedError(message, status=status, parameter=said.parameter or None, code=code or None, words=said.message, per_row=too_long)
    return UnavailableError(message, told)


def lasting(error: DeclinedError) -> str | None:
    """Why the same answer awaits every call, None where it need not: a redirect, or a path or model that the server does not know."""
    if 300 <= error.status < 400:
        return "every request would be redirected"
    if error.status in {404, 405, 410}:
        return "it knows no such path or model; base_url and model decide where calls go"
    return None


def _format_refused(status: int, said: Said, sent: bytes) -> bool:
    """llama-cpp-python answers 500 where it does not know a response_format."""
    return status == 500 and b'"response_format"' in sent and ("response_format" in said.message or "json_schema" in said.message)


def _flagged(content: bytes, status: int) -> bool:
    """OpenRouter answers 403 to a flagged input, with the reasons."""
    if status not in {400, 403} or b'"reasons"' not in content:
        return False
    try:
        body = json.loads(content)
        return bool(body["error"]["metadata"]["reasons"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def _text(value: Any) -> str:
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    return json.dumps(value) if isinstance(value, Mapping) else ""


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text[:2000]).split())
