"""Text and structure: google_rouge, sacrebleu, autoevals, openevals, and their part of hf, inspect and ragas."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from measurand.catalogue import structure, text
from measurand.core.errors import NotJsonError
from measurand.core.jsontext import JsonTextError, parse_answer
from measurand.formula import rouge, translation
from measurand.formula.json_values import number_similarity
from measurand.formula.overlap import Overlap, f1

from ..figures import NOT_DEFINED, Figure, NotOursError, bare, of, only  # noqa: TID252  # tests are imported by path, there is no package to name

Input = Mapping[str, Any]
ROUGES = {"rouge1": "code_rouge_1", "rouge2": "code_rouge_2", "rougeL": "code_rouge_l", "rougeLsum": "code_rouge_lsum"}


def google_rouge(metric: str, params: Input, given: Input) -> Any:
    overlap = _rouge(metric, given["prediction"], given["target"])
    return {part: Figure(value, ROUGES[metric]) for part, value in _parts(overlap).items()}


def _rouge(kind: str, output: str, reference: str) -> Overlap:
    if kind in ("rouge1", "rouge2"):
        return rouge.rouge_n(output, reference, int(kind[-1]))
    return rouge.rouge_l(output, reference) if kind == "rougeL" else rouge.rouge_lsum(output, reference)


def _parts(overlap: Overlap) -> dict[str, float]:
    return {"precision": overlap.precision, "recall": overlap.recall, "fmeasure": f1(overlap)}


# ---------------------------------------------------------------- sacrebleu

_SACREBLEU_DEFAULTS: Mapping[str, Sequence[Any]] = {
    "tokenize": ("13a", "Tokenizer13a", "TercomTokenizer"),
    "smooth_method": ("exp",),
    "smooth_value": (None,),
    "lowercase": (False,),
    "effective_order": (True,),
    "max_ngram_order": (4,),
    "char_order": (6,),
    "word_order": (0,),
    "beta": (2,),
    "eps_smoothing": (False,),
    "remove_whitespace": (True,),
}


def sacrebleu(metric: str, params: Input, given: Input) -> Figure:
    if metric == "raw_corpus_bleu":
        raise NotOursError(metric)
    for name, value in params.items():
        if value not in _SACREBLEU_DEFAULTS.get(name, ()):
            raise NotOursError(name)
    outputs, references = given["args"][:2]
    kind = next(one for one in ("bleu", "chrf", "ter") if one in metric.lower())
    if "sentence" in metric:
        return of(f"code_{kind}", output=outputs, expected=references).to(_percent)
    fold = {"bleu": translation.CORPUS_BLEU, "chrf": translation.CORPUS_CHRF, "ter": translation.CORPUS_TER}[kind]
    return _corpus(f"code_{kind}", fold, outputs, list(zip(*references, strict=True))).to(_percent)


def _percent(value: float) -> float:
    return 100 * value


def _corpus(name: str, fold: translation.CorpusScore, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Figure:
    state = fold.zero()
    for output, accepted in zip(outputs, references, strict=True):
        state = fold.add(state, output, accepted)
    value = fold.value(state)
    return Figure(NOT_DEFINED if value is None else value, f"{name} (corpus)")


# ---------------------------------------------------------------- JSON


def _json(output: Any) -> Any:
    """As a record's output is read for a metric of structure."""
    if not isinstance(output, str):
        return output
    try:
        return parse_answer(output)
    except JsonTextError as error:
        return NotJsonError(str(error), "output")


def _json_or_text(value: Any) -> Any:
    """JSON where a text is a JSON list or object, else the text as a JSON value."""
    found = _json(value)
    return found if isinstance(found, (dict, list)) else value


def autoevals(metric: str, params: Input, given: Input) -> Figure:
    output: Any = given["output"]
    expected: Any = given.get("expected")
    match metric:
        case "levenshtein_ratio":
            return bare(text.code_levenshtein, output, expected)
        case "numeric_diff":
            return Figure(number_similarity(output, expected), "code_json_similarity")
        case "exact_match" if isinstance(output, str) and isinstance(expected, str):
            return bare(text.code_exact_match, output, expected)
        case "exact_match":
            return bare(structure.code_json_match, _json_or_text(output), _json_or_text(expected))
        case "json_diff":
            return bare(structure.code_json_similarity, _json_or_text(output), _json_or_text(expected))
        case "valid_json" if "schema" in params:
            return bare(structure.code_json_schema, _json(output), params["schema"])
        case "valid_json":
            return bare(structure.code_json_valid, _json(output))
    raise NotOursError(metric)


def openevals(metric: str, params: Input, given: Input) -> Figure:
    output, expected = given["outputs"], given["reference_outputs"]
    match metric:
        case "exact_match":
            return bare(structure.code_json_match, output, expected)
        case "levenshtein_similarity":
            return bare(text.code_levenshtein, json.dumps(output), json.dumps(expected))
        case "json_match":
            only(params, "aggregator")
            return bare(structure.code_json_match if params.get("aggregator") == "all" else structure.code_json_similarity, output, expected)
    raise NotOursError(metric)


# ---------------------------------------------------------------- questions and answers


def inspect_scorer(metric: str, params: Input, given: Input) -> Figure:
    kind, arguments = metric.removeprefix("scorer."), params.get("args", [])
    names = {
        "match": "code_numeric_match",
        "math": "code_numeric_match",
        "exact": "code_normalized_match",
        "f1": "code_token_f1",
        "includes": "code_contains",
        "answer": "code_choice_match" if arguments == ["letter"] else "",
    }
    if not names.get(kind):
        raise NotOursError(" ".join([kind, *(arguments if kind == "answer" else ())]))
    found = of(names[kind], output=given["output"], expected=given["target"])
    if kind == "math" and found.value == NOT_DEFINED:
        raise NotOursError("expressions")
    return found


def hf_text(metric: str, params: Input, given: Input) -> Any:
    outputs, references = given["predictions"], given["references"]
    match metric:
        case "squad":
            pairs = [(one["prediction_text"], other["answers"]["text"]) for one, other in zip(outputs, references, strict=True)]
            return {"exact_match": _mean("code_normalized_match", pairs).to(_percent), "f1": _mean("code_token_f1", pairs).to(_percent)}
        case "exact_match" if not params:
            return {"exact_match": _mean("code_exact_match", list(zip(outputs, references, strict=True)))}
        case "accuracy" if not params:
            return {"accuracy": _mean("code_exact_match", [(str(one), str(other)) for one, other in zip(outputs, references, strict=True)])}
        case "rouge":
            return {kind: _mean(name, list(zip(outputs, references, strict=True))) for kind, name in ROUGES.items()}
        case "bleu":
            return {"bleu": _corpus("code_bleu", translation.CORPUS_BLEU, outputs, references)}
    raise NotOursError(f"{metric}({next(iter(params))})" if metric == "exact_match" else metric)


def _mean(name: str, pairs: Sequence[tuple[str, Any]]) -> Figure:
    return Figure(fmean(float(of(name, output=output, expected=expected).value) for output, expected in pairs), name)


def ragas_text(metric: str, params: Input, given: Input) -> Figure:
    output = given["response"]
    if metric == "QuotedSpansAlignment":
        options = {"min_words": params["min_span_words"], "casefold": params["casefold"]}
        return of("code_quoted_spans", options, output=str(output), contexts=given["retrieved_contexts"])
    reference = str(given["reference"])
    named: Mapping[str, Callable[[], Figure]] = {
        "RougeScore": lambda: Figure(_parts(_rouge(params["rouge_type"], output, reference))[params["mode"]], ROUGES[params["rouge_type"]]),
        "BleuScore": lambda: bare(text.code_bleu, output, [reference]),
        "CHRFScore": lambda: bare(text.code_chrf, output, [reference]),
        "NonLLMStringSimilarity": lambda: bare(text.code_levenshtein, output, reference),
        "ExactMatch": lambda: bare(text.code_exact_match, output, reference),
        "StringPresence": lambda: bare(text.code_contains, output, reference),
    }
    if params.get("distance_measure", "levenshtein") != "levenshtein" or metric not in named:
        raise NotOursError(params.get("distance_measure", metric))
    return named[metric]()
