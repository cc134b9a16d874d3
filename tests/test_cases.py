"""Cases from public reports of other evaluation tools: what went wrong for their users, in our words and values.

Each keeps its id. A case is the instance of a kind: what holds for the kind is in the property tests and the golden files.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from measurand import evaluate, score
from measurand.core.errors import InvalidResponseError, ProblemsError
from measurand.core.metric import Metric
from measurand.core.result import MetricResult
from measurand.formula.edit import levenshtein_ratio
from measurand.formula.folds import share
from measurand.formula.json_values import json_similarity, number_similarity
from measurand.formula.overlap import jaccard, multiset_overlap
from measurand.formula.vectors import cosine
from measurand.index import registry
from measurand.judge import Unreadable
from measurand.judge.reply import options_of


class Case(NamedTuple):
    """One row for some metrics, and the score that each must give; None is not applicable."""

    id: str
    symptom: str
    metrics: str
    fields: dict[str, Any]
    score: float | None
    options: dict[str, Any] | None = None


def text(output: str, expected: Any) -> dict[str, Any]:
    return {"output": output, "expected": expected}


def calls(made: list[Any], expected: list[Any]) -> dict[str, Any]:
    def as_calls(some: list[Any]) -> list[dict[str, Any]]:
        return [{"name": one} if isinstance(one, str) else {"name": one[0], "arguments": one[1]} for one in some]

    return {"tool_calls": as_calls(made), "expected_tool_calls": as_calls(expected)}


IN_MANY_SCRIPTS: Final = "code_rouge_1 code_rouge_2 code_rouge_l code_rouge_lsum code_token_f1 code_word_overlap code_chrf code_bleu"
EURO: Final = ["get_rate", {"from": "EUR"}]
TIDE: Final = ["tide_table", {"port": "Brest"}]
HANDOFF: Final = ["handoff_to_billing", {}]
FORECAST: Final = ["forecast", {"c": "Bern"}]
FIXTURES: Final = ["fixtures", {"c": "Bern"}]
BY_NAME: Final = "code_tool_call_match code_tool_selection_f1"
BY_CALL: Final = "code_tool_call_f1 code_trajectory_exact"

CASES: Final = [
    Case("M01", "identical texts in other scripts score 0", IN_MANY_SCRIPTS, text("京都の紅葉は美しい", "京都の紅葉は美しい"), 1),
    Case("M01", "identical texts in other scripts score 0", IN_MANY_SCRIPTS, text("ढाका में आज बारिश है", "ढाका में आज बारिश है"), 1),
    Case("M01", "identical texts in other scripts score 0", IN_MANY_SCRIPTS, text("สวนสาธารณะเปิดเช้า", "สวนสาธารณะเปิดเช้า"), 1),
    Case("M04", "exact match compares sets of words", "code_normalized_match", text("roll and rock", "rock and roll"), 0),
    Case("M04", "exact match compares sets of words", "code_normalized_match", text("no no", "no"), 0),
    Case("M04", "normalising may touch case and punctuation", "code_normalized_match", text("Rock and Roll!", "rock and roll"), 1),
    Case("M05", "punctuation is stripped out of numbers", "code_normalized_match code_token_f1", text("(2.71)", "2.71"), 1),
    Case("M05", "punctuation is stripped out of numbers", "code_normalized_match code_token_f1", text("2.71.", "2.71"), 1),
    Case("M05", "punctuation is stripped out of numbers", "code_normalized_match code_token_f1", text("271", "2.71"), 0),
    *(
        Case("M06", "a number that touches punctuation is missed", "code_numeric_match", text(one, "58"), 1)
        for one in ("It comes to 58!", "So, (58).", "Result: [58]", "Is it 58?")
    ),
    Case("M06", "letters glued to digits are no number", "code_numeric_match", text("58abc", "58"), 0),
    Case("M07", "numbers are compared as the end of a text", "code_numeric_match", text("The total is 137", "7"), 0),
    Case("M07", "numbers are compared as the end of a text", "code_numeric_match", text("7", "-7"), 0),
    Case("M07", "numbers are compared as the end of a text", "code_numeric_match", text("about 12.5", "2.5"), 0),
    Case("M07", "numbers are compared as texts", "code_numeric_match", text("1e3", "1000"), 1),
    Case("M07", "numbers are compared as texts", "code_numeric_match", text("the sum is -7 exactly", "-7"), 1),
    Case("M09", "a lone comma is taken for the last number", "code_numeric_match", text("The total is 96, all told, so she can pay.", "96"), 1),
    Case("M09", "a lone comma is taken for the last number", "code_numeric_match", text("It is 1,250, which is enough", "1250"), 1),
    *(Case("M10", "a currency sign or .00 makes equal amounts differ", "code_numeric_match", text(one, "48"), 1) for one in ("€48.00", "$48", "\\$48", "48.")),
    Case("M10", "a currency sign or .00 makes equal amounts differ", "code_numeric_match", text("£48.50", "48"), 0),
    Case("M12", "spaces left by punctuation make texts differ", "code_normalized_match", text("( D )", "(D)"), 1),
    Case("M13", "articles are deleted inside words", "code_normalized_match", text("Panama", "Pm"), 0),
    Case("M13", "articles are deleted inside words", "code_normalized_match", text("banana", "b"), 0),
    Case("M13", "articles are deleted as whole words", "code_normalized_match", text("the Hague", "Hague"), 1),
    *(Case("M14", "two empty texts divide by zero", "code_levenshtein code_word_overlap code_token_f1", text(one, ""), None) for one in ("", "abc")),
    Case("M14", "an empty output ends the run", "code_levenshtein code_word_overlap code_token_f1", text("", "abc"), 0),
    Case("M15", "BLEU divides by zero", "code_bleu", text("", ["a short note"]), 0),
    Case("M15", "BLEU divides by zero", "code_bleu", text("a short note", ["\f"]), 0),
    Case("M18", "one reference is split into characters", "code_bleu code_chrf", text("the market opens at nine sharp", "the market opens at nine sharp"), 1),
    Case("M19", "BLEU of a short identical answer is 0", "code_bleu", text("happy", "happy"), 1),
    Case("M20", "chrF counts spaces", "code_chrf", text("ice cream", "icecream"), 1),
    Case(
        "M21",
        "identical JSON with empty containers is below 1",
        "code_json_similarity code_json_match",
        {"output": {"notes": [], "extra": {}}, "expected": {"notes": [], "extra": {}}},
        1,
    ),
    Case("M26", "number likeness goes below 0", "code_json_similarity", {"output": {"x": -4}, "expected": {"x": 4}}, 0),
    Case("M26", "0 against 0 divides by zero", "code_json_similarity", {"output": {"x": 0}, "expected": {"x": 0}}, 1),
    Case("M26", "number likeness goes below 0", "code_json_similarity", {"output": {"x": 0}, "expected": {"x": 5}}, 0),
    *(
        Case(
            "M37",
            "renaming duplicates invents relevance",
            name,
            {"contexts": [{"id": "doc"}, {"id": "doc"}, {"id": "zz"}], "reference_contexts": [{"id": "doc_2"}]},
            0,
            {"k": 3},
        )
        for name in ("code_ndcg", "code_context_recall", "code_hit_rate", "code_average_precision")
    ),
    Case("M38", "calls beyond the expected cost nothing", "code_tool_call_match code_trajectory_exact", calls([EURO, ["convert", {"amt": 9}]], [EURO]), 0),
    Case("M38", "calls beyond the expected cost nothing", "code_tool_selection_precision", calls([EURO, ["convert", {"amt": 9}]], [EURO]), 0.5),
    Case("M38", "calls beyond the expected cost nothing", "code_tool_selection_recall", calls([EURO, ["convert", {"amt": 9}]], [EURO]), 1),
    Case("M38", "calls beyond the expected cost nothing", "code_tool_selection_f1 code_tool_call_f1", calls([EURO, ["convert", {"amt": 9}]], [EURO]), 2 / 3),
    Case("M39", "one expected call matches several", "code_tool_selection_recall", calls([TIDE] * 3, [TIDE]), 1),
    Case("M39", "one expected call matches several", "code_tool_selection_precision", calls([TIDE] * 3, [TIDE]), 1 / 3),
    Case("M39", "one expected call matches several", "code_tool_call_f1 code_tool_selection_f1", calls([TIDE] * 3, [TIDE]), 0.5),
    Case("M40", "{} against {} divides by zero", BY_CALL, calls([HANDOFF], [HANDOFF]), 1),
    Case("M40", "{} allows no arguments", BY_CALL, calls([["handoff_to_billing", {"x": 1}]], [HANDOFF]), 0),
    Case("M41", "absent arguments crash against an object", "code_tool_call_f1", calls(["weather"], [["weather", {"city": "Lund"}]]), 0),
    Case("M41", "absent arguments crash against an object", "code_tool_call_f1", calls([["weather", {"city": "Lund"}]], ["weather"]), 0),
    Case("M41", "absent arguments are empty ones", "code_tool_call_f1", calls(["weather"], ["weather"]), 1),
    Case("M41", "absent arguments are empty ones", "code_tool_call_f1", calls(["weather"], [["weather", {}]]), 1),
    Case(
        "M43",
        "the same tool twice is counted once",
        f"{BY_NAME} code_tool_call_f1 code_tool_selection_recall",
        calls(["lookup", "lookup"], ["lookup", "lookup"]),
        1,
    ),
    Case("M43", "the same tool twice is counted once", "code_tool_selection_recall", calls(["lookup"], ["lookup", "lookup"]), 0.5),
    Case(
        "M45", "parallel calls in another order are wrong", "code_tool_call_f1 code_trajectory_any_order", calls([FIXTURES, FORECAST], [FORECAST, FIXTURES]), 1
    ),
    Case(
        "M45",
        "the order can still be asked for",
        "code_tool_call_match code_trajectory_in_order code_trajectory_exact",
        calls([FIXTURES, FORECAST], [FORECAST, FIXTURES]),
        0,
    ),
    Case("M48", '"1" is judged equal to 1 by accident', BY_CALL, calls([["seat", {"n": 1}]], [["seat", {"n": "1"}]]), 0),
    Case("M48", "1 and 1.0 are one number", BY_CALL, calls([["seat", {"n": 1}]], [["seat", {"n": 1.0}]]), 1),
    Case("M48", "true is no number", BY_CALL, calls([["seat", {"n": True}]], [["seat", {"n": 1}]]), 0),
    Case("M48", "texts keep their case", BY_CALL, calls([["go", {"to": "Rome"}]], [["go", {"to": "rome"}]]), 0),
    Case("M61", "a date in two notations", "code_exact_match code_normalized_match", text("5 March 2024", "2024-03-05"), 0),
    Case("M61", "a date in two notations", "code_exact_match", text("03/04/2024", "2024-04-03"), 0),
    *(
        Case("X06", "braces in data are rendered as a template", "code_exact_match code_contains code_normalized_match", text(one, one), 1)
        for one in ("{{ env.SECRET }}", "{# note", "{% for x in y %}", "{0.__class__}", "$x_{{max}}$")
    ),
]


@pytest.mark.parametrize(
    ("name", "case"), [pytest.param(name, case, id=f"{case.id}-{name}-{number}") for number, case in enumerate(CASES) for name in case.metrics.split()]
)
def test_a_case_from_a_report(name: str, case: Case) -> None:
    result = score(name, options=case.options, **case.fields)
    if case.score is None:
        assert (result.status, result.score) == ("not_applicable", None)
    else:
        assert result.status == "ok", result
        assert result.score == pytest.approx(case.score), case.symptom


def test_m14_the_bare_formulas_take_empty_texts() -> None:
    assert [levenshtein_ratio(*pair) for pair in (("", ""), ("   ", "\t"), ("", "abc"))] == [1.0, 0.0, 0.0]
    assert [jaccard(*pair) for pair in (((), ()), ((), ("abc",)))] == [1.0, 0.0]
    assert multiset_overlap([], []).precision == 1.0


def test_m18_a_text_is_one_reference() -> None:
    one = score("code_bleu", output="the market opens", expected="the market closes")
    listed = score("code_bleu", output="the market opens", expected=["the market closes"])
    assert one.score == listed.score
    assert "nrefs:1" in one.details["signature"]


def test_m24_an_equal_item_counts_the_same_in_lists_and_objects() -> None:
    assert json_similarity(["n/a", "blue"], ["n/a", "blue"]) == json_similarity({"x": "n/a", "y": "blue"}, {"x": "n/a", "y": "blue"}) == 1.0


def test_m26_a_likeness_lies_between_0_and_1() -> None:
    assert [number_similarity(*pair) for pair in ((-4, 4), (0, 0), (0, 5))] == [0.0, 1.0, 0.0]


def test_m46_order_is_explained_where_it_is_scored() -> None:
    result = score("code_tool_selection_f1", **calls(["S", "S", "Q"], ["S", "Q", "S"]))
    assert (result.score, result.details["missing"], result.details["unexpected"]) == (1.0, [], [])
    assert score("code_tool_call_match", **calls(["S", "S", "Q"], ["S", "Q", "S"])).score == 0


def test_m48_a_coercion_is_asked_for() -> None:
    def made(argument: Any, wanted: Any, match: str) -> MetricResult:
        expected = [{"name": "seat", "arguments": {"n": wanted}, "match": {"n": match}}]
        return score("code_trajectory_any_order", tool_calls=[{"name": "seat", "arguments": {"n": argument}}], expected_tool_calls=expected)

    assert made(1, "1", "numeric").score == 1
    assert made("Rome", "rome", "casefold").score == 1


# ---------------------------------------------------------------- judged and embedded


def test_m27_m29_a_cosine_is_a_number_or_an_error() -> None:
    assert cosine([1, 0], [-0.6, 0.8]) == pytest.approx(-0.6)
    odd: list[tuple[list[float], list[float]]] = [
        ([0, 0, 0], [1, 2, 3]),
        ([0, 0], [0, 0]),
        ([math.nan, 1], [1, 1]),
        ([math.inf, 1], [1, 1]),
        ([1, 0], [1, 0, 0]),
        ([], []),
    ]
    for one, other in (*odd, *((other, one) for one, other in odd)):
        with pytest.raises(InvalidResponseError):
            cosine(one, other)


@pytest.mark.parametrize("nothing", [None, -1, "", "null", "unknown", 0.5, [], {}, math.nan])
def test_m31_no_verdict_is_no_support(nothing: Any) -> None:
    with pytest.raises(Unreadable):
        options_of(["yes", "no", nothing], {"yes": "yes", "no": "no"}, 3)


def test_m57_the_mean_of_all_claims_counts_in_any_order() -> None:
    assert share("yes")([0.6, 0.2]) == share("yes")([0.2, 0.6]) == pytest.approx(0.4)
    assert share("no")([0.6, 0.2]) == pytest.approx(0.6)
    assert share("yes")([]) is None


# ---------------------------------------------------------------- data


def _scored(tmp_path: Path, name: str, content: str, metric: str | Metric[Any]) -> tuple[list[float | None], list[dict[str, Any]]]:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    run = evaluate(path, metric)
    return [result.score for result in run.results()], list(run.rows())


def test_d03_a_list_written_by_python_is_a_list(tmp_path: Path) -> None:
    content = 'question,contexts,reference_contexts\nq1,"[\'Opens at 9\', ""It\'s closed Sundays""]","[\'It is closed Sundays\']"\n'
    assert _scored(tmp_path, "t.csv", content, "code_context_precision(min_overlap=0.5)")[0] == [0.5]


def test_d06_words_for_nothing_are_answers(tmp_path: Path) -> None:
    found, rows = _scored(tmp_path, "t.csv", "input,expected,output\nIs it taxable?,N/A,N/A\nWhich value is empty in Python?,None,None\n", "code_exact_match")
    assert found == [1.0, 1.0]
    assert [row["expected"] for row in rows] == ["N/A", "None"]


def test_d14_a_null_reference_is_missing_and_other_metrics_run() -> None:
    rows = [{"input": "a", "output": "x", "expected": None}, {"input": "b", "output": "y", "expected": "y"}]
    run = evaluate(rows, ["code_exact_match", "code_output_length"], on_missing="skip")
    assert [result.score for result in run.results("code_exact_match")] == [None, 1.0]
    assert [result.score for result in run.results("code_output_length")] == [1.0, 1.0]


def test_d20_rows_in_another_layout_are_no_pass() -> None:
    rows = [{"vars": {"text": "Hello"}, "assert": [{"type": "equals", "value": "Hola"}]}]
    with pytest.raises(ProblemsError, match="code_exact_match needs output and expected; none of the 1 rows has it"):
        evaluate(rows, "code_exact_match", config={"data": {"id": "order"}})


# ---------------------------------------------------------------- security


def test_x08_what_looks_like_an_address_is_text(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    where = secret.as_uri()
    row: dict[str, Any] = {"contexts": [where], "reference_contexts": ["the secret"], "metadata": {"image": "http://169.254.169.254/latest/"}}
    assert score("code_context_recall", **row).score == 0
    schema = score("code_json_schema", output="{}", output_schema={"$ref": where})
    assert (schema.error and schema.error.code) == "invalid_field"


def test_x12_a_config_names_no_code(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    config = tmp_path / "metrics.toml"
    config.write_text(f"[run]\nmetrics = [{json.dumps(str(tmp_path / 'evil.py') + ':run')}]\n")
    with pytest.raises(ProblemsError, match="--load"):
        evaluate([{"output": "x"}], config=config)
    assert not (tmp_path / "ran").exists()


# ---------------------------------------------------------------- hostile fields

LONG: Final = 1_000_000
HOSTILE_TEXTS: Final = {
    "one letter": ("a" * LONG, "b" * LONG),
    "words": ("a b c d " * (LONG // 8), "d c b a e " * (LONG // 10)),
    "lines": ("a\n" * (LONG // 2), "b\n" * (LONG // 2)),
    "digits": ("1 " * (LONG // 2), "1/" * (LONG // 2)),
    "brackets": ("[" * LONG, "{" * LONG),
    "quotes": ("“a b c" * (LONG // 6), "'a b c " * (LONG // 7)),
    "answers": ("answer: " * (LONG // 8), "\\boxed{" * (LONG // 7)),
}


@pytest.mark.slow
@pytest.mark.parametrize("texts", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
@pytest.mark.parametrize("one", [one for one in registry if one.method == ("code",) and {"output", "expected"} <= set(one.requires)], ids=lambda one: one.name)
def test_a_megabyte_against_a_megabyte_ends_soon(one: Metric[Any], texts: tuple[str, str]) -> None:
    from time import process_time

    began = process_time()
    result = score(one, output=texts[0], expected=texts[1])
    assert process_time() - began < 20
    assert result.error is None or result.error.code in ("timeout", "invalid_field", "undefined")


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"$ref": "http://169.254.169.254/latest"}, "invalid_field"),
        ({"$ref": "file:///etc/hostname"}, "invalid_field"),
        ({"$ref": "#"}, "invalid_field"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "invalid_field"),
        ({"properties": {"a": {"pattern": "(a|aa)+$"}}}, "timeout"),
        ({"patternProperties": {"(a|aa)+$": {}}}, "timeout"),
        (
            {
                "allOf": [{"$ref": f"#/$defs/d{n}"} for n in range(1)],
                "$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(40)} | {"d40": False},
            },
            "timeout",
        ),
        ({"type": 5}, "invalid_field"),
        ("no schema", "invalid_field"),
    ],
)
def test_a_hostile_schema_ends_in_a_code(schema: Any, code: str) -> None:
    value = json.dumps({"a": "a" * 60 + "!", "a" * 60 + "!": 1})
    result = score("code_json_schema", output=value, output_schema=schema)
    assert result.error is not None, result
    assert result.error.code == code


def test_deep_nesting_ends_in_a_code() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert score("code_json_valid", output=deep).score == 0
    nested: Any = []
    for _ in range(5_000):
        nested = [nested]
    for one in ("code_json_match", "code_json_similarity", "code_json_valid"):
        result = score(one, output=nested, expected=[1]) if one != "code_json_valid" else score(one, output=nested)
        assert result.error is None or result.error.code == "invalid_field", result


def test_a_row_made_to_last_ends_in_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    from measurand.core import effort

    monkeypatch.setattr(effort, "SECONDS", 0.05)
    many = [{"name": f"t{number}", "arguments": {"n": number}} for number in range(3_000)]
    passages = [f"passage {number} of many" for number in range(3_000)]
    rows: list[tuple[str, dict[str, Any]]] = [
        ("code_trajectory_any_order", {"tool_calls": many, "expected_tool_calls": [{**one, "name": "t"} for one in many]}),
        ("code_context_redundancy", {"contexts": passages}),
        ("code_mrr", {"contexts": passages, "reference_contexts": [f"{one}s" for one in passages]}),
        ("code_levenshtein", {"output": "a" * 3_000, "expected": ["b" * 3_000] * 3_000}),
    ]
    for name, row in rows:
        result = score(name, **row)
        assert (result.error and result.error.code) == "timeout", result
    assert score("code_exact_match", output="a", expected="a").score == 1, "the next cell has time of its own"
    assert registry["code_trajectory_any_order"]([], []) is True
