"""What a metric may ask of an instrument. A metric yields these and is sent the replies; who answers them is not its business.

| request | reply |
| --- | --- |
| `Ask(question, form)` | a `Verdict` |
| `Ask(question, form, over=items)` | a list of `Verdict`, one per item, in order |
| `Split(text)` | the atomic claims of the text, a list of str |
| `Write(instruction, n)` | n texts, a list of str |
| `Prefer(a, b, question)` | a `Verdict`: p(a is better) |
| `Embed(texts)` | one vector per text, a sequence of sequences of float |
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from attrs import field, frozen

from measurand.core.errors import InvalidResponseError
from measurand.core.score import Score


class Judge:
    """A model that answers closed questions, splits and writes texts."""


class Embedder:
    """A model that turns texts into vectors."""


I_co = TypeVar("I_co", covariant=True)
T = TypeVar("T")


class Request(Generic[I_co]):
    """What a metric yields; `I_co` is the instrument it is for."""

    __slots__ = ()


def _texts(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(given)


@frozen
class YesNo:
    """A closed question; the verdict's value is p(yes)."""

    options: tuple[str, ...] = field(default=("yes", "no"), init=False)

    def value(self, probabilities: Mapping[str, float]) -> float | None:
        """p(yes), in [0, 1]."""
        return probabilities["yes"]


@frozen
class Scale:
    """Described levels, worst first; the value is the expected level divided by the highest, in [0, 1]."""

    levels: tuple[str, ...] = field(converter=_texts)

    @property
    def options(self) -> tuple[str, ...]:
        """The level numbers as they are answered: "0", "1", …"""
        return tuple(str(level) for level in range(len(self.levels)))

    def value(self, probabilities: Mapping[str, float]) -> float | None:
        """Expected level / highest level."""
        top = len(self.levels) - 1
        return sum(level * probabilities.get(str(level), 0.0) for level in range(top + 1)) / top


@frozen
class Option:
    """One answer of a `Choice`: what it means, and its score in [0, 1]; None is "does not apply"."""

    means: str
    score: float | None


@frozen
class Choice:
    """Described options; the value is the expected score over the options that have one, None when only "does not apply" has mass."""

    choices: Mapping[str, Option]

    @property
    def options(self) -> tuple[str, ...]:
        """The options' names."""
        return tuple(self.choices)

    def value(self, probabilities: Mapping[str, float]) -> float | None:
        """Expected score, given that the question applies; None when "does not apply" is the likeliest answer."""
        scored = [(name, option.score) for name, option in self.choices.items() if option.score is not None]
        mass = sum(probabilities.get(name, 0.0) for name, _ in scored)
        aside = sum(probabilities.get(name, 0.0) for name, option in self.choices.items() if option.score is None)
        if mass == 0 or aside > mass:
            return None
        return sum(score * probabilities.get(name, 0.0) for name, score in scored) / mass


Form: TypeAlias = YesNo | Scale | Choice


@frozen
class Verdict:
    """An answer: a probability for each option of the form. Raises `InvalidResponseError` unless they are a distribution over its options."""

    form: Form
    probabilities: Mapping[str, float]

    def __attrs_post_init__(self) -> None:
        total = 0.0
        for name, p in self.probabilities.items():
            if name not in self.form.options:
                raise InvalidResponseError(f"'{name}' is no answer; the question allows {', '.join(self.form.options)}")
            if not 0.0 <= p <= 1.0:
                raise InvalidResponseError(f"the probability of '{name}' is {p}, outside 0 to 1")
            total += p
        if abs(total - 1.0) > 1e-6:
            raise InvalidResponseError(f"the probabilities add up to {total:g}, not 1")

    @property
    def value(self) -> float | None:
        """The answer as a number in [0, 1]; None when the question does not apply."""
        return self.form.value(self.probabilities)

    @classmethod
    def yes(cls, p: float) -> Verdict:
        """A yes/no verdict with p(yes) = p."""
        return cls(YesNo(), {"yes": p, "no": 1.0 - p})


def _items(items: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if items is None else tuple(items)


@frozen
class Ask(Request[Judge]):
    """One closed question with a fixed answer form; with `over`, the same question for each item, in one request."""

    question: str
    form: Form = field(factory=YesNo)
    over: tuple[str, ...] | None = field(default=None, converter=_items)


@frozen
class Split(Request[Judge]):
    """The atomic claims of a text, at most `max_claims`."""

    text: str
    max_claims: int = 100


@frozen
class Write(Request[Judge]):
    """`n` texts after an instruction."""

    instruction: str
    n: int = 1


@frozen
class Prefer(Request[Judge]):
    """Which of two texts answers the question better; asked in both orders and averaged."""

    a: str
    b: str
    question: str


@frozen
class Embed(Request[Embedder]):
    """One vector for each text."""

    texts: tuple[str, ...] = field(converter=_texts)


if TYPE_CHECKING:
    Steps: TypeAlias = Generator[Request[I_co], Any, T | Score[T] | None]
else:

    class Steps:
        """The return annotation of a metric that asks instruments: `Steps[Judge, float]`, `Steps[Embedder, float]`, `Steps[Judge | Embedder, float]`.

        For type checkers a generator of requests that returns a score; where annotations are evaluated it keeps its two words, to be read as text.
        """

        def __class_getitem__(cls, parts: Any) -> GenericAlias:
            return GenericAlias(cls, parts)


def instrument_of(request: Request[Any]) -> str:
    """`judge` or `embedder`: who answers this request."""
    return "embedder" if isinstance(request, Embed) else "judge"
