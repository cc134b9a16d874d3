"""The command line as it was typed: what a run keeps of it, and what `check` proposes to type next."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Final

_OF_CHECK: Final = "check"
_WITH_VALUE: Final = ("--expect-plan", "--color")
_DROPPED: Final = ("--json", "-q", "--quiet", "-v", "--verbose")
_RUNTIMES: Final = ("models.", "embeddings.")


def kept_words() -> list[str]:
    """The words of the command line, secrets in URLs and every value set under [models] and [embeddings] left out."""
    from measurand.config import redact

    return ["metrics", *(redact(word) for word in _without_values(sys.argv[1:]))]


def _without_values(words: Sequence[str]) -> Iterator[str]:
    before = ""
    for word in words:
        flag, equals, setting = word.partition("=") if word.startswith("--set=") else (before, " ", word)
        if flag == "--set" and setting.strip().startswith(_RUNTIMES):
            key = setting.partition("=")[0]
            yield f"{'--set=' if equals == '=' else ''}{key}=<redacted>"
        else:
            yield word
        before = word


def run_command() -> str:
    """The `metrics run` that does what the `metrics check` that was typed looked at."""
    words = list(sys.argv[1:])
    if _OF_CHECK in words:
        words[words.index(_OF_CHECK)] = "run"
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word not in _DROPPED and word.partition("=")[0] not in _WITH_VALUE:
            kept.append(word)
        skip = not skip and word in _WITH_VALUE
    return shlex.join(["metrics", *kept])
