"""What a metric that asks would send for its example: the same code path as a run, with stand-in replies, and nothing is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from measurand.core.errors import CellError
from measurand.core.metric import Metric
from measurand.report import terminal
from measurand.report.catalogue_json import requests_on_example, split_example
from measurand.report.visible import safe, safe_lines, wrapped

if TYPE_CHECKING:
    from measurand.core.exchange import ModelRequest
    from measurand.core.request import Request
    from measurand.judge import Row
    from measurand.report.shapes import RequestJson, SentJson

_QUOTED: Final = "  > "
_CONTINUED: Final = "    "


def example_requests(one: Metric[Any]) -> list[RequestJson] | None:
    """The requests of the example; None for a metric that asks nobody, or one that cannot be driven by hand."""
    if not (one.judge or one.embedder) or not one.example:
        return None
    made = requests_on_example(one)
    if made is None:
        return None
    from measurand.core.coerce import typed_fields
    from measurand.judge import Row

    row = Row(typed_fields(split_example(one)[0]))
    try:
        return [_request_json(request, row) for request in made]
    except (CellError, TypeError):  # an example that a judge cannot be shown, a request that no judge answers
        return None


def _request_json(request: Request[Any], row: Row) -> RequestJson:
    from measurand.core.request import Embed

    if isinstance(request, Embed):
        return {"kind": "embed", "sent": None, "sampled": None, "texts": list(request.texts)}
    from measurand.judge import Ways, asked

    sent, sampled = (asked(request, row, Ways(way, way), count=len).parts[0].request for way in ("logprobs", "sampled"))
    kind: Any = type(request).__name__.lower()
    return {"kind": kind, "sent": _sent_json(sent), "sampled": _sent_json(sampled) if sampled != sent else None, "texts": None}


def _sent_json(request: ModelRequest) -> SentJson:
    return {
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "schema": None if request.schema is None else dict(request.schema),
        "logprobs": request.logprobs,
        "max_tokens": request.max_tokens,
    }


# ---------------------------------------------------------------- text


def request_lines(requests: list[RequestJson], width: int) -> Iterator[str]:
    """The requests as they would be sent, each line of a message behind ">", one that goes on indented."""
    system = ""
    for number, one in enumerate(requests, 1):
        yield ""
        yield terminal.dim(f"request {number} of {len(requests)}" if len(requests) > 1 else "request")
        if one["sent"] is None:
            yield from wrapped("to the embedding model, one vector for each text:", width, "  ")
            yield from (line for text in one["texts"] or () for line in _quoted(text, width))
            continue
        if number > 1 and requests[number - 2]["kind"] == "split":
            yield "  claims as the judge might have found them"
        for message in one["sent"]["messages"]:
            if message["role"] == "system" and message["content"] == system:
                yield "  system: as before"
                continue
            system = message["content"] if message["role"] == "system" else system
            yield f"  {message['role']}"
            yield from _quoted(message["content"], width)
        yield from wrapped(_reply_form(one["sent"]), width, "  ")
        yield from _sampled_lines(one, width)


def _sampled_lines(one: RequestJson, width: int) -> Iterator[str]:
    """What differs where the model's replies have no token probabilities."""
    sent, sampled = one["sent"], one["sampled"]
    if sent is None or sampled is None:
        return
    mine, theirs = (list(part["messages"][-1]["content"].split("\n")) for part in (sent, sampled))
    same = next((at for at, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), min(len(mine), len(theirs)))
    yield from wrapped("a model without token probabilities is asked the same, but for the end:", width, "  ")
    yield from _quoted("\n".join(theirs[same:]), width)
    yield from wrapped(_reply_form(sampled), width, "  ")


def _reply_form(sent: SentJson) -> str:
    most = "" if sent["max_tokens"] is None else f", at most {terminal.counted(sent['max_tokens'], 'token')}"
    if sent["schema"] is not None:
        return f"reply: JSON{most}, by the schema {_json(sent['schema'])}"
    return f"reply: text{most}{', with the probabilities of its tokens' if sent['logprobs'] else ''}"


def _quoted(text: str, width: int) -> Iterator[str]:
    for line in safe_lines(text).split("\n"):
        first, *rest = wrapped(line, width, _CONTINUED)
        yield _QUOTED + first[len(_CONTINUED) :]
        yield from rest


def _json(value: Mapping[str, Any]) -> str:
    return safe(json.dumps(value, ensure_ascii=False))
