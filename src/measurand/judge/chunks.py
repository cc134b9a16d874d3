"""Long records fitted to the longest input a model takes: passages in chunks, never a text cut short."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from measurand.core.errors import InvalidFieldError
from measurand.core.exchange import ModelRequest
from measurand.core.request import Ask
from measurand.judge.exchange import Exchange
from measurand.judge.needs import PASSAGES, Cut, gone_through
from measurand.judge.prompt import fields_in
from measurand.judge.row import Row

Count = Callable[[str], int]


def size(request: ModelRequest, count: Count) -> int:
    """Tokens of a request: its messages, 4 for each and 3 for all, and its schema."""
    schema = 0 if request.schema is None else count(json.dumps(request.schema))
    return sum(count(message.content) + 4 for message in request.messages) + 3 + schema


def check_size(request: ModelRequest, most: int, count: Count, field: str | None = None, at: int | None = None) -> None:
    """Raises `InvalidFieldError` for a request that is too long; `at`: the place of the one passage that it shows."""
    tokens = size(request, count)
    if tokens > most:
        longest = "" if field is None else f", most of them in {field}" if at is None else f" with {field}[{at}] as its only passage"
        raise InvalidFieldError(f"the request has about {tokens} tokens{longest}; max_input_tokens allows {most}", field)


def chunks(request: Ask, row: Row, whole: Exchange, build: Callable[[Cut], Exchange], most: int, count: Count) -> Sequence[Cut]:
    """Which passages go into which request: as few requests as fit them in order; None when all fit into one.

    Raises `InvalidFieldError` when one passage alone does not fit, or when there are no passages to take out.
    """
    if size(whole.request, count) <= most:
        return (None,)
    through = gone_through(request, row)
    name = through if through in PASSAGES else "contexts"
    if (name != through and name not in fields_in(request.question)) or not row.passages(name):
        check_size(whole.request, most, count, _longest(request, row, count))
    sizes = [count(passage) + 4 for passage in row.passages(name)]
    base = size(build((0, 1)).request, count) - sizes[0]
    return [fitted for packed in _packed(sizes, most - base) for fitted in _fitted(packed, name, build, most, count)]


def _packed(sizes: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Runs of neighbours that fit into the room, each as long as can be; at least one in each."""
    start = used = 0
    for at, one in enumerate(sizes):
        if at > start and used + one > room:
            yield start, at
            start, used = at, 0
        used += one
    yield start, len(sizes)


def _fitted(cut: tuple[int, int], name: str, build: Callable[[Cut], Exchange], most: int, count: Count) -> Iterator[tuple[int, int]]:
    """The run, halved until it fits: the sum of parts is not exactly the whole."""
    request = build(cut).request
    first, end = cut
    if end - first == 1:
        check_size(request, most, count, name, first)
        yield cut
    elif size(request, count) <= most:
        yield cut
    else:
        middle = (first + end) // 2
        yield from _fitted((first, middle), name, build, most, count)
        yield from _fitted((middle, end), name, build, most, count)


def _longest(request: Ask, row: Row, count: Count) -> str | None:
    named = [name for name in fields_in(request.question) if row.has(name)]
    return max(named, key=lambda name: count(row.body(name)), default=None)
