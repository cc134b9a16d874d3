"""Replies as models give them, with their tokens, for the tests of the readers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from measurand.core.exchange import Completion, Finish, Token

_PIECE = re.compile(r" ?[^\W\d_]+|\d|\s|.", re.DOTALL)


def pieces(text: str) -> list[str]:
    """A text cut roughly as tokenizers do it; together they are the text again."""
    return _PIECE.findall(text)


def token(text: str, top: Mapping[str, float] | None = None) -> Token:
    """A token with the probabilities of its alternatives; without any it is certain."""
    given = dict(top or {text: 1.0})
    ranked = tuple(sorted(((one, math.log(p)) for one, p in given.items() if p > 0), key=lambda one: -one[1]))
    return Token(text, math.log(given[text]) if given.get(text) else -20.0, ranked)


def tokenized(text: str, tops: Sequence[Mapping[str, float]] = (), *, at: str = "yes|no", finish: Finish = "stop") -> Completion:
    """A reply whose tokens that match `at` have the alternatives of `tops`, in order."""
    left = list(tops)
    tokens = tuple(token(piece, left.pop(0) if left and re.fullmatch(at, piece.strip(), re.IGNORECASE) else None) for piece in pieces(text))
    return Completion(text, finish=finish, tokens=tokens)
