"""What is sent for a request of a metric, how each reply is read, and what the replies say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve, frozen

from measurand.core.exchange import Completion, ModelRequest, Way


class Unreadable(Exception):  # noqa: N818  # it is a finding about a reply, also kept as a value
    """A reply that is no answer to its question; the text says what is wrong with it, and never quotes it."""


@frozen
class Ways:
    """How one model is asked single questions, and questions over a list of items."""

    single: Way
    items: Way


@frozen(eq=False)
class Exchange:
    """One request and how its reply is read.

    `read` raises `Unreadable`, or `RefusedError` when the model would not answer. Equal requests have readings that can stand for each other.
    """

    request: ModelRequest
    read: Callable[[Completion], Any]
    output_tokens: int
    """Tokens that a good reply of this form has."""

    def repair(self, wrong: str) -> Exchange:
        """The one request that asks again: the same messages and a last paragraph that says what was wrong. The reply itself is not quoted."""
        *before, last = self.request.messages
        again = evolve(last, content=f"{last.content}\n\nYour last reply could not be used: {wrong}. Reply again, in exactly the form asked for.")
        return evolve(self, request=evolve(self.request, messages=(*before, again)))


@frozen
class Reply:
    """The answer to a metric's request."""

    value: Any
    """What the metric is sent: a `Verdict`, a list of them, or a list of str."""
    draws: tuple[dict[str, Any], ...] = ()
    """One entry per draw, as JSON: `{"draw": 0, "probabilities": {…}}`, or `{"draw": 0, "values": […]}` over items."""
    flags: tuple[str, ...] = ()
    """What a reader of the score should know: `low_mass`, `absent_answer`, `claims_cut`, `flip`, `chunked`."""


@frozen(eq=False)
class Asked:
    """All exchanges that one request of a metric takes; `combine` is given their readings in order."""

    parts: tuple[Exchange, ...]
    combine: Callable[[Sequence[Any]], Reply]
