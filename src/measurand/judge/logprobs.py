"""Probabilities of answers from the log-probabilities of a reply's tokens."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from attrs import frozen

from measurand.core.exchange import Completion, Token
from measurand.judge.exchange import Unreadable
from measurand.judge.reply import answer_of, answer_start, fold, folded, named, placed_word

LOW_MASS: Final = 0.5
"""Under this share of the probability on valid answers a verdict is flagged."""
NO_MASS: Final = 0.1
"""Under this share there is no verdict."""
NEGLIGIBLE: Final = 0.001
"""An answer that the server does not list has at most what is left of 1; above this it is flagged that its 0 is a lower bound."""


@frozen
class Distribution:
    """Probabilities of the options, adding up to 1, and the mass that lay on them before."""

    probabilities: dict[str, float]
    mass: float
    flags: tuple[str, ...]


def distribution(token: Token, labels: Mapping[str, str]) -> Distribution:
    """The distribution over the options at one token: variants of a label in case, width, leading space, punctuation and markdown are one.

    Raises `Unreadable` when less than 0.1 of the probability lies on valid answers, and when the emitted token has none.
    """
    found, listed = _masses(token, labels)
    if _share(max(dict(token.top).get(token.text, -math.inf), token.logprob)) == 0.0:
        raise Unreadable("the token that it answers with comes without a probability")
    mass = sum(found.values())
    if not mass >= NO_MASS:
        raise Unreadable(f"only {100 * mass:.0f} % of its probability lies on the answers {', '.join(labels)}")
    absent = len(found) < len(set(labels.values())) and 1.0 - listed > NEGLIGIBLE
    flags = (*(("low_mass",) if mass < LOW_MASS else ()), *(("absent_answer",) if absent else ()))
    return Distribution({option: found.get(option, 0.0) / mass for option in labels.values()}, min(mass, 1.0), flags)


def _masses(token: Token, labels: Mapping[str, str]) -> tuple[dict[str, float], float]:
    """Mass by option, and the mass of all tokens listed."""
    options = folded(labels)
    found: dict[str, float] = {}
    listed = 0.0
    top = dict(token.top)
    for text, logprob in {**top, token.text: max(top.get(token.text, -math.inf), token.logprob)}.items():
        p = _share(logprob)
        listed += p
        option = named(text, labels, options) or options.get(fold(_NUMBERED.sub("", text)))
        if option is not None and p > 0.0:
            found[option] = found.get(option, 0.0) + p
    return found, listed


def _share(logprob: float) -> float:
    return math.exp(logprob) if -100.0 < logprob <= 0.0 else 1.0 if 0.0 < logprob < 1e-3 else 0.0


_NUMBERED: Final = re.compile(r"^\s*\d+[.):]\s*(?=\D)")


@frozen
class _Tape:
    """A reply's tokens as one text, and where each begins."""

    tokens: Sequence[Token]
    text: str
    starts: Sequence[int]

    def at(self, place: int) -> Token:
        return self.tokens[bisect_right(self.starts, place) - 1]


def _tape(completion: Completion) -> _Tape:
    tokens = completion.tokens
    if not tokens:
        raise Unreadable("it comes without the log-probabilities that were asked for")
    return _Tape(tokens, "".join(token.text for token in tokens), [0, *accumulate(len(token.text) for token in tokens)][:-1])


def read_single(completion: Completion, labels: Mapping[str, str], data: str = "") -> Distribution:
    """The distribution at the first token of the answer. Raises `Unreadable`, also when the text is no answer of the form."""
    tape = _tape(completion)
    start, doubtful = answer_of(tape.text, data)
    cut = completion.finish == "length"
    try:
        _, place = placed_word(_before_cut(tape.text[start:]) if cut else tape.text[start:], labels, data, doubtful=doubtful)
    except Unreadable as wrong:
        raise Unreadable(f"{wrong}; it was cut off by the token limit (max_tokens)") if cut else wrong from None
    return distribution(tape.at(start + place), labels)


_UNFINISHED: Final = re.compile(r"(?<=[\w*)][.,;:!\n]).*\Z|(?<=\bbecause).*\Z", re.DOTALL)


def _before_cut(text: str) -> str:
    """A reply that the token limit cut, up to its first stop: an answer before that is whole."""
    return _UNFINISHED.sub("", text, count=1)


_ENTRY: Final = re.compile(r"^[ \t>*_`#~(\[-]*(\d{1,6})[ \t]*[*_`)\]]*[ \t]*[.):\]-][*_`)\]]*[ \t]*(?=\S)", re.MULTILINE)


def read_list(completion: Completion, labels: Mapping[str, str], n: int) -> list[Distribution]:
    """A distribution for each of `n` numbered lines, at the token after the number. Raises `Unreadable` for a missing, doubled or foreign number."""
    tape = _tape(completion)
    start = answer_start(tape.text)
    text = tape.text
    entries = [(int(found.group(1)), found.end()) for found in _ENTRY.finditer(text, start)]
    numbers = [number for number, _ in entries]
    if numbers != list(range(1, n + 1)):
        told = f"it has {len(numbers)} numbered lines" if len(numbers) != n else "its lines are not numbered from 1 on"
        raise Unreadable(f"{told}; {n} were asked for, one for each item")
    found = []
    for _, place in entries:
        end = text.find("\n", place)
        _, at = placed_word(text[place : len(text) if end < 0 else end], labels)
        found.append(distribution(tape.at(place + at), labels))
    return found
