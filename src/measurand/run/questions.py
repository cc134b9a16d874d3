"""[[questions]]: judged metrics written as data become metrics like any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final

from attrs import frozen

from measurand.config import ConfigError, QuestionSettings, Settings
from measurand.core.errors import DeclarationError, Problem, UsageError, did_you_mean
from measurand.core.fields import FIELDS
from measurand.core.judged import Fold, judged, wording_problems
from measurand.core.metric import ADAPTERS, Metric
from measurand.core.request import Choice, Form, Option, Scale, YesNo
from measurand.core.taxonomy import DERIVED, MetricCategory
from measurand.formula.folds import Worst, average_precision, expected_value, share
from measurand.index import registry

ORIGIN: Final = "metrics.toml"
MOST_PROBLEMS: Final = 50
_LISTS: Final = ("contexts", "expected_calls", "messages", "calls", "tools", "list[str]")
_TEXTS: Final = ("str", "text", "expected")


@frozen
class _WorstOfBad:
    """Whether any item is bad: 1 when some verdict is yes, for questions whose yes is bad. Branching, like `Worst`."""

    name: str = "worst(bad)"

    def __call__(self, verdicts: Sequence[float]) -> float | None:
        good = Worst("no")(verdicts)
        return None if good is None else 1.0 - good


def question_metrics(settings: Settings) -> list[Metric[Any]]:
    """The metrics of `[[questions]]`, each known to the registry from now on. Raises `ConfigError` with every problem of every question.

    A question's version is the hash of what changes a verdict or the number made of it; adding the same name again replaces it.
    """
    made: list[Metric[Any]] = []
    problems: list[Problem] = []
    for index, question in enumerate(settings.questions):

        def place(key: str, index: int = index) -> str:
            return settings.where(("questions", index, key))

        found = question_problems(question, place)
        if not found:
            try:
                made.append(_metric(question))
                registry.add(made[-1])
            except DeclarationError as error:
                found = [Problem("bad_question", place("name"), str(error).removeprefix(f"{question.name}: {question.ask!r}: "))]
        problems += found
    if problems:
        raise ConfigError(list(islice(problems, MOST_PROBLEMS)))
    return made


def question_problems(question: QuestionSettings, place: Callable[[str], str]) -> list[Problem]:
    """What keeps a question from being asked; `place` says where a key of it stands."""
    through = question.claims or question.each
    problems = [Problem("bad_question", place("ask"), message, hint) for message, hint in wording_problems(question.ask, through)]
    problems += _field_problems(question, place)
    if question.fold is not None and not through:
        problems.append(
            Problem(
                "bad_question", place("fold"), "folds several verdicts, and the question has one", 'give each = "contexts" or claims = "output", or drop fold'
            )
        )
    if question.fold == "f_beta":
        problems.append(Problem("bad_question", place("fold"), "f_beta needs two lists of verdicts, and a question has one", 'write fold = "share"'))
    if question.fold in ("average_precision", "share", "worst") and question.type != "yes_no" and through:
        problems.append(
            Problem("bad_question", place("fold"), f"{question.fold} folds yes and no, and type is {question.type!r}", 'write fold = "expected_value"')
        )
    if question.threshold is not None and question.direction == "none":
        problems.append(
            Problem("bad_question", place("threshold"), 'with direction = "none" nothing passes or fails', "drop it, or say which direction is better")
        )
    if question.name.partition(".")[0] in ADAPTERS:
        problems.append(Problem("bad_question", place("name"), "lies in an adapter's namespace", "give it a namespace of your own"))
    return problems + _category_problems(question, place) + _example_problems(question, place)


def _field_problems(question: QuestionSettings, place: Callable[[str], str]) -> list[Problem]:
    problems = []
    for key, shapes, what in (("each", _LISTS, "a list"), ("claims", _TEXTS, "a text")):
        name = getattr(question, key)
        allowed = [field.name for field in FIELDS.values() if field.shape in shapes and field.part != "identity"]
        if name is not None and name not in allowed:
            message = f"'{name}' is no field of a record" if name not in FIELDS else f"'{name}' is not {what}"
            problems.append(Problem("bad_question", place(key), message, did_you_mean(name, allowed) or f"one of {', '.join(allowed)}"))
    return problems


def _category_problems(question: QuestionSettings, place: Callable[[str], str]) -> list[Problem]:
    problems = []
    for word in question.categories:
        try:
            flag = MetricCategory.parse(word)
        except UsageError as error:
            problems += [Problem(one.code, place("categories"), one.message, one.hint) for one in error.problems]
        else:
            if flag & DERIVED:
                problems.append(Problem("bad_category", place("categories"), f"{word} follows from the question's fields and is not written", "remove it"))
    return problems


def _example_problems(question: QuestionSettings, place: Callable[[str], str]) -> list[Problem]:
    unknown = [name for name in question.example if name not in FIELDS]
    return [
        Problem("unknown_field", place("example"), f"'{name}' is no field of a record", did_you_mean(name, FIELDS) or f"a record has {', '.join(FIELDS)}")
        for name in unknown
    ]


# ---------------------------------------------------------------- making


def _metric(question: QuestionSettings) -> Metric[Any]:
    categories = MetricCategory(0)
    for word in question.categories:
        categories |= MetricCategory.parse(word)
    return judged(
        question.name,
        categories,
        ask=question.ask,
        doc=question.description.strip() or question.ask.strip(),
        form=_form(question),
        claims=question.claims,
        each=question.each,
        fold=_fold(question),
        direction=question.direction,
        threshold=question.threshold,
        example=question.example,
        origin=(ORIGIN, question.name),
    )


def _form(question: QuestionSettings) -> Form:
    if question.type == "scale":
        return Scale(question.levels)
    if question.type == "choice":
        return Choice({name: Option(one.means, None if one.score == "na" else float(one.score)) for name, one in question.options.items()})
    return YesNo()


def _fold(question: QuestionSettings) -> Fold | None:
    if not (question.claims or question.each):
        return None
    match question.fold or ("share" if question.type == "yes_no" else "expected_value"):
        case "share":
            return share("yes")
        case "average_precision":
            return average_precision
        case "worst":
            return _WorstOfBad() if question.direction == "lower" else Worst("yes")
        case _:
            return expected_value
