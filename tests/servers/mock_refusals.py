"""What the mock server refuses, worded as real servers word it."""

from __future__ import annotations

import re
from typing import Any

from tests.servers.mock_http import HttpRequest, HttpResponse
from tests.servers.mock_replies import prompt_tokens
from tests.servers.mock_settings import Settings
from tests.servers.mock_text import message_text

Json = dict[str, Any]


def refusal(settings: Settings, endpoint: str, request: HttpRequest, body: Json, *, before_limits: bool) -> HttpResponse | None:
    """The refusal of a request, None if it is to be answered. Who asks is checked before the rate limits, what is asked after them."""
    checks = (_place, _key) if before_limits else (_declined, _embeddings, _parameters, _content, _size)
    for check in checks:
        found = check(settings, endpoint, request, body)
        if found is not None:
            return found
    return None


def _error(settings: Settings, request: HttpRequest, status: int, message: str, **more: Any) -> HttpResponse:
    if settings.echo_authorization:
        message = f"{message} (authorization: {request.headers.get('authorization')})"
    return HttpResponse.of(status, {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}})


def _place(settings: Settings, endpoint: str, request: HttpRequest, body: Json) -> HttpResponse | None:
    if settings.redirect_to is not None:
        return HttpResponse(settings.redirect_status, b"", {"Location": settings.redirect_to})
    if endpoint == "other":
        return _error(settings, request, 404, f"no such path {request.path}")
    if settings.not_found:
        return _error(settings, request, 404, f"The model `{body.get('model')}` does not exist or you do not have access to it.", code="model_not_found")
    return None


def _key(settings: Settings, endpoint: str, request: HttpRequest, body: Json) -> HttpResponse | None:
    if settings.forbidden:
        return _error(settings, request, 403, "This key may not use this model.", code="forbidden")
    if settings.api_key is None:
        return None
    headers = request.headers
    given = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("api-key") or headers.get("x-api-key") or ""
    if given == settings.api_key:
        return None
    return _error(settings, request, 401, f"Incorrect API key provided: {given[:4]}***.", code="invalid_api_key")


def _declined(settings: Settings, endpoint: str, request: HttpRequest, body: Json) -> HttpResponse | None:
    if settings.declines is None or not re.search(settings.declines, request.body.decode("utf-8", "replace"), re.DOTALL):
        return None
    return _error(settings, request, 400, "The input cannot be processed.")


def _embeddings(settings: Settings, endpoint: str, request: HttpRequest, body: Json) -> HttpResponse | None:
    if endpoint != "embeddings":
        return None
    if settings.no_embeddings:
        return _error(settings, request, 501, "This server does not support embeddings. Start it with `--embeddings`", type="not_supported_error", code=501)
    if settings.batch_limit and isinstance(body.get("input"), list) and len(body["input"]) > settings.batch_limit:
        return _error(settings, request, 400, f"Too many inputs: {len(body['input'])}, at most {settings.batch_limit}.", param="input")
    return None


def _parameters(settings: Settings, endpoint: str, request: HttpRequest, body: Json) -> HttpResponse | None:
    form = (body.get("response_format") or {}).get("type")
    for name in settings.refuses:
        if name in {"json_schema", "json_object"}:
            refused = form == name
        elif name == "temperature":
            refused = body.get("temperature", 1) != 1
        elif name == "logprobs":
            refused = bool(body.get("logprobs"))
        else:
            refused = name in body
        if refused:
            return _refused_parameter(settings, request, name, body)
    if settings.slots and int(body.get("n") or 1) > settings.slots:
        return _error(settings, request, 400, f"Field 'n': Value must be between 1 <= value <= {settings.slots}, but got {body['n']}")
    return None


def _refused_parameter(settings: Settings, request: HttpRequest, name: str, body: Json) -> HttpResponse:
    if name in {"json_schema", "json_object"}:
        param, code = "response_format", None
        message = f"Invalid parameter: 'response_format' of type '{name}' is not supported with this model."
    elif name == "temperature":
        param, code = name, "unsupported_value"
        message = f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. Only the default (1) value is supported."
    else:
        param, code = name, "unsupported_parameter"
        instead = {"max_tokens": " Use 'max_completion_tokens' instead.", "max_completion_tokens": " Use 'max_tokens' instead."}.get(name, "")
        message = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
    if settings.refusal_style == "message":
        return HttpResponse.of(400, {"error": message})
    if settings.refusal_style == "detail":
        return HttpResponse.of(
            422, {"detail": [{"type": "extra_forbidden", "loc": ["body", param], "msg": "Extra inputs are not permitted", "input": body.get(param)}]}
        )
    return _error(settings, request, 400, message, param=param, code=code)


def _content(settings: Settings, endpoint: str, request: HttpRequest, body: Json) -> HttpResponse | None:
    if settings.content_filter is None or endpoint != "chat":
        return None
    text = "\n".join(message_text(one) for one in body.get("messages", []))
    if not re.search(settings.content_filter, text, re.DOTALL):
        return None
    message = "The response was filtered due to the prompt triggering the content management policy."
    return _error(settings, request, 400, message, param="prompt", code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"})


def _size(settings: Settings, endpoint: str, request: HttpRequest, body: Json) -> HttpResponse | None:
    if not settings.context_size or endpoint != "chat":
        return None
    size = sum(prompt_tokens(body))
    if size <= settings.context_size:
        return None
    message = f"request ({size} tokens) exceeds the available context size ({settings.context_size} tokens), try increasing it"
    return _error(settings, request, 400, message, type="exceed_context_size_error", code=400, n_prompt_tokens=size, n_ctx=settings.context_size)
