"""Which words a judge is asked in: what tells an answer recorded under other words from one that can be reused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from measurand.core.judged import Question
from measurand.judge.forms import WORDS
from measurand.judge.prompt import SYSTEM

PROMPT_VERSION: Final = 1
"""Raised when a request is put together in another way although none of its words change."""


def prompt_hash(*asked: Any) -> str:
    """6 hex digits over the system text, the answer forms and what is asked: strings, or judged questions as worded before a row is known."""
    said = [str(PROMPT_VERSION), SYSTEM, *WORDS, *(_words(one) for one in asked)]
    return hashlib.blake2b("\0".join(said).encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()


def _words(asked: Any) -> str:
    if isinstance(asked, str):
        return asked
    if isinstance(asked, Sequence):
        return "\0".join(_words(one) for one in asked)
    return repr([asked.ask, asked.form, asked.claims, asked.sentences, asked.each]) if isinstance(asked, Question) else repr(asked)
