from __future__ import annotations

import inspect
from typing import Annotated, Any, Literal, get_overloads

import pytest

from measurand.core.annotations import Column, PositiveInt
from measurand.core.errors import DeclarationError
from measurand.core.metric import KEYWORDS, Metric, Score, metric, same
from measurand.core.options import OptionsError, checked_options
from measurand.core.request import Ask, Embedder, Judge, Steps
from measurand.core.taxonomy import MetricCategory


def polite() -> Metric[Any]:
    @metric("house.polite", categories=MetricCategory.Fluency)
    def says_please(output: str, expected: str, *, words: list[str] | None = None, k: PositiveInt = 5, mode: Literal["a", "b"] = "a") -> bool:
        """The answer says please.

        And a body.
            Indented.
        """
        return "please" in output

    return says_please


def test_everything_follows_from_the_signature() -> None:
    one = polite()
    assert one.name == "house.polite"
    assert one.requires == ("output", "expected")
    assert [(option.name, option.default) for option in one.options] == [("words", None), ("k", 5), ("mode", "a")]
    assert one.type == "binary"
    assert one.range == (0.0, 1.0)
    assert one.threshold == 0.5
    assert one.method == ("code",)
    assert one.categories == MetricCategory.Fluency | MetricCategory.RequiresGroundTruth | MetricCategory.CodeBased
    assert one.description == "The answer says please"
    assert one.doc == "The answer says please.\n\nAnd a body.\n    Indented."
    assert len(one.version) == 8  # the hash of the source


def test_it_stays_callable() -> None:
    assert polite()("please", "x") is True


def test_annotations_that_were_evaluated_read_the_same() -> None:
    def bare(output, expected=None, *, k=3):  # type: ignore[no-untyped-def]
        """Evaluated annotations, as in a notebook without the future import."""
        return 1.0

    bare.__annotations__ = {"output": str, "expected": list[str] | None, "k": int | None, "return": Score[float]}
    one = metric("house.bare")(bare)
    assert [(parameter.field, parameter.annotation, parameter.required) for parameter in one.parameters] == [
        ("output", "str", True),
        ("expected", "list[str]", False),
    ]
    assert one.type == "proportion"


def test_a_house_column_is_a_metadata_field() -> None:
    @metric("house.tier")
    def tier_named(output: str, tier: Annotated[str, Column("customer_tier")]) -> bool:
        """The tier is named."""
        return tier in output

    assert tier_named.requires == ("output", "metadata.customer_tier")


def test_instruments_come_from_the_return_annotation() -> None:
    @metric("house.asks")
    def asks(output: str) -> Steps[Judge | Embedder, float]:
        """Asks."""
        verdict = yield Ask("Is `output` good?")
        return Score(verdict.value)

    assert asks.judge
    assert asks.embedder
    assert asks.method == ("llm", "embed")
    assert asks.type == "proportion"
    assert asks.categories & MetricCategory.RequiresEmbeddings


def test_a_lower_is_better_safety_metric_has_the_threshold_one_half() -> None:
    @metric("house.leak", categories=MetricCategory.Safety, direction="lower")
    def leak(output: str) -> float:
        """Leaks."""
        return 0.0

    assert leak.threshold == 0.5


def test_aliases_and_relations_are_told_apart() -> None:
    @metric("house.named", aka={"old.name": same, "ragas.thing": "it rounds"})
    def named(output: str) -> float:
        """Named."""
        return 0.0

    assert named.aliases == ("old.name",)
    assert [(known.name, known.difference) for known in named.relations] == [("ragas.thing", "it rounds")]


def _declared(source: str, **keywords: object) -> Metric[Any]:
    space: dict[str, object] = {"__name__": "house", "Steps": Steps}
    exec(compile("from __future__ import annotations\n" + source, "house.py", "exec"), space)  # each case is its own declaration
    made = metric("house.f", **keywords)(space["f"])  # type: ignore[call-overload]
    assert isinstance(made, Metric)
    return made


@pytest.mark.parametrize(
    ("source", "keywords", "sentence"),
    [
        ("def f(outptu: str) -> float:\n  'd'", {}, "'outptu' is no field of a record; did you mean output?"),
        ("def f(output) -> float:\n  'd'", {}, "the field 'output' has no annotation; write e.g. output: str"),
        ("def f(output: bytes) -> float:\n  'd'", {}, "the field 'output' cannot be 'bytes'; it can be"),
        ("def f(output: str):\n  'd'", {}, "the return annotation is missing; it is the metric's type"),
        ("def f(output: str) -> str:\n  'd'", {}, "a metric returns bool, int, float, Score[…] or Steps[…, …], each with | None, not 'str'"),
        ("def f(output: str) -> float:\n  pass", {}, "the docstring is missing"),
        ("def f(*output: str) -> float:\n  'd'", {}, "*output names no field"),
        ("def f(output: str, **more: str) -> float:\n  'd'", {}, "*more names no field"),
        ("def f(output: str, *, threshold: float = 1) -> float:\n  'd'", {}, "an option cannot be called 'threshold'"),
        ("def f(output: str, *, k: object = 1) -> float:\n  'd'", {}, "an option cannot be 'object'"),
        ("def f(output: str = 'x') -> float:\n  'd'", {}, "a field's default is None (it is optional) or absent"),
        ("def f(output: str | None) -> float:\n  'd'", {}, "is required and may be None; give it the default None"),
        ("def f(output: str) -> float:\n  'd'", {"categories": MetricCategory.LLMBased}, "LLMBased follows from the metric's fields and instruments"),
        ("def f(output: str) -> float:\n  'd'", {"type": "continuous"}, "a continuous metric says its range"),
        ("def f(output: str) -> bool:\n  'd'", {"range": (0, 2)}, "a binary metric has its range by its type"),
        ("def f(output: str) -> float:\n  'd'", {"direction": "up"}, "direction 'up' is none of higher, lower, none"),
        ("def f(output: str) -> float:\n  'd'", {"one_of": [("contexts", "expected")]}, "one_of names 'contexts', which is no optional field"),
        ("def f(output: str) -> float:\n  'd'", {"version": "x" * 33}, "has 33 characters; 1 to 32 are allowed"),
        ("def f(output: str, expected: str) -> Steps[Judge, float]:\n  'd'\n  yield", {}, "write expected: list[str]"),
        ("def f(output: str) -> Steps[Oracle, float]:\n  'd'\n  yield", {}, "Steps[Oracle, …] names no instrument"),
        ("def f(output: str) -> float:\n  'd'", {"aka": {"ragas.x": same}}, "lies in an adapter's namespace, which holds no aliases"),
        ("def f(output: str) -> float:\n  'd'", {"aka": {"x": same}}, "the alias 'x' has no dot, and such names are kept for built-ins"),
        ("def f(output: str) -> float:\n  'd'", {"aka": {"a.x": True}}, "aka says of 'a.x' True; write same, or the difference in a sentence"),
        ("def f(output: str) -> float:\n  'd'\n  yield", {}, "it yields requests, so its return annotation says whom it asks: -> Steps[Judge, float]"),
        ("async def f(output: str) -> float:\n  'd'", {}, "a metric does not wait; write def, and yield what a model is to answer"),
        ("def f(output: str) -> float:\n  'd'", {"threshold": "high"}, "the threshold 'high' is no number"),
        ("def f(output: str) -> float:\n  'd'", {"threshold": 1, "direction": "none"}, 'with direction="none" nothing passes or fails'),
        ("def f(output: str) -> float:\n  'd'", {"type": "continuous", "range": (1, 0)}, "range=(1, 0) holds nothing; write the lower end first"),
        ("def f(output: str) -> float:\n  'd'", {"status": "beta"}, "status 'beta' is none of preview, stable, deprecated, unavailable"),
        (
            "def f(output: str) -> float:\n  'd'",
            {"example": {"outptu": 1}},
            "the example has 'outptu', which is no field of a record and no option; did you mean",
        ),
        ("def f(output: str, *, k: int = 'x') -> float:\n  'd'", {}, "the option k = 'x' is not a whole number"),
        ("def f(output: str, *, mode: Literal['a', 1] = 'a') -> float:\n  'd'", {}, "the choices of an option are texts"),
        (
            "def f(output: str, expected: str) -> float:\n  'd'",
            {"corpus": object()},
            "a statistic of all rows takes all references at once; write expected: list[str]",
        ),
    ],
)
def test_a_declaration_that_contradicts_itself_says_how_to_mend_it(source: str, keywords: dict[str, object], sentence: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        _declared(source, **keywords)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("house.f (house.py:2)")


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        (lambda: metric("house.f", tags=["a"]), "@metric has no keyword 'tags'; did you mean status?"),  # type: ignore[call-overload]
        (lambda: metric("house.f", "Fluency"), "the categories are 'Fluency'; write flags: categories=MetricCategory.Fluency | "),  # type: ignore[call-overload]
        (lambda: metric(MetricCategory.RAG, MetricCategory.RAG), "the categories are given twice; write them once"),
        (lambda: metric(5), "@metric takes a name, categories or a function first, not int"),  # type: ignore[call-overload]
        (lambda: metric("house.f")(dict), "house.f: a metric is declared from a function written with def, not from a type"),
        (lambda: metric("house.f")(len), "house.f: a metric is declared from a function written with def, not from a builtin_function_or_method"),
        (lambda: metric("house.f")(polite()), "not from <metric house.polite(output, expected): binary>"),
    ],
)
def test_what_the_decorator_does_not_take_is_said(declared: Any, sentence: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        declared()
    assert sentence in str(refused.value)


def test_the_keywords_are_those_that_type_checkers_see() -> None:
    shown = inspect.signature(get_overloads(metric)[0]).parameters
    assert tuple(name for name, one in shown.items() if one.kind is inspect.Parameter.KEYWORD_ONLY) == KEYWORDS


def test_categories_may_follow_the_name() -> None:
    @metric("house.kind", MetricCategory.Fluency)
    def kind(output: str) -> bool:
        """Kind."""
        return True

    assert kind.categories == MetricCategory.Fluency | MetricCategory.CodeBased


def test_an_option_has_one_form_however_it_is_written() -> None:
    @metric("house.formed")
    def formed(output: str, *, at: float = 0, words: tuple[str, ...] = ("a",)) -> float:
        """Formed."""
        return at

    assert checked_options(formed, {"words": ["a"], "at": 1}) == {"at": 1.0, "words": ("a",)}
    assert isinstance(formed.options[0].default, float)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400, True, "1"])
def test_a_number_is_finite(value: Any) -> None:
    @metric("house.number")
    def number(output: str, *, at: float = 0.0) -> float:
        """A number."""
        return at

    with pytest.raises(OptionsError, match="is not a number"):
        checked_options(number, {"at": value})


def test_a_name_without_a_dot_is_kept_for_built_ins() -> None:
    with pytest.raises(DeclarationError) as refused:

        @metric(MetricCategory.Fluency)
        def code_polite(output: str) -> bool:
            """Polite."""
            return True

    assert 'give yours a namespace: @metric("house.code_polite")' in str(refused.value)


def test_options_are_checked_all_at_once() -> None:
    with pytest.raises(OptionsError) as refused:
        checked_options(polite(), {"k": 0, "mode": "c", "wrods": ["a"], "words": [1]})
    assert refused.value.problems == [
        "house.polite: k = 0 is not a whole number from 1",
        'house.polite: mode = \'c\' is not one of "a", "b"',
        "house.polite has no option 'wrods'; did you mean words?",
        "house.polite: words = [1] is not a list of texts",
    ]


def test_true_is_no_number() -> None:
    with pytest.raises(OptionsError):
        checked_options(polite(), {"k": True})
