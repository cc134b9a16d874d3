"""The words of a tool's name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from measurand.core.record import ToolCall


@lru_cache(maxsize=1024)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters: `deleteUser`, `delete_user`, `Delete-User` and `users.delete` hold `delete`, `undelete` does not."""
    return tuple(word.casefold() for word in _boundary().split(name) if word)


@cache
def _boundary() -> re.Pattern[str]:
    return re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def named_by(calls: Sequence[ToolCall], words: Iterable[str]) -> list[ToolCall]:
    """The calls of tools whose name holds one of the words. A word of several (`shut_down`) is held where they follow each other."""
    wanted = [parts for word in words if (parts := name_words(word))]
    return [call for call in calls if _holds(name_words(call.name), wanted)]


def _holds(words: tuple[str, ...], wanted: Sequence[tuple[str, ...]]) -> bool:
    return any(words[start : start + len(parts)] == parts for parts in wanted for start in range(len(words) - len(parts) + 1))
