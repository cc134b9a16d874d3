"""Text against a reference. What is a word, and what is left of a text after normalisation: `formula/normalise.py`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from measurand.core.annotations import NonNegative, Pattern, PositiveInt
from measurand.core.errors import UndefinedError
from measurand.core.metric import Score, metric, same
from measurand.core.taxonomy import MetricCategory
from measurand.formula import rouge, translation
from measurand.formula.choice import chosen_letter
from measurand.formula.edit import levenshtein_ratio
from measurand.formula.normalise import normalised, tokens, trimmed, words
from measurand.formula.numbers import final_numbers, reference_numbers, same_number
from measurand.formula.overlap import f1, jaccard, multiset_overlap
from measurand.formula.patterns import found
from measurand.formula.phrases import occurs, phrase
from measurand.formula.quotes import quotations, quoted_in
from measurand.formula.translation import Scored

if TYPE_CHECKING:
    from measurand.core.record import Context

_CORRECTNESS = MetricCategory.Correctness
_PARIS = {"output": "Paris, France", "expected": "Paris"}
_LONGER = {
    "output": "The library opens at nine on weekdays and closes at six.",
    "expected": "On weekdays the library opens at nine and closes at seven.",
}
_SQUAD = "Rajpurkar et al. 2016, SQuAD"
_ROUGE = "Lin 2004, ROUGE; rouge-score 0.1.2 without stemming"


@metric(
    _CORRECTNESS,
    source="equality after Unicode NFC (UAX #15) and trimming",
    aka={
        "praval.exact_match": "compares canonical JSON, not texts (see `code_json_match`)",
        "ragas.ExactMatch": "neither trims nor composes (NFC)",
        "deepeval.ExactMatchMetric": "does not compose (NFC) unless told to",
        "autoevals.ExactMatch": "writes objects as JSON text and compares the texts, so that the order of keys counts (see `code_json_match`)",
        "openevals.exact_match": "compares objects as JSON with sorted keys (see `code_json_match`)",
        "inspect.exact": "normalises case, articles and punctuation first (see `code_normalized_match`)",
        "evaluate.exact_match": "neither trims nor composes; gives the mean over rows",
    },
    example={"output": " Paris\n", "expected": "Paris"},
)
def code_exact_match(output: str, expected: str) -> bool:
    """The output is exactly a reference answer.

    Equal after composing characters (NFC) and trimming white space at the ends; the best reference counts.
    Use it when the form is prescribed: a label, an identifier, a code.
    Not when case, punctuation or articles may differ (see `code_normalized_match`), nor for JSON (see `code_json_match`) or numbers
    (see `code_numeric_match`). Dates are texts here: 2024-03-05 is not "5 March 2024".
    Empty: an empty output is 0.
    """
    return output == expected or trimmed(output) == trimmed(expected)


@metric(
    _CORRECTNESS,
    source=_SQUAD,
    aka={
        "outcome.exact_match": same,
        "squad.exact_match": "glues decimals (2.71 becomes 271), drops minus signs, keeps punctuation that is not ASCII",
        "inspect.exact": "keeps punctuation that is not ASCII",
        "evaluate.squad": "0–100, mean over rows; glues decimals",
    },
    example={"output": "The Eiffel Tower.", "expected": "Eiffel tower"},
)
def code_normalized_match(output: str, expected: str) -> bool:
    """The output is a reference answer but for case, articles, punctuation, spacing.

    Equal after SQuAD normalisation; the order and number of words count. Deviations from the SQuAD script: numbers keep their decimal point
    and minus sign and lose thousands separators; punctuation of every script goes; a text of nothing but articles or punctuation keeps them
    ("A" is not "The", "+" is not "-").
    Use it when short answers may be written in more than one way.
    Not when an answer may be phrased around (see `code_token_f1`, `code_contains`).
    Empty: an empty output is 0.
    """
    return normalised(output) == normalised(expected)


@metric(
    _CORRECTNESS,
    source="whole-word containment after Unicode case folding",
    aka={
        "ragas.StringPresence": "matches inside words and numbers too, and minds case",
        "inspect.includes": "matches inside words and numbers too",
        "autoevals.ListContains": "scores two lists by their best pairing",
    },
    example={"output": "The capital of France is Paris.", "expected": "paris"},
)
def code_contains(output: str, expected: str) -> bool:
    """A reference answer occurs in the output.

    Without case, as whole words and whole numbers: "10" is not in "10:30", "110" or "3.10", "cat" not in "category".
    In scripts written without spaces any place counts.
    Use it when the answer stands in a sentence.
    Not when a long output may name every candidate; nothing lowers this score but silence (see `code_token_precision`).
    Empty: an empty output is 0; a blank reference: not defined.
    """
    needle = phrase(expected)
    if not needle:
        raise UndefinedError("the reference is blank: there is nothing to look for")
    return occurs(needle, phrase(output))


@metric(
    _CORRECTNESS,
    source="the regex package",
    aka={
        "inspect.pattern": "compares the pattern's groups with the target",
        "deepeval.PatternMatchMetric": "matches the whole output",
    },
    example={"output": "Your ticket is ABC-1234.", "pattern": "[A-Z]{3}-[0-9]{4}"},
)
def code_regex_match(output: str, *, pattern: Pattern, whole: bool = False, ignore_case: bool = False) -> bool:
    """The output matches a pattern.

    `pattern` (a regular expression of the `regex` package) matches somewhere in the output, or with `whole` all of it.
    Use it when the form is what matters: a ticket number, a date, a required phrase.
    Not when a parser says it better (see `code_json_valid`, `code_json_schema`).
    Empty: an empty output matches only a pattern that matches nothing, such as `^$`. A match that takes more than 0.1 s: error `timeout`.
    """
    return found(pattern, output, whole=whole, ignore_case=ignore_case, field="pattern")


@metric(
    _CORRECTNESS,
    source="Cobbe et al. 2021, GSM8K (final answer); Hendrycks et al. 2021, MATH (boxed answer)",
    aka={
        "outcome.numeric_accuracy": "takes the first number of the output, not the last",
        "inspect.match(numeric)": "takes a % sign for part of the text and looks at the end of the output",
        "autoevals.NumericDiff": "grades the distance, 1 − |a−b| / (|a|+|b|), of two numbers (see `code_json_similarity`)",
    },
    example={"output": "12 of 48 passed, that is 25%.", "expected": "0.25"},
)
def code_numeric_match(
    output: str, expected: str, *, abs_tolerance: NonNegative = 0.0, rel_tolerance: NonNegative = 0.0, percent: Literal["strict", "either"] = "strict"
) -> Score[bool]:
    r"""The output's final number is the expected one.

    The number of the marked answer (`\boxed{}`, `####`, "answer:", "the answer is"), else the last one, within
    |given − expected| ≤ max(abs_tolerance, rel_tolerance · |expected|); without tolerances whole numbers exactly, others to 12 digits.
    Read: signs, 1,000 and 1.000,5 and 1'000, 1e3, 2 × 10^3, 1/2, 1 1/2, ½, currency signs, digits of every script, LaTeX around numbers.
    35% equals 35% and 0.35, and 35 only with `percent = "either"`. A plain space groups digits only where the expected value agrees.
    No numbers: digits with letters glued to them (58abc, GPT-4), dates, times, versions, number words.
    Use it when the answer is a quantity.
    Not when several numbers must be right (see `code_json_match`).
    Empty: an output without a number is 0; a reference without one, or that is a formula or a list: not defined.
    """
    wanted = reference_numbers(expected)
    if not wanted:
        raise UndefinedError("the reference is no number")
    given = final_numbers(output)
    for number in given:
        if any(same_number(number, other, abs_tolerance=abs_tolerance, rel_tolerance=rel_tolerance, percent=percent) for other in wanted):
            return Score(True, details={"number": str(number)})
    return Score(False, details={"number": str(given[0]) if given else None})


@metric(
    _CORRECTNESS,
    source="Hendrycks et al. 2021, MMLU (letter answers)",
    aka={
        "inspect.choice": "reads the letters a solver has marked",
        "inspect.answer(letter)": "reads `ANSWER: X` only",
    },
    example={"output": "Both A and C look right, but the answer is (C).", "expected": "C"},
)
def code_choice_match(output: str, expected: str) -> Score[bool]:
    r"""The output chooses the expected letter of a multiple choice.

    The letter of the marked answer (`\boxed{B}`, `#### B`, "answer: B", "the answer is (B)"; the last one counts), else one that begins the
    output as an item ("B", "(B)", "B) Paris"), else the last "option B", the last letter in brackets, a capital that ends the output.
    Use it when the choices are lettered.
    Not when the output gives the choice's text (see `code_normalized_match`).
    Empty: an output that chooses nothing is 0; a reference that is no letter: not defined.
    """
    wanted = chosen_letter(expected)
    if wanted is None:
        raise UndefinedError("the reference is no letter of a multiple choice")
    chosen = chosen_letter(output)
    return Score(chosen == wanted, details={"chosen": chosen})


@metric(
    MetricCategory.RAG | MetricCategory.Faithfulness,
    source="ragas 0.4, QuotedSpansAlignment",
    aka={"ragas.QuotedSpansAlignment": "1 for an output without quotations; joins the passages; lets any quotation mark close any other"},
    example={
        "output": 'The notice says "closed on public holidays", and "open every Sunday".',
        "contexts": ["The library is closed on public holidays and on Sundays."],
    },
)
def code_quoted_spans(output: str, contexts: list[Context], *, min_words: PositiveInt = 3, casefold: bool = True) -> Score[float]:
    """Share of the output's quotations that occur in the passages.

    A quotation stands between paired quotation marks or backticks and has at least `min_words` words; it must occur word for word in one
    passage. Spacing, and with `casefold` case, do not matter; punctuation at its ends neither.
    Use it when answers quote their sources.
    Not when they paraphrase (see `llm_faithfulness`).
    Empty: no quotation: not defined; quotations and no passage: 0.
    """
    spans = quotations(output, min_words)
    if not spans:
        raise UndefinedError(f"the output holds no quotation of at least {min_words} words")
    passages = [passage.text for passage in contexts if passage.text is not None]
    if contexts and not passages:
        raise UndefinedError("the passages have ids and no text")
    missing = [span for span in spans if not quoted_in(span, passages, casefold=casefold)]
    return Score(1 - len(missing) / len(spans), details={"quotations": len(spans), "not_found": missing})


# ---------------------------------------------------------------- tokens


@metric(
    _CORRECTNESS,
    source=_SQUAD,
    aka={
        "outcome.f1_token": same,
        "squad.f1": "glues decimals (2.71 becomes 271); punctuation that is not ASCII stays part of a word",
        "inspect.f1": "rounds to two places",
        "evaluate.squad": "0–100, mean over rows; glues decimals",
        "azure.F1ScoreEvaluator": "glues decimals",
    },
    example=_PARIS,
)
def code_token_f1(output: str, expected: str) -> float:
    """Token overlap of the output with the best reference answer.

    Harmonic mean of precision and recall over SQuAD-normalised tokens, as multisets: 2 · shared / (tokens of both). Scripts written without
    spaces are split per character. Deviations from the SQuAD script: see `code_normalized_match`.
    Use it when short factual answers may be phrased around.
    Not when meaning matters more than wording (see `embed_answer_similarity`), nor where negation or a number decides.
    Empty: one side without tokens is 0, both 1.
    """
    return f1(multiset_overlap(tokens(output), tokens(expected)))


@metric(_CORRECTNESS, source=_SQUAD, aka={"outcome.f1_token": "the harmonic mean of this and `code_token_recall`"}, example=_PARIS)
def code_token_precision(output: str, expected: str) -> float:
    """Share of the output's tokens that the best reference answer has.

    Shared tokens / tokens of the output, normalised as in `code_token_f1`, as multisets.
    Use it when an answer should say nothing beside the reference.
    Not alone: one right word scores 1 (see `code_token_f1`).
    Empty: an output without tokens is 0; neither side with tokens: 1.
    """
    return multiset_overlap(tokens(output), tokens(expected)).precision


@metric(_CORRECTNESS, source=_SQUAD, aka={"outcome.f1_token": "the harmonic mean of this and `code_token_precision`"}, example=_PARIS)
def code_token_recall(output: str, expected: str) -> float:
    """Share of the best reference answer's tokens that the output has.

    Shared tokens / tokens of the reference, normalised as in `code_token_f1`, as multisets.
    Use it when an answer may be longer than the reference.
    Not alone: an output that says everything scores 1 (see `code_token_f1`).
    Empty: an output without tokens is 0; neither side with tokens: 1.
    """
    return multiset_overlap(tokens(output), tokens(expected)).recall


@metric(
    _CORRECTNESS,
    source="Jaccard 1901",
    aka={"reference.word_overlap": "an example plugin of praval, whose formula it does not state; here: Jaccard of distinct words"},
    example=_PARIS,
)
def code_word_overlap(output: str, expected: str) -> float:
    """Distinct words that output and reference share.

    Jaccard: words in both / words in either, without case and punctuation, articles and all. Repeats do not count; symmetric.
    Use it when texts are bags of words: tags, keywords, ingredient lists.
    Not when repeats or lengths matter (see `code_token_f1`), nor order (see `code_rouge_l`).
    Empty: one side without words is 0, both 1.
    """
    return jaccard(words(output), words(expected))


@metric(
    _CORRECTNESS,
    source="Levenshtein 1966",
    aka={
        "autoevals.Levenshtein": "does not compose characters (NFC)",
        "ragas.NonLLMStringSimilarity": "does not compose characters (NFC); also Hamming, Jaro, Jaro–Winkler",
        "openevals.levenshtein_similarity": "compares the JSON text of what it is given",
    },
    example={"output": "colour", "expected": "color"},
)
def code_levenshtein(output: str, expected: str) -> float:
    """How few characters must be edited to make the output the reference.

    1 − edits (insert, delete, replace) / length of the longer text, over composed characters (NFC); nothing else is normalised.
    Use it when small slips should cost little: names, codes, transcripts.
    Not when words may be in another order (see `code_token_f1`). Different texts of more than 10^11 character pairs end in error `timeout`.
    Empty: one side empty is 0, both 1.
    """
    return levenshtein_ratio(output, expected)


# ---------------------------------------------------------------- sacrebleu


def _share(scored: Scored, highest: float = 1.0) -> Score[float]:
    return Score(min(scored.value / 100, highest), details={"score": scored.value, "signature": scored.signature})


@metric(
    _CORRECTNESS,
    corpus=translation.CORPUS_BLEU,
    source="Papineni et al. 2002, BLEU; Post 2018, sacrebleu",
    aka={
        "sacrebleu.BLEU": "0–100, and of the corpus unless a sentence is asked for",
        "evaluate.sacrebleu": "0–100, of the corpus",
        "evaluate.bleu": "of the corpus, own tokeniser, 0 when no 4-gram matches",
        "ragas.BleuScore": "splits texts into sentences and takes them as a corpus, without effective order",
    },
    example=_LONGER,
)
def code_bleu(output: str, expected: list[str]) -> Score[float]:
    """N-gram precision of the output against all references (BLEU).

    sacrebleu's sentence BLEU / 100: geometric mean of 1- to 4-gram precision times the brevity penalty, 13a tokens, exponential smoothing,
    effective order (a text shorter than four words is judged by the n-grams it has). The mean is of sentences; `corpus` is BLEU of all rows.
    Use it when translations are compared with earlier figures.
    Not when a single row must be judged, nor in scripts without spaces (see `code_chrf`). More than 2 million characters end in error `timeout`.
    Empty: an empty output is 0.
    """
    return _share(translation.bleu(output, expected))


@metric(
    _CORRECTNESS,
    corpus=translation.CORPUS_CHRF,
    source="Popović 2015, chrF; Post 2018, sacrebleu",
    aka={
        "sacrebleu.CHRF": "0–100, and of the corpus unless a sentence is asked for",
        "evaluate.chrf": "0–100, of the corpus",
        "ragas.CHRFScore": "takes the texts as a corpus of one; the same but for a reference that is no text, which is 0 there",
    },
    example=_LONGER,
)
def code_chrf(output: str, expected: list[str]) -> Score[float]:
    """Character n-gram overlap of the output with the best reference (chrF2).

    sacrebleu's sentence chrF / 100: F-score of character n-grams up to 6, recall weighted twice, white space left out.
    The mean is of sentences; `corpus` is chrF of all rows.
    Use it when words are inflected or scripts have no spaces.
    Not when a few characters decide, as in numbers (see `code_numeric_match`). More than 2 million characters end in error `timeout`.
    Empty: an empty output is 0.
    """
    return _share(translation.chrf(output, expected))


@metric(
    _CORRECTNESS,
    corpus=translation.CORPUS_TER,
    type="continuous",
    range=(0.0, math.inf),
    direction="lower",
    source="Snover et al. 2006, TER; Post 2018, sacrebleu",
    aka={
        "sacrebleu.TER": "0–100 and beyond, and of the corpus unless a sentence is asked for",
        "evaluate.ter": "0–100 and beyond, of the corpus",
    },
    example=_LONGER,
)
def code_ter(output: str, expected: list[str]) -> Score[float]:
    """Edits that make the output a reference, per reference word (TER).

    sacrebleu's sentence TER / 100: words inserted, deleted, replaced, and phrases moved / mean length of the references, without case.
    0 is a reference itself; an output much longer than the reference is beyond 1. `corpus` is TER of all rows.
    Use it when the work of correcting a translation is what counts.
    Not for long texts: the search for moves is slow, and more than 100 000 word pairs end in error `timeout`.
    Empty: an empty output is 1.
    """
    return _share(translation.ter(output, expected), highest=math.inf)


# ---------------------------------------------------------------- ROUGE


def _rouge_elsewhere(name: str) -> dict[str, str]:
    return {
        f"rouge_score.{name}": "0 for two texts without a–z and 0–9, whatever they say",
        f"evaluate.{name}": "mean over rows; 0 for texts without a–z and 0–9",
        "ragas.RougeScore": "stems English words",
    }


@metric(_CORRECTNESS, source=_ROUGE, aka=_rouge_elsewhere("rouge1"), example=_LONGER)
def code_rouge_1(output: str, expected: str) -> float:
    """Words that output and reference share (ROUGE-1).

    F1 of single words as multisets, without stemming. Where all letters are Latin, words are runs of a–z and 0–9 as in rouge-score (accented
    letters separate); where either text has another letter, both are split as for `code_token_f1` (deviation: rouge-score gives 0).
    Use it when summaries are compared with earlier figures.
    Not when short answers are scored (see `code_token_f1`).
    Empty: one side without words is 0; neither with words: 1 if the texts are equal, else 0.
    """
    return f1(rouge.rouge_n(output, expected, 1))


@metric(_CORRECTNESS, source=_ROUGE, aka=_rouge_elsewhere("rouge2"), example=_LONGER)
def code_rouge_2(output: str, expected: str) -> float:
    """Word pairs that output and reference share (ROUGE-2).

    F1 of pairs of neighbouring words as multisets, without stemming; words as for `code_rouge_1`.
    Use it when the order of words should count a little.
    Not for answers of a word or two.
    Empty: one side without pairs is 0; neither with pairs: 1 if the texts are equal, else 0 (deviation: rouge-score gives 0).
    """
    return f1(rouge.rouge_n(output, expected, 2))


@metric(_CORRECTNESS, source=_ROUGE, aka=_rouge_elsewhere("rougeL"), example=_LONGER)
def code_rouge_l(output: str, expected: str) -> float:
    """Longest common subsequence of output and reference (ROUGE-L).

    F1 of the longest sequence of words that both have in this order, gaps allowed, without stemming; words as for `code_rouge_1`.
    Use it when order matters and wording should be close.
    Not for texts of several sentences in free order (see `code_rouge_lsum`). Different texts of more than 5·10^9 word pairs end in error `timeout`.
    Empty: one side without words is 0; neither with words: 1 if the texts are equal, else 0.
    """
    return f1(rouge.rouge_l(output, expected))


@metric(_CORRECTNESS, source=_ROUGE, aka=_rouge_elsewhere("rougeLsum"), example=_LONGER)
def code_rouge_lsum(output: str, expected: str) -> float:
    """Longest common subsequences, line by line (ROUGE-Lsum).

    For each line of the reference the union of its longest common subsequences with the lines of the output; F1 of the words found.
    Lines are sentences: texts are split on newlines only, without stemming; words as for `code_rouge_1`.
    Use it when summaries have one sentence a line.
    Not for running text, which is one line (then it equals `code_rouge_l`). Different texts of more than 4·10^8 word pairs, or 2 million pairs of an
    output line and a reference word, end in error `timeout`.
    Empty: one side without words is 0; neither with words: 1 if the texts are equal, else 0.
    """
    return f1(rouge.rouge_lsum(output, expected))
