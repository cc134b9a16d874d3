"""The mock server's behaviour: for every request the answer, its delay and fault, and its line in the log."""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections import Counter
from email.utils import formatdate
from typing import Any, Final, TextIO

from tests.servers.mock_http import Ending, HttpRequest, HttpResponse
from tests.servers.mock_refusals import refusal
from tests.servers.mock_replies import ChatReply, Counted, Json, embeddings
from tests.servers.mock_settings import Answer, Settings

ENDPOINTS: Final = {"/chat/completions": "chat", "/embeddings": "embeddings", "/models": "models"}
_STATUS_FAULTS: Final = {"500": 500, "503": 503}


class Service:
    """State of one mock server."""

    def __init__(self, settings: Settings, log_file: TextIO | None = None, *, keep_bodies: bool = True) -> None:
        self.settings = settings
        self.log: list[Json] = []
        self._log_file = log_file
        self._keep_bodies = keep_bodies
        self.reset()

    def reset(self) -> None:
        """Forgets what happened; the settings stay."""
        self.log.clear()
        self.in_flight = 0
        self._random = random.Random(self.settings.seed)
        self._faulted: set[str] = set()
        self._faults = 0
        self._let_in: list[float] = []
        self._answers_used: Counter[int] = Counter()

    def configure(self, **changes: Any) -> None:
        """Changes some settings, for the requests that come from now on."""
        self.settings = self.settings.changed(changes)

    def answer(self, request: HttpRequest) -> Exchange:
        """The answer to a request."""
        if request.path.startswith("/__"):
            return Exchange(self, self._control(request), None)
        endpoint = next((name for ending, name in ENDPOINTS.items() if request.path.endswith(ending)), "other")
        entry = self._begun(endpoint, request)
        return Exchange(self, self._response(endpoint, request, entry), entry)

    # ------------------------------------------------------------ one request

    def _begun(self, endpoint: str, request: HttpRequest) -> Json:
        self.in_flight += 1
        entry: Json = {
            "endpoint": endpoint,
            "path": request.target,
            "t0": time.time(),
            "t1": None,
            "status": None,
            "fault": None,
            "gone": False,
            "in_flight": self.in_flight,
            "hash": hashlib.blake2b(endpoint.encode() + request.body, digest_size=8).hexdigest(),
            "headers": dict(request.headers),
            "body": _json(request.body) if self._keep_bodies else None,
            "prompt_tokens": 0,
            "schema_tokens": 0,
            "completion_tokens": 0,
        }
        self.log.append(entry)
        return entry

    def _response(self, endpoint: str, request: HttpRequest, entry: Json) -> HttpResponse:
        settings = self.settings
        body = _json(request.body)
        refused = refusal(settings, endpoint, request, body, before_limits=True)
        if refused is not None:
            return refused
        fault = self._fault(endpoint, request, entry)
        entry["fault"] = fault
        if fault == "429":
            return self._too_many()
        if fault in _STATUS_FAULTS:
            return HttpResponse.of(_STATUS_FAULTS[fault], {"error": {"message": _quoting(settings, request, "server error"), "type": "server_error"}})
        refused = refusal(settings, endpoint, request, body, before_limits=False)
        if refused is not None:
            return refused
        return self._reply(endpoint, body, fault, entry)

    def _reply(self, endpoint: str, body: Json, fault: str | None, entry: Json) -> HttpResponse:
        settings = self.settings
        headers: dict[str, str] = {}
        if endpoint == "models":
            return HttpResponse.of(200, {"object": "list", "data": [{"id": settings.model or "mock", "object": "model"}]})
        if endpoint == "chat":
            answer = self._scripted(body)
            if answer is not None and answer.status != 200:
                raw = answer.reply if isinstance(answer.reply, str) else json.dumps(answer.reply)
                return HttpResponse(answer.status, raw.encode(), answer.headers, self._latency())
            headers = answer.headers if answer else {}
            counted = ChatReply(settings, body, fault, answer).counted()
        else:
            counted = embeddings(settings, body)
        _charge(entry, counted)
        delay = self._latency() + settings.ms_per_output_token * counted.completion_tokens / 1000
        delay = settings.hang_s if fault == "hang" else delay + (settings.slow_s if fault == "slow" else 0)
        if fault == "html":
            return HttpResponse(200, b"<html><body>Sign in to continue</body></html>", {"Content-Type": "text/html"}, delay)
        ending: Ending = "reset" if fault == "disconnect" else "cut" if fault == "cut" else "whole"
        return HttpResponse.of(200, counted.reply, headers=headers, delay=delay, ending=ending)

    def _latency(self) -> float:
        return (self.settings.latency_ms + self._random.random() * self.settings.jitter_ms) / 1000

    def _scripted(self, body: Json) -> Answer | None:
        prompt = json.dumps(body.get("messages", []), ensure_ascii=False)
        for number, answer in enumerate(self.settings.answers):
            if answer.times and self._answers_used[number] >= answer.times:
                continue
            if re.search(answer.match, prompt, re.DOTALL):
                self._answers_used[number] += 1
                return answer
        return None

    def _too_many(self) -> HttpResponse:
        after = self.settings.retry_after
        if after is not None and after.startswith("date:"):
            after = formatdate(time.time() + float(after[5:]), usegmt=True)
        headers = {} if after is None else {"Retry-After": after}
        error = {"message": "Rate limit reached", "type": "rate_limit_error", "code": "rate_limit_exceeded"}
        return HttpResponse.of(429, {"error": error}, headers=headers, delay=min(self._latency(), 0.02))

    # ------------------------------------------------------------ faults and limits

    def _fault(self, endpoint: str, request: HttpRequest, entry: Json) -> str | None:
        return self._injected(endpoint, request, entry) or ("429" if self._over_limit(endpoint, entry) else None)

    def _injected(self, endpoint: str, request: HttpRequest, entry: Json) -> str | None:
        settings = self.settings
        if not settings.faults or endpoint not in {"chat", "embeddings"} or settings.fault_on not in {"all", endpoint}:
            return None
        if settings.fault_where and not re.search(settings.fault_where, request.body.decode("utf-8", "replace")):
            return None
        if (settings.fault_once and entry["hash"] in self._faulted) or (settings.fault_first and self._faults >= settings.fault_first):
            return None
        drawn = self._random.random()
        for fault, rate in settings.faults.items():
            drawn -= rate
            if drawn < 0:
                self._faulted.add(entry["hash"])
                self._faults += 1
                return fault
        return None

    def _over_limit(self, endpoint: str, entry: Json) -> bool:
        settings = self.settings
        if endpoint == "models":
            return False
        if settings.max_inflight and self.in_flight > settings.max_inflight:
            return True
        if settings.rpm:
            now = entry["t0"]
            self._let_in = [one for one in self._let_in if one > now - 60]
            if len(self._let_in) >= settings.rpm:
                return True
            self._let_in.append(now)
        return False

    # ------------------------------------------------------------ what is told

    def ended(self, entry: Json, status: int, *, gone: bool) -> None:
        """A request was answered, or its client went away."""
        self.in_flight -= 1
        entry.update(t1=time.time(), status=None if gone else status, gone=gone)
        if self._log_file is not None:
            self._log_file.write(json.dumps(entry) + "\n")
            self._log_file.flush()

    def stats(self) -> Json:
        """Counts over the log."""
        entries = [one for one in list(self.log) if one["endpoint"] in {"chat", "embeddings"}]
        ended = [one["t1"] for one in entries if one["t1"] is not None]
        bodies = Counter(one["hash"] for one in entries)
        return {
            "calls": dict(Counter(one["endpoint"] for one in entries)),
            "status": dict(Counter(str(one["status"]) for one in entries if one["status"] is not None)),
            "faults": dict(Counter(one["fault"] for one in entries if one["fault"])),
            "prompt_tokens": sum(one["prompt_tokens"] for one in entries if one["endpoint"] == "chat"),
            "embedding_tokens": sum(one["prompt_tokens"] for one in entries if one["endpoint"] == "embeddings"),
            "completion_tokens": sum(one["completion_tokens"] for one in entries),
            "most_in_flight": max((one["in_flight"] for one in entries), default=0),
            "in_flight": self.in_flight,
            "span_s": max(ended) - min(one["t0"] for one in entries) if ended else 0.0,
            "unique_bodies": len(bodies),
            "repeated_bodies": sum(bodies.values()) - len(bodies),
            "gone": sum(one["gone"] for one in entries),
        }

    def _control(self, request: HttpRequest) -> HttpResponse:
        """/__stats, /__log, /__reset, /__config: the server's remote control, where it runs as a process of its own."""
        if request.path == "/__config" and request.body:
            try:
                self.configure(**json.loads(request.body))
            except (ValueError, TypeError) as error:
                return HttpResponse.of(400, {"error": str(error)})
        if request.path == "/__reset":
            self.reset()
        told: dict[str, Any] = {"/__stats": self.stats, "/__log": lambda: self.log, "/__config": self.settings.as_json, "/__reset": dict}
        if request.path not in told:
            return HttpResponse.of(404, {"error": "no such control"})
        return HttpResponse.of(200, told[request.path]())


class Exchange:
    """One request's answer, and its line in the log; control requests have none."""

    def __init__(self, service: Service, response: HttpResponse, entry: Json | None) -> None:
        self.response = response
        self._service = service
        self._entry = entry

    def done(self, *, gone: bool) -> None:
        if self._entry is not None:
            gone = gone or self.response.ending != "whole"
            self._service.ended(self._entry, self.response.status, gone=gone)


def _charge(entry: Json, counted: Counted) -> None:
    entry.update(prompt_tokens=counted.prompt_tokens, schema_tokens=counted.schema_tokens, completion_tokens=counted.completion_tokens)


def _quoting(settings: Settings, request: HttpRequest, message: str) -> str:
    return f"{message} (authorization: {request.headers.get('authorization')})" if settings.echo_authorization else message


def _json(body: bytes) -> Json:
    try:
        value = json.loads(body) if body else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
