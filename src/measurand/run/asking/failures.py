"""How a call fails, made or recorded: a reply that cannot be read, and the cell error that a recorded fault was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from measurand.core import errors

_QUOTED: Final = 200
"""Characters of an unreadable reply that a result keeps."""

_KINDS: Final = (
    errors.RateLimitedError,
    errors.ProviderError,
    errors.CellTimeoutError,
    errors.RefusedError,
    errors.InvalidFieldError,
    errors.InvalidResponseError,
)


class UnreadError(Exception):
    """A reply that is no answer: what is wrong with it, and its first characters."""

    def __init__(self, wrong: str, reply: str) -> None:
        self.reply = reply[:_QUOTED]
        super().__init__(wrong)


def error_of(told: Mapping[str, str]) -> errors.CellError:
    """The cell error that a recorded fault was."""
    kind = next((one for one in _KINDS if one.code == told["code"]), errors.ProviderError)
    return kind(told["message"])
