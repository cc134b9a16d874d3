"""Driving a metric that asks: whoever can answer requests can run it. There is no I/O here."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Generator, Iterable
from typing import Any, Final

from measurand.core.errors import CellError
from measurand.core.request import Ask, Choice, Embed, Form, Prefer, Request, Scale, Split, Verdict, Write, YesNo, instrument_of

Answer = Callable[[Request[Any]], Any]
AsyncAnswer = Callable[[Request[Any]], Awaitable[Any]]


_BREAK: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class UndeclaredInstrumentError(CellError):
    """A metric asked an instrument that its return annotation does not name."""

    code = "internal"


def drive(steps: Generator[Request[Any], Any, Any], answer: Answer, instruments: frozenset[str]) -> Any:
    """Runs the generator to its end, answering each request at once, and returns its score."""
    try:
        request = next(steps)
        while True:
            _allow(request, instruments)
            request = steps.send(answer(request))
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


async def drive_async(steps: Generator[Request[Any], Any, Any], answer: AsyncAnswer, instruments: frozenset[str]) -> Any:
    """As `drive`, awaiting each answer."""
    try:
        request = next(steps)
        while True:
            _allow(request, instruments)
            request = steps.send(await answer(request))
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


def _allow(request: object, instruments: frozenset[str]) -> None:
    if not isinstance(request, Request):
        raise UndeclaredInstrumentError(f"a metric yields requests (Ask, Split, Write, Prefer, Embed), not {type(request).__name__}")
    if instrument_of(request) not in instruments:
        raise UndeclaredInstrumentError(f"the metric asked the {instrument_of(request)}, which its return annotation does not name")


def scripted(replies: Iterable[Any]) -> Answer:
    """Answers the requests with these replies, in order; for tests and worked examples."""
    pending = iter(replies)

    def answer(request: Request[Any]) -> Any:
        try:
            return next(pending)
        except StopIteration:
            raise CellError(f"no reply left for {type(request).__name__}") from None

    return answer


def stand_in(p: float) -> Answer:
    """Answers as a plan needs it: claims are the sentences of a text, every verdict is `p`, vectors are unit vectors."""

    def answer(request: Request[Any]) -> Any:
        match request:
            case Ask(form=form, over=None):
                return _verdict(form, p)
            case Ask(form=form, over=items):
                return [_verdict(form, p)] * len(items or ())
            case Split(text=text, max_claims=most):
                return [part.strip() for part in _BREAK.split(text) if part.strip()][:most]
            case Write(n=n):
                return ["text"] * n
            case Prefer():
                return Verdict.yes(p)
            case Embed(texts=texts):
                return [[1.0]] * len(texts)
            case _:
                raise CellError(f"nobody answers {type(request).__name__}")

    return answer


def _verdict(form: Form, p: float) -> Verdict:
    match form:
        case YesNo():
            return Verdict.yes(p)
        case Scale(levels=levels):
            return Verdict(form, {str(len(levels) - 1 if p >= 0.5 else 0): 1.0})
        case Choice(choices=choices):
            scored = [(option.score, name) for name, option in choices.items() if option.score is not None]
            return Verdict(form, {(max(scored) if p >= 0.5 else min(scored))[1]: 1.0})


def requests_made(steps: Generator[Request[Any], Any, Any], instruments: frozenset[str], p: float = 1.0) -> list[Request[Any]]:
    """The requests that a metric makes on a row, answered by `stand_in(p)`; up to where it ends, whether with a score or without."""
    made: list[Request[Any]] = []
    reply = stand_in(p)

    def answer(request: Request[Any]) -> Any:
        made.append(request)
        return reply(request)

    try:
        drive(steps, answer, instruments)
    except CellError:
        pass
    return made
