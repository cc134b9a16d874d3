from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from measurand.config import ConfigError, Settings, load
from measurand.core.cell import EvaluationContext, Program, result_of
from measurand.core.coerce import typed_fields
from measurand.core.drive import scripted
from measurand.core.instance import instance
from measurand.core.metric import Metric
from measurand.core.request import Request, Verdict
from measurand.core.result import MetricResult
from measurand.core.taxonomy import MetricCategory
from measurand.index import registry
from measurand.run.questions import question_metrics


@pytest.fixture(autouse=True)
def _registry_as_it_was() -> Iterator[None]:
    kept = registry._snapshot
    yield
    registry._snapshot = kept


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def read(text: str) -> Settings:
        Path("metrics.toml").write_text(text, encoding="utf-8")
        return load(Path("metrics.toml"), environ={})

    return read


def scored(one: Metric[Any], replies: list[Any], **fields: Any) -> MetricResult:
    made = instance(one)
    pending = scripted(replies)

    async def answer(request: Request[Any]) -> Any:
        return pending(request)

    return result_of(made, asyncio.run(Program([made]).outcomes_async(EvaluationContext(typed_fields(fields), answer=answer)))[0])


REGISTER = """
[[questions]]
name = "acme.formal"
ask = "Is `output` written in a formal register (as `expected?` is)?"
categories = ["Fluency"]
description = "A formal register."
threshold = 0.7
example = { output = "Dear Sir or Madam" }
"""


def test_a_question_is_a_metric_like_any_other(settings: Any) -> None:
    (one,) = question_metrics(settings(REGISTER))
    assert registry["acme.formal"] is one
    assert (one.requires, one.optional, one.method) == (("output",), ("expected",), ("llm",))
    assert one.categories == MetricCategory.Fluency | MetricCategory.LLMBased
    assert (one.description, one.threshold, one.direction, one.type) == ("A formal register", 0.7, "higher", "proportion")
    assert one.example == {"output": "Dear Sir or Madam"}
    assert one.origin == ("metrics.toml", "acme.formal")
    result = scored(one, [Verdict.yes(0.82)], output="Dear Sir")
    assert (result.score, result.label, result.passed) == (0.82, "82% yes", True)


def test_without_a_description_the_question_is_what_a_list_says(settings: Any) -> None:
    (one,) = question_metrics(settings('[[questions]]\nname = "acme.kind"\nask = "Is `output` kind?"\n'))
    assert one.description == "Is `output` kind?"
    assert one.threshold == 0.5


def test_the_version_is_the_hash_of_what_changes_a_verdict(settings: Any) -> None:
    (before,) = question_metrics(settings(REGISTER))
    (same,) = question_metrics(settings(REGISTER.replace("A formal register.", "Formality.").replace("0.7", "0.9").replace("Dear Sir or Madam", "Hi")))
    assert registry["acme.formal"] is same
    assert same.version == before.version
    (other,) = question_metrics(settings(REGISTER.replace("formal register", "formal tone")))
    assert other.version != before.version
    assert len(other.version) == 8


SCALE = """
[[questions]]
name = "acme.tone"
ask = "How friendly is `output`?"
type = "scale"
levels = ["hostile", "neutral", "warm"]
"""

CHOICE = """
[[questions]]
name = "acme.polite"
ask = "How is `item`, a turn, said?"
each = "messages"
type = "choice"
options = { polite = { means = "says please", score = 1.0 }, rude = { means = "insults", score = 0.0 }, na = { means = "says nothing", score = "na" } }
"""


def test_a_scale_and_a_choice(settings: Any) -> None:
    tone, polite = question_metrics(settings(SCALE + CHOICE))
    form = tone.judged.form
    assert scored(tone, [Verdict(form, {"1": 0.5, "2": 0.5})], output="Hello").score == 0.75
    assert tone.threshold is None
    form = polite.judged.form
    turns = [{"role": "user", "content": text} for text in ("Please!", "Fool.", "…")]
    found = scored(polite, [[Verdict(form, {"polite": 1.0}), Verdict(form, {"rude": 1.0}), Verdict(form, {"na": 1.0})]], messages=turns)
    assert found.score == 0.5  # (1 + 0) / 2: what does not apply is left out
    nothing = scored(polite, [[Verdict(form, {"na": 1.0})]], messages=turns[:1])
    assert (nothing.status, nothing.score) == ("not_applicable", None)


@pytest.mark.parametrize(
    ("keys", "verdicts", "score"),
    [
        ("", [0.9, 0.2, 0.7], 0.6),
        ('fold = "share"', [0.9, 0.2, 0.7], 0.6),
        ('fold = "expected_value"', [0.9, 0.2, 0.7], 0.6),
        ('fold = "average_precision"', [0.9, 0.2, 0.7], (1 + 2 / 3) / 2),
        ('fold = "worst"', [0.9, 0.2, 0.7], 0.0),
        ('fold = "worst"', [0.9, 0.5, 0.7], 1.0),
        ('fold = "worst"\ndirection = "lower"', [0.1, 0.2, 0.7], 1.0),
        ('fold = "worst"\ndirection = "lower"', [0.1, 0.2, 0.4], 0.0),
        ('direction = "lower"', [1.0, 0.0, 0.5], 0.5),
    ],
)
def test_folds_by_name(settings: Any, keys: str, verdicts: list[float], score: float) -> None:
    text = f'[[questions]]\nname = "acme.fits"\nask = "Does `item` bear on `input`?"\neach = "contexts"\n{keys}\n'
    (one,) = question_metrics(settings(text))
    found = scored(one, [[Verdict.yes(p) for p in verdicts]], input="q", contexts=["a", "b", "c"])
    assert found.score == pytest.approx(score)


def test_claims_are_extracted_by_the_judge(settings: Any) -> None:
    (one,) = question_metrics(settings('[[questions]]\nname = "acme.sourced"\nask = "Does `item` name a source?"\nclaims = "output"\n'))
    assert one.requires == ("output",)
    assert scored(one, [["a", "b"], [Verdict.yes(1.0), Verdict.yes(0.0)]], output="A. B.").score == 0.5


WRONG = [
    ('ask = "Is `outptu` good?"', "acme.a ask: `outptu` is no field; did you mean output?"),
    ('ask = "Is `item` in `output`?"', "acme.a ask: `item` needs something to go through; say what: each = "),
    ('ask = "Is it good?"', "acme.a ask: the question names no field that it needs"),
    ('ask = "Is `output` so?"\neach = "contexts"', "acme.a ask: it is asked of each part of contexts and names none"),
    ('ask = "Is `output` good, given `input?`?"', "acme.a ask: where an optional field is missing, the clause that names `output` goes with it"),
    ('ask = "Is `item` so?"\neach = "contets"', "acme.a each: 'contets' is no field of a record; did you mean contexts?"),
    ('ask = "Is `item` so?"\neach = "output"', "acme.a each: 'output' is not a list; one of contexts"),
    ('ask = "Is `item` so?"\nclaims = "contexts"', "acme.a claims: 'contexts' is not a text; "),
    ('ask = "Is `output` so?"\nfold = "share"', "acme.a fold: folds several verdicts, and the question has one"),
    ('ask = "Is `item` so?"\neach = "contexts"\nfold = "f_beta"', "acme.a fold: f_beta needs two lists of verdicts"),
    (
        'ask = "Is `item` so?"\neach = "contexts"\nfold = "share"\ntype = "scale"\nlevels = ["a", "b"]',
        "acme.a fold: share folds yes and no, and type is 'scale'",
    ),
    ('ask = "Is `output` so?"\ndirection = "none"\nthreshold = 0.5', 'acme.a threshold: with direction = "none" nothing passes or fails'),
    ('ask = "Is `output` so?"\ncategories = ["Fluencey"]', "acme.a categories: no category is called 'Fluencey'; did you mean Fluency?"),
    ('ask = "Is `output` so?"\ncategories = ["LLMBased"]', "acme.a categories: LLMBased follows from the question's fields"),
    ('ask = "Is `output` so?"\nexample = { outptu = "x" }', "acme.a example: 'outptu' is no field of a record; did you mean output?"),
]


@pytest.mark.parametrize(("keys", "sentence"), WRONG)
def test_what_is_wrong_is_said_with_its_line(settings: Any, keys: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        question_metrics(settings(f'project = "p"\n[[questions]]\nname = "acme.a"\n{keys}\n'))
    (problem,) = refused.value.problems
    where, _, said = str(problem).partition(": [[questions]] ")
    file, _, line = where.partition(":")
    assert file == "metrics.toml"
    assert 2 <= int(line) <= 4 + keys.count("\n")
    assert said.startswith(sentence)
    assert "acme.a" not in registry


def test_every_problem_of_every_question_is_told_at_once(settings: Any) -> None:
    texts = [f'[[questions]]\nname = "acme.q{number}"\n{keys}\n' for number, (keys, _) in enumerate(WRONG)]
    with pytest.raises(ConfigError) as refused:
        question_metrics(settings("".join([REGISTER, *texts])))
    assert len(refused.value.problems) == len(WRONG)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ragas.mine", "lies in an adapter's namespace"),
        ("outcome.f1_token", "it is another name of code_token_f1"),
        ("acme.a-b", "words of letters, digits and _"),
    ],
)
def test_names_that_cannot_be(settings: Any, name: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence) as refused:
        question_metrics(settings(f'[[questions]]\nname = "{name}"\nask = "Is `output` so?"\n'))
    assert refused.value.problems[0].where.startswith("metrics.toml:2: [[questions]]")
