"""The requests and replies of one row, as people and programs read them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypedDict

from measurand.report.terminal import counted, duration, safe, safe_lines, thousands, usd

if TYPE_CHECKING:
    from measurand.run.store import RunInfo, StoredCall

LONGEST: Final = 2_000
"""Characters of one text that a terminal shows."""


class RequestJson(TypedDict):
    """One request and its reply."""

    metrics: list[str]
    key: str
    kind: str
    model: str
    status: str
    imported: bool
    request: dict[str, Any] | None
    reply: dict[str, Any] | None
    usage: dict[str, Any]
    served: dict[str, Any] | None


class RequestsJson(TypedDict):
    """The last line of `metrics results RUN --id SAMPLE --json`, where the row's results asked a model."""

    sample_id: str
    requests: list[RequestJson]


def requests_json(sample_id: str, calls: Sequence[StoredCall], info: RunInfo) -> RequestsJson:
    """Everything that was asked for a row, and answered."""
    return {
        "sample_id": sample_id,
        "requests": [
            {
                "metrics": _metrics(one, info),
                "key": one.key,
                "kind": one.kind,
                "model": one.model,
                "status": one.status,
                "imported": one.imported,
                "request": one.request,
                "reply": one.reply,
                "usage": one.usage,
                "served": one.served,
            }
            for one in calls
        ],
    }


def requests_lines(calls: Sequence[StoredCall], info: RunInfo, *, longest: int | None = None) -> list[str]:
    """The same in words. `longest`: characters of one text that are shown; None: all."""
    lines: list[str] = []
    for number, call in enumerate(calls, start=1):
        lines += ["", f"request {number} of {len(calls)} · {safe(', '.join(_metrics(call, info)))} · {_facts(call)}"]
        lines += _said(call.request, longest) if call.request is not None else ["  the request is not kept"]
        lines += _answered(call, longest)
    return lines


def _metrics(call: StoredCall, info: RunInfo) -> list[str]:
    return [info.metrics[metric].name for _, metric in call.uses]


def _facts(call: StoredCall) -> str:
    usage = call.usage
    tokens = f"{thousands(usage.get('input_tokens', 0))} + {counted(usage.get('output_tokens', 0), 'token')}"
    cost = usage.get("cost_usd")
    served = (call.served or {}).get("model")
    facts = [
        safe(call.model) if served in (None, call.model) else f"{safe(call.model)} (answered by {safe(str(served))})",
        call.kind if call.kind != "chat" else "",
        call.status if call.status != "ok" else "",
        tokens if usage.get("reported") else f"about {tokens}",
        f"{usd(cost)} USD" if cost is not None else "",
        duration(usage.get("latency_s") or 0.0),
        "imported" if call.imported else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def _said(request: dict[str, Any], longest: int | None) -> list[str]:
    messages = request.get("messages")
    if not isinstance(messages, list):
        return _entry("asked", request, longest)
    lines = [line for one in messages for line in _entry(str(one.get("role")), one.get("content"), longest)]
    return lines + [line for name, value in request.items() if name not in ("messages", "typed") for line in _entry(name, value, longest)]


def _answered(call: StoredCall, longest: int | None) -> list[str]:
    if call.reply is None:
        return ["  the reply is not kept ([run] content)"]
    if call.kind == "embedding" and "vector" in call.reply:
        return [f"  reply: a vector of {len(call.reply['vector']) * 3 // 4 // 4} numbers"]
    if "text" in call.reply:
        return _entry("reply", call.reply["text"], longest)
    return _entry("reply", call.reply, longest)


def _entry(name: str, value: Any, longest: int | None) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    more = 0 if longest is None else max(0, len(text) - longest)
    first, *rest = safe_lines(text[: len(text) - more]).split("\n")
    cut = [f"    … {thousands(more)} more characters; --json shows all"] if more else []
    return [f"  {safe(name)}: {first}", *(f"    {line}" for line in rest), *cut]
