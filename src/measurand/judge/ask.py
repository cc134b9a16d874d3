"""A metric's request as exchanges: repeated draws, both orders of a pair, passages in chunks; and what their readings say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from measurand.core.request import Ask, Prefer, Request, Split, Verdict, Write
from measurand.judge.chunks import check_size, chunks
from measurand.judge.exchange import Asked, Exchange, Reply, Ways
from measurand.judge.exchanges import Reading, closed_question, prefer, split, write
from measurand.judge.needs import PASSAGES, Cut, gone_through
from measurand.judge.row import Row

Count = Callable[[str], int]


def asked(request: Request[Any], row: Row, ways: Ways, *, draws: int = 1, max_input_tokens: int | None = None, count: Count) -> Asked:
    """All exchanges a request takes.

    `draws`: how often a closed question is asked. `max_input_tokens`: longest request; `contexts` that do not fit are shown in chunks, the verdict
    with the highest value counting, and a flag tells. `count`: tokens of a text. Raises `InvalidFieldError` when a field cannot be shown, or when
    even one passage, or another text, does not fit.
    """
    match request:
        case Ask(over=()):
            return Asked((), lambda _: Reply([]))
        case Ask():
            return _closed(request, row, ways, draws, max_input_tokens, count)
        case Split(max_claims=most):
            return Asked(_fitting((split(request, row, ways.single, count),), max_input_tokens, count), partial(_claims, most))
        case Write():
            return Asked(_fitting((write(request, row, ways.single),), max_input_tokens, count), lambda found: Reply(found[0].value))
        case Prefer():
            parts = tuple(prefer(request, row, ways.single, draw, swapped=swapped) for draw in range(draws) for swapped in (False, True))
            return Asked(_fitting(parts, max_input_tokens, count), _preference)
        case _:
            raise TypeError(f"a judge is not asked {type(request).__name__}")


def _closed(request: Ask, row: Row, ways: Ways, draws: int, most: int | None, count: Count) -> Asked:
    way = ways.single if request.over is None else ways.items

    def build(cut: Cut, draw: int = 0) -> Exchange:
        return closed_question(request, row, way, draw, cut)

    whole = build(None)
    cuts: Sequence[Cut] = (None,) if most is None else chunks(request, row, whole, build, most, count)
    parts = [whole if cut is None and draw == 0 else build(cut, draw) for draw in range(draws) for cut in cuts]
    return Asked(tuple(parts), partial(_verdicts, len(cuts), gone_through(request, row) in PASSAGES))


def _fitting(parts: tuple[Exchange, ...], most: int | None, count: Count) -> tuple[Exchange, ...]:
    if most is not None:
        for part in parts:
            check_size(part.request, most, count)
    return parts


# ---------------------------------------------------------------- readings together


def _verdicts(per_draw: int, in_turn: bool, readings: Sequence[Reading]) -> Reply:
    """Chunks of one draw joined (verdicts on passages follow one another, others count by the highest), then the mean over the draws."""
    drawn = [_joined(readings[at : at + per_draw], in_turn) for at in range(0, len(readings), per_draw)]
    flags = dict.fromkeys(flag for reading in drawn for flag in reading.flags)
    if per_draw > 1:
        flags["chunked"] = None
    return Reply(mean([reading.value for reading in drawn]), tuple(_draw(number, one) for number, one in enumerate(drawn)), tuple(flags))


def _joined(chunked: Sequence[Reading], in_turn: bool) -> Reading:
    if len(chunked) == 1:
        return chunked[0]
    flags = tuple(dict.fromkeys(flag for reading in chunked for flag in reading.flags))
    values = [reading.value for reading in chunked]
    if isinstance(values[0], Verdict):
        return Reading(_highest(values), flags)
    if in_turn:
        return Reading([verdict for value in values for verdict in value], flags, tuple(mass for reading in chunked for mass in reading.mass))
    return Reading([_highest(each) for each in zip(*values, strict=True)], flags)


def _highest(verdicts: Sequence[Verdict]) -> Verdict:
    return max(verdicts, key=lambda verdict: -1.0 if verdict.value is None else verdict.value)


def mean(values: Sequence[Any]) -> Any:
    """The mean distribution of verdicts, or of each place in lists of verdicts."""
    first = values[0]
    if len(values) == 1:
        return first
    if isinstance(first, Verdict):
        n = len(values)
        return Verdict(first.form, {option: sum(one.probabilities.get(option, 0.0) for one in values) / n for option in first.form.options})
    return [mean(each) for each in zip(*values, strict=True)]


def _draw(number: int, reading: Reading) -> dict[str, Any]:
    told: dict[str, Any] = {"draw": number}
    if isinstance(reading.value, Verdict):
        told["probabilities"] = dict(reading.value.probabilities)
    else:
        told["values"] = [verdict.value for verdict in reading.value]
    if reading.mass:
        told["mass"] = min(reading.mass)
    return told


def _claims(most: int, readings: Sequence[Reading]) -> Reply:
    claims = readings[0].value
    return Reply(claims[:most], (), ("claims_cut",) if len(claims) > most else ())


def _preference(readings: Sequence[Reading]) -> Reply:
    """p(a is better): the mean of both orders over all draws."""
    pairs = [(one.value.probabilities["A"], other.value.probabilities["B"]) for one, other in zip(readings[::2], readings[1::2], strict=True)]
    draws = tuple({"draw": number, "probabilities": dict(Verdict.yes((p + q) / 2).probabilities), "orders": [p, q]} for number, (p, q) in enumerate(pairs))
    as_given, swapped = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    flags = dict.fromkeys(flag for reading in readings for flag in reading.flags)
    if (as_given - 0.5) * (swapped - 0.5) < 0:
        flags["flip"] = None
    return Reply(Verdict.yes((as_given + swapped) / 2), draws, tuple(flags))
