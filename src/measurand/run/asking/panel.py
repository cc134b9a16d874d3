"""Several judges at once: who of them is asked what."""

from __future__ import annotations

from typing import Any

from measurand.core.instance import Instance
from measurand.core.request import Ask, Prefer, Request


def asked_of(one: Instance, request: Request[Any]) -> tuple[str, ...]:
    """The judges a request goes to: a question to every judge of the panel; claims and texts come from the first, so that all judge the same."""
    return one.judge if isinstance(request, (Ask, Prefer)) else one.judge[:1]
