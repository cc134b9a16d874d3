"""What the record of calls already says of a plan: what a probe found, how long a call takes, which answers are there. Only looked at; nothing is claimed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from measurand.config import ModelSettings
from measurand.core.errors import MeasurandError
from measurand.core.exchange import ChatMessage, ModelRequest
from measurand.core.instance import Instance
from measurand.judge import Probe, probe
from measurand.run.asking.call_key import call_key
from measurand.run.bind import BoundModel
from measurand.run.record_json import completion_of, request_json
from measurand.run.store.values import Recorded
from measurand.runtime.tokens import estimate_request

if TYPE_CHECKING:
    from measurand.run.cassette import Cassette
    from measurand.run.store import Store

_TOGETHER = "|ask:together:"

ENOUGH: Final = 20
"""Recorded calls from which on estimates of tokens follow what the server counted."""


class Known:
    """A store, where there is one, and a cassette under it."""

    def __init__(self, store: Store | None, cassette: Cassette | None, *, imported: bool) -> None:
        self._store = store
        self._cassette = cassette
        self._imported = imported

    @property
    def nothing(self) -> bool:
        """Whether there is neither."""
        return self._store is None and self._cassette is None

    def probes(self, judges: Mapping[str, BoundModel]) -> dict[str, Probe]:
        """Judge → what was found out about it, whoever recorded that."""
        if self.nothing:
            return {}
        found = {name: self._probe(judge) for name, judge in judges.items() if judge.needs_probe}
        return {name: one for name, one in found.items() if one is not None}

    def _probe(self, judge: BoundModel) -> Probe | None:
        from measurand.runtime.model import identity_of

        assert isinstance(judge.settings, ModelSettings)
        exchange = probe()
        recorded = self._find(call_key("probe", identity_of(judge.settings), request_json(exchange.request)), imported=True)
        if recorded is None:
            return None
        found: Probe = exchange.read(completion_of(recorded.reply))
        return found

    def latency(self, models: Sequence[BoundModel]) -> dict[str, float]:
        """Model, as the server knows it → mean seconds of a call."""
        if self._store is None:
            return {}
        found = {one.settings.model: self._store.mean_latency(one.settings.model) for one in models}
        return {name: seconds for name, seconds in found.items() if seconds is not None}

    def corrections(self, judges: Mapping[str, BoundModel]) -> dict[str, float]:
        """Judge → tokens that its server counted for each one estimated, over its last calls; those with too few calls are left out."""
        if self._store is None:
            return {}
        found = {name: _ratio(self._store.counted_requests(judge.settings.model)) for name, judge in judges.items()}
        return {name: ratio for name, ratio in found.items() if ratio is not None}

    def reply(self, key: str) -> Recorded | None:
        """The recorded reply that a run would reuse."""
        return self._find(key, imported=self._imported)

    def _find(self, key: str, *, imported: bool) -> Recorded | None:
        found = None if self._store is None else self._store.recorded(key, imported=imported)
        return self._cassette.recorded(key) if found is None and imported and self._cassette is not None else found

    def regrouped(self, project: str, instances: Sequence[Instance]) -> tuple[str, tuple[str, ...]] | None:
        """The project's newest run and the metrics that it asked together with other questions than this plan does; None when there are none."""
        runs = [] if self._store is None or not any(one.ask == "together" for one in instances) else self._store.runs(project, limit=1)
        if not runs:
            return None
        before = {one.name: _classes(one.signature) for one in runs[0].metrics}
        names = tuple(one.name for one in instances if _classes(one.signature) and before.get(one.name) not in (None, "", _classes(one.signature)))
        return (runs[0].run_id, names) if names else None


def _ratio(counted: Sequence[tuple[Mapping[str, Any], int]]) -> float | None:
    """Tokens counted for each one estimated; None where too few calls, or no tokens at all, were counted."""
    if len(counted) < ENOUGH:
        return None
    estimated = sum(_estimated(request) for request, _ in counted)
    return sum(tokens for _, tokens in counted) / estimated or None


def _estimated(request: Mapping[str, Any]) -> float:
    """The estimate for a recorded request; for the first of several questions that went together its share of what was sent."""
    sent = request.get("sent", request)
    messages = tuple(ChatMessage(one["role"], one["content"]) for one in sent["messages"])
    whole = estimate_request(ModelRequest(messages, schema=sent.get("schema")))
    return whole / len(sent["schema"]["properties"]) if "sent" in request else whole


def _classes(signature: str) -> str:
    """The hash of the questions that were asked together; "" where it was asked by itself."""
    return signature.partition(_TOGETHER)[2].partition("|")[0]


@contextmanager
def known(url: str | None, cassette: Cassette | None, *, imported: bool) -> Iterator[Known]:
    """What the store at `url` (None: there is none) and a cassette say; one that is not there yet, or cannot be read, says nothing.

    `imported`: whether a run would reuse imported replies.
    """
    store = _opened(url)
    try:
        yield Known(store, cassette, imported=imported)
    finally:
        if store is not None:
            store.close()


def _opened(url: str | None) -> Store | None:
    if url is None:
        return None
    from measurand.run.store import open_store

    with suppress(MeasurandError):
        return open_store(url, create=False)
    return None
