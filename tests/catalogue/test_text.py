"""The text family against independent implementations on real pairs, and the cases that users reported. Golden cases hold single values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from measurand.catalogue import text
from measurand.core.errors import CellTimeoutError, InvalidFieldError, UndefinedError
from measurand.core.metric import Metric, Score
from measurand.core.record import Context
from measurand.formula import translation
from measurand.formula.normalise import tokens

DATA = Path(__file__).parent / "data"
PAIRS = [json.loads(line) for line in (DATA / "oracle_pairs.jsonl").read_text(encoding="utf-8").splitlines()]

CORPUS = json.loads((DATA / "oracle_corpus.json").read_text(encoding="utf-8"))

PUNCTUATION_BEYOND_ASCII = {
    "pair/mtrag/6af5334fbd010b919d7fa174823abd12<::>8/llama-3.1-405b-instruct": "the SQuAD script counts a dash as a word",
    "pair/mtrag/5f9ccf0a4ff691fc482432af64cc3c9d<::>2/gpt-4o": "the SQuAD script keeps “ ” and ’ in the words",
    "pair/mtrag/4751cd8210b4adb8bce5cbc3fe913096<::>4/gpt-4o": "the SQuAD script keeps ’ in a word",
}
"""Where code_token_f1 differs from the SQuAD script, and why; decimals occur on one side or on both and change no value here."""


def _number(scored: Any) -> float:
    value: Any = scored.value if isinstance(scored, Score) else scored
    return float(value)


REFERENCES_AS_LIST = ("code_bleu", "code_chrf", "code_ter")


def _scored(metric: Metric[Any], pair: Mapping[str, Any]) -> float:
    reference = pair["reference"]
    return _number(metric(pair["prediction"], [reference] if metric.name in REFERENCES_AS_LIST else reference))


@pytest.mark.parametrize(
    ("metric", "oracle", "scale"),
    [
        (text.code_rouge_1, "rouge1", 1),
        (text.code_rouge_2, "rouge2", 1),
        (text.code_rouge_l, "rougeL", 1),
        (text.code_rouge_lsum, "rougeLsum", 1),
        (text.code_bleu, "bleu_sentence", 100),
        (text.code_chrf, "chrf", 100),
        (text.code_normalized_match, "squad_em", 1),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_real_pairs_score_as_other_tools_say(metric: Metric[Any], oracle: str, scale: float) -> None:
    for pair in PAIRS:
        assert scale * _scored(metric, pair) == pytest.approx(pair["oracle"][oracle], abs=1e-9), pair["id"]


@pytest.mark.slow
def test_real_pairs_have_the_ter_that_sacrebleu_says_one_by_one_and_together() -> None:
    fold = translation.CORPUS_TER
    together = fold.zero()
    for pair in PAIRS:
        row = fold.add(fold.zero(), pair["prediction"], [pair["reference"]])
        assert 100 * (fold.value(row) or 0.0) == pytest.approx(pair["oracle"]["ter"], abs=1e-9), pair["id"]
        together = fold.merge(together, row)
    assert 100 * (fold.value(together) or 0.0) == pytest.approx(CORPUS["corpus_ter"], abs=1e-9)


@pytest.mark.slow
def test_the_shortest_real_pairs_have_the_ter_that_sacrebleu_says() -> None:
    shortest = sorted(PAIRS, key=lambda pair: len(pair["prediction"]) * len(pair["reference"]))[:40]
    for pair in shortest:
        assert 100 * _scored(text.code_ter, pair) == pytest.approx(pair["oracle"]["ter"], abs=1e-9), pair["id"]


def test_real_pairs_have_the_token_f1_of_the_squad_script_but_for_stated_punctuation() -> None:
    differ = {pair["id"] for pair in PAIRS if _scored(text.code_token_f1, pair) != pytest.approx(pair["oracle"]["squad_f1"], abs=1e-9)}
    assert differ == set(PUNCTUATION_BEYOND_ASCII)


@pytest.mark.parametrize(
    ("metric", "oracle"),
    [(text.code_bleu, "corpus_bleu"), (text.code_chrf, "corpus_chrf")],
    ids=["bleu", "chrf"],
)
def test_the_corpus_value_of_the_real_pairs_is_sacrebleu_s_however_states_are_merged(metric: Metric[Any], oracle: str) -> None:
    fold = metric.corpus
    assert fold is not None
    parts = [fold.zero() for _ in range(3)]
    for index, pair in enumerate(PAIRS):
        parts[index % 3] = fold.add(parts[index % 3], pair["prediction"], [pair["reference"]])
    merged = fold.merge(parts[2], fold.merge(fold.zero(), fold.merge(parts[0], parts[1])))
    value = fold.value(merged)
    assert value is not None
    assert 100 * value == pytest.approx(CORPUS[oracle], abs=1e-9)


def test_no_rows_have_no_corpus_value() -> None:
    assert all(fold.value(fold.zero()) is None for fold in (translation.CORPUS_BLEU, translation.CORPUS_CHRF, translation.CORPUS_TER))


# ---------------------------------------------------------------- reported by users of other tools

OVERLAPS: Sequence[Metric[Any]] = (text.code_token_f1, text.code_word_overlap, text.code_rouge_1, text.code_rouge_2, text.code_rouge_l, text.code_rouge_lsum)


@pytest.mark.parametrize(
    "same", ["京都の紅葉は美しい", "ढाका में आज बारिश है", "สวนสาธารณะเปิดเช้า", "Καλημέρα κόσμε", "👍", "?!", "the", "µ", "ٱلْعَرَبِيَّة", "𝐁𝐨𝐥𝐝", "\u200b"]
)
def test_identical_texts_score_the_maximum_in_every_script(same: str) -> None:
    for metric in (*OVERLAPS, text.code_token_precision, text.code_token_recall, text.code_levenshtein, text.code_exact_match, text.code_normalized_match):
        assert _number(metric(same, same)) == 1, metric.name


@pytest.mark.parametrize(("output", "expected"), [("👍", "👎"), ("+", "-"), ("A", "The"), ("?", "!"), ("☆", "○")])
def test_texts_without_words_are_not_equal_for_lack_of_words(output: str, expected: str) -> None:
    for metric in (*OVERLAPS, text.code_normalized_match):
        assert _number(metric(output, expected)) == 0, metric.name


@pytest.mark.parametrize(("pair", "expected"), [(("", ""), (1, 1)), (("   ", "\t"), (0, 1)), (("", "abc"), (0, 0))])
def test_empty_texts_divide_by_nothing(pair: tuple[str, str], expected: tuple[float, float]) -> None:
    assert (text.code_levenshtein(*pair), text.code_word_overlap(*pair)) == expected


def test_a_single_reference_is_never_read_as_its_characters() -> None:
    line = "the market opens at nine sharp"
    assert _number(text.code_bleu(line, [line])) == 1
    assert text.code_bleu(line, [line]).details["signature"].startswith("nrefs:1|")


def test_what_cannot_be_compared_is_undefined_and_says_why() -> None:
    with pytest.raises(UndefinedError, match="the reference is blank"):
        text.code_contains("x", " ")
    with pytest.raises(UndefinedError, match="the reference is no number"):
        text.code_numeric_match("42", "2**(1/4)")
    with pytest.raises(UndefinedError, match="no letter of a multiple choice"):
        text.code_choice_match("B", "Paris")
    with pytest.raises(UndefinedError, match="no quotation of at least 3 words"):
        text.code_quoted_spans("none", [])
    with pytest.raises(UndefinedError, match="ids and no text"):
        text.code_quoted_spans('"one two three"', [Context(id="d1")])


def test_what_would_take_for_ever_is_stopped() -> None:
    with pytest.raises(CellTimeoutError, match="took more than"):
        text.code_regex_match("a" * 60 + "!", pattern="(a|aa)+$")
    with pytest.raises(CellTimeoutError, match="1001 by 1000 words"):
        text.code_ter("word " * 1001, ["word " * 1000])
    with pytest.raises(InvalidFieldError, match="is too large"):
        text.code_regex_match("a", pattern="(?:a{1000}){1000}")


HOSTILE = [
    "a" * 200_000,
    "1" * 200_000,
    "1 " * 100_000,
    '"' * 200_000,
    "(" * 200_000,
    "answer is " * 20_000,
    "\\frac{" * 30_000,
    "-" * 200_000,
    "\ud800",
    "\x00\x01",
    "的" * 100_000,
]


@pytest.mark.parametrize("output", HOSTILE, ids=lambda text_: repr(text_[:9]))
@pytest.mark.parametrize(
    "metric",
    [text.code_numeric_match, text.code_choice_match, text.code_contains, text.code_token_f1, text.code_rouge_2, text.code_exact_match],
    ids=lambda metric: metric.name,
)
def test_hostile_outputs_end_in_a_score(metric: Callable[[str, str], Any], output: str) -> None:
    assert _number(metric(output, "7" if metric is text.code_numeric_match else "B")) == 0


def test_texts_are_split_once_for_all_metrics_of_a_row() -> None:
    assert tokens("The Eiffel Tower") is tokens("The Eiffel Tower")
