"""What holds for every built-in metric, whatever a row holds."""

from __future__ import annotations

import inspect
import json
import math
import random
import re
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand import MetricCategory, registry, score
from measurand.core.cell import EvaluationContext, Program, result_of
from measurand.core.coerce import typed_fields
from measurand.core.drive import stand_in
from measurand.core.errors import ERROR_CODES, MESSAGE_LIMIT, NOT_APPLICABLE_CODES
from measurand.core.fields import FIELDS
from measurand.core.instance import Instance, instance
from measurand.core.metric import REQUIRED, Metric, built_in
from measurand.core.request import Ask, Choice, Embed, Request, Scale, Split, Verdict, Write, YesNo, instrument_of
from measurand.core.result import MetricResult
from measurand.core.taxonomy import DERIVED
from measurand.index import FAMILIES, SUITES

BUILT_INS: Final = [one for one in registry if built_in(one.origin[0])]
NEEDED_OPTIONS: Final[dict[str, dict[str, Any]]] = {"code_regex_match": {"pattern": "a+b?"}}
INSTANCES: Final = [instance(one, NEEDED_OPTIONS.get(one.name)) for one in BUILT_INS]
ASKING: Final = [one for one in BUILT_INS if one.judge or one.embedder]
COMPARING: Final = [one for one in BUILT_INS if {"output", "expected"} <= set(one.requires)]
NOT_YET: Final = frozenset({"llm_context_relevance"})
"""Metrics of a family that is to come, which pages may name already."""

every_metric = pytest.mark.parametrize("one", BUILT_INS, ids=lambda one: one.name)

# ---------------------------------------------------------------- rows

TEXTS: Final = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "",
            " ",
            "\n",
            "A",
            "(B)",
            "35%",
            "-7",
            "1/0",
            "1e999",
            "½",
            '{"a": [1, {"b": null}]}',
            "```json\n[1]\n```",
            "NaN",
            "京都",
            "\u0301",
            "“a b c d”",
            "\\boxed{",
        ]
    ),
)
JSON: Final = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
NAMES: Final = st.sampled_from(["search", "book", "", "finish"])
ARGUMENTS: Final = st.one_of(st.none(), st.dictionaries(st.sampled_from(["q", "day", "n"]), JSON, max_size=3), TEXTS)
PASSAGES: Final = st.lists(
    st.one_of(
        TEXTS,
        st.fixed_dictionaries(
            {}, optional={"id": st.sampled_from(["d1", "d2", "d3"]), "text": TEXTS, "score": st.one_of(st.none(), st.floats(-2, 5), st.integers(-1, 3))}
        ),
    ),
    max_size=5,
)
CALL: Final = st.fixed_dictionaries({"name": NAMES}, optional={"arguments": ARGUMENTS, "error": st.one_of(st.none(), TEXTS), "result": JSON})
MATCHES: Final = st.sampled_from(
    ["exact", "numeric", "regex", "casefold", "one_of", "ignore", "exakt", {"numeric": 0.1}, {"regex": "^(a+)+$"}, {"one_of": [1, None]}, 3]
)
EXPECTED_CALL: Final = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "arguments": st.one_of(st.none(), st.dictionaries(st.sampled_from(["q", "day", "n"]), JSON, max_size=3)),
        "match": st.dictionaries(st.sampled_from(["q", "day"]), MATCHES, max_size=2),
        "optional": st.booleans(),
        "group": st.sampled_from(["g", "h"]),
        "alternatives": st.lists(st.fixed_dictionaries({"name": NAMES}), max_size=2),
    },
)
NUMBERS: Final = st.one_of(st.none(), st.integers(-5, 10**20), st.floats(), TEXTS)
SCHEMAS: Final = st.one_of(
    JSON,
    st.dictionaries(
        st.sampled_from(["type", "enum", "items", "properties", "required", "pattern", "$ref", "allOf", "minimum", "uniqueItems", "not"]),
        st.one_of(
            JSON, st.sampled_from(["object", "array", "string", "#", "#/properties", "http://example.invalid/s.json", "file:///etc/hostname", "^(a+)+$"])
        ),
        max_size=4,
    ),
)
PLAUSIBLE: Final = st.fixed_dictionaries(
    {},
    optional={
        "input": TEXTS,
        "output": st.one_of(TEXTS, JSON),
        "expected": st.one_of(TEXTS, st.lists(TEXTS, max_size=3), JSON, st.fixed_dictionaries({"any_of": st.lists(JSON, max_size=3)})),
        "contexts": PASSAGES,
        "reference_contexts": PASSAGES,
        "tool_calls": st.lists(CALL, max_size=5),
        "expected_tool_calls": st.lists(EXPECTED_CALL, max_size=5),
        "messages": st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"]), "content": TEXTS}), max_size=3),
        "output_schema": SCHEMAS,
        "status": TEXTS,
        "reward": NUMBERS,
        "usage": st.fixed_dictionaries({}, optional=dict.fromkeys(["latency_s", "input_tokens", "output_tokens", "cost_usd", "llm_calls"], NUMBERS)),
    },
)
ANYTHING: Final = st.dictionaries(st.sampled_from(list(FIELDS)), JSON, max_size=8)


# ---------------------------------------------------------------- who answers


def at_random(request: Request[Any]) -> Any:
    """Any answer there may be; the same request is answered the same."""
    dice = random.Random(repr(request))
    match request:
        case Ask(form=form, over=None):
            return any_verdict(form, dice)
        case Ask(form=form, over=items):
            return [any_verdict(form, dice) for _ in items or ()]
        case Split(text=text):
            return text.split()[:100] if dice.random() < 0.8 else []
        case Write(n=n):
            return [f"text {number}" for number in range(n)]
        case Embed(texts=texts):
            return [[random.Random(f"{axis} {text}").gauss(0, 1) for axis in range(6)] for text in texts]
        case _:
            return Verdict.yes(dice.random())


def any_verdict(form: YesNo | Scale | Choice, dice: random.Random) -> Verdict:
    weights = [dice.choice((0.0, dice.random(), 1.0)) for _ in form.options]
    weights[dice.randrange(len(weights))] += 0.01
    return Verdict(form, {option: weight / sum(weights) for option, weight in zip(form.options, weights, strict=True)})


def at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine that never waits returns."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waited")


def results(
    row: dict[str, Any], instances: Sequence[Instance] = INSTANCES, reply: Callable[[Request[Any]], Any] = at_random, asked: list[Any] | None = None
) -> list[MetricResult]:
    async def answer(request: Request[Any]) -> Any:
        if asked is not None:
            asked.append(request)
        return reply(request)

    outcomes = at_once(Program(instances).outcomes_async(EvaluationContext(typed_fields(row), answer=answer)))
    return [result_of(one, outcome) for one, outcome in zip(instances, outcomes, strict=True)]


def scored(one: Metric[Any], options: dict[str, Any] | None = None, **fields: Any) -> MetricResult:
    """As `measurand.score`, with random answers where the metric asks."""
    return results(fields, [instance(one, options)])[0] if one in ASKING else score(one, options=options, **fields)


def is_sound(one: Metric[Any], result: MetricResult) -> None:
    """Everything the contract says of a single result."""
    assert result.status in ("ok", "not_applicable", "error")
    assert (result.score is None) == (result.status != "ok") == (result.error is not None)
    if result.score is not None:
        assert math.isfinite(result.score)
        assert one.range[0] <= result.score <= one.range[1]
        assert one.type != "binary" or result.score in (0, 1)
        assert one.type != "count" or result.score == int(result.score)
    if result.error is not None:
        assert result.error.code in ERROR_CODES
        assert result.error.code != "internal", result.error
        assert (result.status == "not_applicable") == (result.error.code in NOT_APPLICABLE_CODES)
        assert 0 < len(result.error.message) <= MESSAGE_LIMIT
    assert (result.passed is None) == (result.score is None or result.threshold is None or one.direction == "none")
    json.dumps(result.to_dict(), allow_nan=False)


@given(ANYTHING)
def test_any_json_in_any_field_gives_a_sound_result(row: dict[str, Any]) -> None:
    for one, result in zip(BUILT_INS, results(row), strict=True):
        is_sound(one, result)


@given(PLAUSIBLE)
def test_a_plausible_row_gives_a_sound_result(row: dict[str, Any]) -> None:
    for one, result in zip(BUILT_INS, results(row), strict=True):
        is_sound(one, result)


@given(PLAUSIBLE)
def test_a_result_is_the_same_alone_and_in_company(row: dict[str, Any]) -> None:
    together = [result.to_dict() for result in results(row)]
    alone = [results(row, [one])[0].to_dict() for one in INSTANCES]
    assert together == alone


@given(PLAUSIBLE)
def test_a_missing_field_is_never_a_score(row: dict[str, Any]) -> None:
    fields = typed_fields(row)
    for one, result in zip(BUILT_INS, results(row), strict=True):
        if not one.feedable(fields):
            assert result.status == "not_applicable"
            assert result.error is not None
            assert result.error.code == "missing_field"


# ---------------------------------------------------------------- invariances


def best(one: Metric[Any]) -> float:
    return 0.0 if one.direction == "lower" else 1.0


@pytest.mark.parametrize("one", COMPARING, ids=lambda one: one.name)
@given(text=TEXTS)
def test_identity_is_the_best_there_is(one: Metric[Any], text: str) -> None:
    result = scored(one, output=text, expected=text)
    if result.status == "ok":
        assert result.score == pytest.approx(best(one), abs=1e-12)


READS_A_FORM: Final = ("code_json_", "code_numeric_match", "code_choice_match")


@pytest.mark.parametrize("one", [one for one in COMPARING if not one.name.startswith(READS_A_FORM)], ids=lambda one: one.name)
def test_identity_scores_in_every_script(one: Metric[Any]) -> None:
    for text in ("happy", "京都の紅葉は美しい", "ঢাকায় আজ বৃষ্টি", "สวนสาธารณะเปิดเช้า", "Смерть и солнце", "👩‍👩‍👧", "naïve café"):
        assert scored(one, output=text, expected=text).score == pytest.approx(best(one)), text


@pytest.mark.parametrize("one", COMPARING, ids=lambda one: one.name)
@given(output=TEXTS, references=st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=4), data=st.data())
def test_the_order_of_references_changes_no_score(one: Metric[Any], output: str, references: list[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(references))
    first, second = scored(one, output=output, expected=references), scored(one, output=output, expected=list(shuffled))
    assert (first.status, first.score and pytest.approx(first.score)) == (second.status, second.score)


@pytest.mark.parametrize(
    "one", [one for one in COMPARING if any(p.field == "expected" and p.annotation == "str" for p in one.parameters)], ids=lambda one: one.name
)
@given(output=TEXTS, references=st.lists(TEXTS.filter(bool), min_size=2, max_size=4))
def test_several_references_score_the_best_of_them(one: Metric[Any], output: str, references: list[str]) -> None:
    single = [scored(one, output=output, expected=reference) for reference in references]
    together = scored(one, output=output, expected=references)
    scores = [result.score for result in single if result.score is not None]
    if any(result.status == "error" for result in single):
        assert together.status == "error"
    elif not scores:
        assert together.status == "not_applicable"
    else:
        fold = min if one.direction == "lower" else max
        assert together.score == fold(scores)
        assert single[together.details["reference"]].score == together.score


CALLS: Final = [one for one in BUILT_INS if {"tool_calls", "expected_tool_calls"} <= set(one.requires)]


@pytest.mark.parametrize("one", CALLS, ids=lambda one: one.name)
@given(
    expected=st.lists(st.fixed_dictionaries({"name": NAMES, "arguments": st.dictionaries(st.sampled_from("ab"), st.integers(0, 2), max_size=2)}), max_size=4),
    data=st.data(),
)
def test_a_call_nobody_expected_never_raises_a_score(one: Metric[Any], expected: list[dict[str, Any]], data: st.DataObject) -> None:
    made = data.draw(st.lists(st.sampled_from(expected), max_size=5)) if expected else []
    at = data.draw(st.integers(0, len(made)))
    before = scored(one, tool_calls=made, expected_tool_calls=expected)
    after = scored(one, tool_calls=[*made[:at], {"name": "unheard_of"}, *made[at:]], expected_tool_calls=expected)
    if before.score is not None and after.score is not None:
        assert after.score <= before.score
    elif before.status == "not_applicable":
        assert after.score == 0


# ---------------------------------------------------------------- declarations


@every_metric
def test_flags_fields_instruments_and_prefix_agree(one: Metric[Any]) -> None:
    required = {field for need in one.requires if "|" not in need for field in [need]}
    groups = [set(need.split("|")) for need in one.requires if "|" in need]

    def needs(*fields: str) -> bool:
        return bool(required & set(fields)) or any(group <= set(fields) for group in groups)

    flags = {
        MetricCategory.RequiresContext: needs("contexts", "reference_contexts"),
        MetricCategory.RequiresGroundTruth: needs("expected", "reference_contexts", "expected_tool_calls", "topics", "facts"),
        MetricCategory.RequiresToolUsage: needs("tool_calls", "expected_tool_calls"),
        MetricCategory.LLMBased: one.judge,
        MetricCategory.EmbeddingBased: one.embedder,
        MetricCategory.RequiresEmbeddings: one.embedder,
        MetricCategory.CodeBased: not (one.judge or one.embedder),
    }
    assert {flag: bool(one.categories & flag) for flag in flags} == flags
    assert MetricCategory(sum(flags)) == DERIVED
    assert one.categories & ~DERIVED, "a metric says what it is about"
    assert one.name.startswith("llm_" if one.judge else "embed_" if one.embedder else "code_")
    assert one.name == one.function.__name__


@every_metric
def test_a_metric_states_what_a_reader_needs(one: Metric[Any]) -> None:
    first, blank, *rest = one.doc.split("\n")
    assert len(first) <= 80
    assert first.endswith(".")
    assert first[0].isupper()
    assert blank == ""
    body = "\n".join(rest)
    assert re.search(r"^Use it ", body, re.MULTILINE), "when to use it"
    assert re.search(r"^Not ", body, re.MULTILINE), "when not"
    assert re.search(r"^Empty: ", body, re.MULTILINE), "what empty fields do"
    assert one.source
    assert one.example
    assert max(map(len, one.doc.split("\n"))) <= 160


@every_metric
def test_metrics_named_in_a_page_exist(one: Metric[Any]) -> None:
    said = one.doc + " ".join(known.difference for known in one.relations)
    named = set(re.findall(r"`((?:code|llm|embed)_\w+)`", said))
    assert {name for name in named if registry.get(name) is None} <= NOT_YET
    assert one.name not in named


def test_what_is_promised_is_still_to_come() -> None:
    assert [name for name in NOT_YET if registry.get(name) is not None] == []


@every_metric
def test_the_example_of_a_metric_scores(one: Metric[Any]) -> None:
    fields = {name: value for name, value in one.example.items() if name in FIELDS}
    options = {name: value for name, value in one.example.items() if name not in FIELDS}
    result = scored(one, options=options, **fields)
    assert result.status == "ok", result
    assert set(fields) <= {field for need in one.requires for field in need.split("|")} | set(one.optional)


@every_metric
def test_options_take_their_defaults_and_nothing_else_is_required(one: Metric[Any]) -> None:
    for option in one.options:
        assert option.default is REQUIRED or (option.type.accepts(option.default) and option.type.keep(option.default) == option.default)
    assert {option.name for option in one.options if option.default is REQUIRED} == set(NEEDED_OPTIONS.get(one.name, {}))


@every_metric
def test_parameters_are_those_of_the_function(one: Metric[Any]) -> None:
    signature = inspect.signature(one)
    assert list(signature.parameters) == [*(p.name for p in one.parameters), *(option.name for option in one.options)]
    assert all(p.field in FIELDS for p in one.parameters)


@every_metric
def test_names_elsewhere_resolve_or_are_told_apart(one: Metric[Any]) -> None:
    for alias in one.aliases:
        assert registry[alias] is one
        assert not alias.startswith(("ragas.", "deepeval."))
    for known in one.relations:
        found = registry.get(known.name)
        assert found is None or found is not one, f"{known.name} is said to differ and resolves to the metric itself"
        assert known.difference[0].islower() or known.difference[0] in "0123456789`" or not known.difference[0].isalpha()


def test_metrics_of_a_family_live_in_it() -> None:
    assert {one.origin[0].removeprefix("measurand.catalogue.") for one in BUILT_INS} == set(FAMILIES)


def test_suites_hold_metrics_that_exist_and_each_once() -> None:
    for members in SUITES.values():
        assert len(set(members)) == len(members)
        assert all(registry[name].name == name for name in members)


# ---------------------------------------------------------------- what is asked

FOUR_PASSAGES: Final = {
    "input": "How long do refunds take?",
    "output": "Refunds take five days. They are free.",
    "expected": "Refunds take five days. They are free.",
    "contexts": ["Refunds are paid within five days.", "Refunds are free.", "The shop opens at nine.", "Shipping is free."],
}


def requests_of(names: Sequence[str], row: dict[str, Any]) -> set[Any]:
    """The distinct requests that these metrics make on a row: what is paid for when each is made once."""
    asked: list[Any] = []
    found = results(row, [instance(registry[name]) for name in names], asked=asked, reply=stand_in(1.0))
    assert [one.status for one in found] == ["ok"] * len(names)
    return set(asked)


@pytest.mark.parametrize(
    ("names", "calls"),
    [
        (["llm_faithfulness"], 2),
        (["llm_hallucination"], 2),
        (["llm_faithfulness", "llm_hallucination"], 2),
        (["llm_answer_relevance"], 1),
        (["llm_context_precision"], 1),
        (["llm_context_utilization"], 1),
        (["llm_context_recall"], 1),
        (["llm_agent_goal"], 1),
        (["llm_task_completion"], 1),
        (["embed_answer_similarity"], 1),
        (list(SUITES["rag"]), 5),
    ],
)
def test_requests_on_a_row_of_four_passages(names: list[str], calls: int) -> None:
    assert len(requests_of(names, FOUR_PASSAGES)) == calls


@pytest.mark.parametrize("one", ASKING, ids=lambda one: one.name)
def test_a_metric_asks_the_instruments_it_declares_and_no_other(one: Metric[Any]) -> None:
    asked: list[Any] = []
    result = results(dict(one.example), [instance(one)], asked=asked)[0]
    assert result.status == "ok", result
    assert {instrument_of(request) for request in asked} == {name for name, used in (("judge", one.judge), ("embedder", one.embedder)) if used}


@pytest.mark.parametrize("one", [one for one in ASKING if one.judged], ids=lambda one: one.name)
@given(PLAUSIBLE)
def test_no_more_is_asked_of_a_row_than_its_form_needs(one: Metric[Any], row: dict[str, Any]) -> None:
    asked: list[Any] = []
    result = results(row, [instance(one)], asked=asked)[0]
    assert len(asked) <= (2 if one.judged.claims else 1)
    if result.error is not None and result.error.code in ("missing_field", "invalid_field"):
        assert asked == []
    for request in asked:
        if isinstance(request, Ask):
            assert (request.over is None) == (one.judged.through is None)
            assert "?`" not in request.question
            assert {word for word in re.findall(r"`([^`]*)`", request.question) if word != "item"} <= set(typed_fields(row))


# ---------------------------------------------------------------- instances

NUMERIC: Final = registry["code_numeric_match"]


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={"abs_tolerance": st.floats(0, 5) | st.integers(0, 5), "rel_tolerance": st.floats(0, 1), "percent": st.sampled_from(["strict", "either"])},
        ),
        min_size=2,
        max_size=5,
    )
)
def test_instances_are_called_and_signed_alike_exactly_when_their_options_are(options: list[dict[str, Any]]) -> None:
    made = [instance(NUMERIC, one) for one in options]
    for one in made:
        for other in made:
            same = one.options == other.options
            assert (one.name == other.name) == same
            assert (one.signature == other.signature) == same


def test_a_signature_has_its_parts() -> None:
    plain, changed = instance(NUMERIC), instance(NUMERIC, {"abs_tolerance": 1, "percent": "either"})
    assert plain.signature.split("|")[:2] == ["code_numeric_match", f"v:{NUMERIC.version}"]
    assert plain.signature.split("|")[2].startswith("lib:")
    assert changed.signature.split("|")[2] == 'opt:abs_tolerance=1.0,percent="either"'
    assert instance(NUMERIC, threshold=0.9).signature == plain.signature


def test_a_pattern_may_hold_anything_and_its_signature_stays_readable() -> None:
    nasty = 'a|lib:9"\\\n='
    made = instance(registry["code_regex_match"], {"pattern": re.escape(nasty)})
    name, version, options = made.signature.rpartition("|lib:")[0].split("|", 2)
    assert (name, version) == ("code_regex_match", "v:1")
    assert json.loads(options.removeprefix("opt:pattern=")) == re.escape(nasty)
