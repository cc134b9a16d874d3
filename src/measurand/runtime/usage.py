"""Tokens of a call: what the server reports, and an estimate, marked as one, where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from measurand.core.exchange import ModelRequest, TokenUsage
from measurand.runtime.tokens import estimate, estimate_request

_MOST: Final = 10**9
"""What is more is no count of one call's tokens."""


def usage_of(given: int | None, received: int | None, cached: int | None, request: ModelRequest, text: str) -> TokenUsage:
    """`given`, `received`, `cached`: as reported, None where not. `cached` is a part of what was given."""
    sent = estimate_request(request) if given is None else given
    return TokenUsage(
        sent,
        estimate(text) if received is None else received,
        min(cached or 0, sent),
        given is not None and received is not None,
    )


def count(usage: Any, *path: str) -> int | None:
    """A count of tokens inside a usage object; None where there is none: absent, null, negative, absurd, no number."""
    for name in path:
        usage = usage.get(name) if isinstance(usage, Mapping) else None
    if isinstance(usage, float) and usage.is_integer():
        usage = int(usage)
    return usage if isinstance(usage, int) and not isinstance(usage, bool) and 0 <= usage <= _MOST else None
