"""Other projects' cases for the text and structure families: each agrees, differs for a stated reason, or is not covered for a stated reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import tomli

from measurand.catalogue import structure, text
from measurand.core.errors import NotJsonError, UndefinedError
from measurand.core.jsontext import JsonTextError, parse_answer
from measurand.core.metric import Score
from measurand.core.record import Context
from measurand.formula import rouge, translation
from measurand.formula.json_values import number_similarity
from measurand.formula.overlap import Overlap, f1

HERE = Path(__file__).parent
FILES = ("agentgate", "autoevals", "google_rouge", "hf_evaluate_examples", "inspect", "inspect_math", "openevals", "ragas", "sacrebleu")
STATED = tomli.loads((HERE / "deviations.toml").read_text(encoding="utf-8"))
DEVIATIONS = STATED["deviation"]
NOT_COVERED = STATED["not_covered"]

Case = Mapping[str, Any]
NOT_DEFINED = "not defined"


def _cases() -> list[Case]:
    lines = (line for name in FILES for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return [json.loads(line) for line in lines]


CASES = _cases()


def _stated(table: Sequence[Mapping[str, Any]], case: Case) -> Mapping[str, Any] | None:
    """The entry of a table that is about this case: by id, or by file and metric and the parameters it names."""
    for entry in table:
        if case["id"] in entry.get("ids", ()):
            return entry
        if "ids" not in entry and case["id"].startswith(f"{entry['file']}/{entry['metric']}/") and _holds(entry.get("params", {}), case["params"]):
            return entry
    return None


def _holds(wanted: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    return all(key in params and (value == "*" or params[key] == value) for key, value in wanted.items())


# ---------------------------------------------------------------- their cases in our words


def _value(scored: Any) -> float:
    value: Any = scored.value if isinstance(scored, Score) else scored
    return float(value)


def _best(metric: Callable[[str, str], Any], output: Any, references: Sequence[Any]) -> float | str:
    try:
        return max(_value(metric(str(output), str(reference))) for reference in references)
    except UndefinedError:
        return NOT_DEFINED


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


def _rouge(kind: str, output: str, reference: str) -> Overlap:
    if kind in ("rouge1", "rouge2"):
        return rouge.rouge_n(output, reference, int(kind[-1]))
    return rouge.rouge_l(output, reference) if kind == "rougeL" else rouge.rouge_lsum(output, reference)


def _of_overlap(overlap: Overlap) -> dict[str, float]:
    return {"precision": overlap.precision, "recall": overlap.recall, "fmeasure": f1(overlap)}


def _google_rouge(case: Case) -> Any:
    return _of_overlap(_rouge(case["metric"], case["input"]["prediction"], case["input"]["target"]))


def _corpus(fold: translation.CorpusScore, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float | None:
    state = fold.zero()
    for output, accepted in zip(outputs, references, strict=True):
        state = fold.add(state, output, accepted)
    return fold.value(state)


def _sacrebleu(case: Case) -> Any:
    outputs, references = case["input"]["args"][:2]
    if case["metric"] in ("BLEU.sentence_score", "sentence_bleu"):
        return 100 * _value(text.code_bleu(outputs, references))
    if case["metric"] in ("CHRF.sentence_score", "sentence_chrf"):
        return 100 * _value(text.code_chrf(outputs, references))
    if case["metric"] in ("TER.sentence_score", "sentence_ter"):
        return 100 * _value(text.code_ter(outputs, references))
    fold = translation.CORPUS_TER if "TER" in case["metric"] or "ter" in case["metric"] else translation.CORPUS_CHRF
    if "bleu" in case["metric"].lower():
        fold = translation.CORPUS_BLEU
    value = _corpus(fold, outputs, list(zip(*references, strict=True)))
    return None if value is None else 100 * value


def _autoevals(case: Case) -> Any:
    output, expected = case["input"]["output"], case["input"].get("expected")
    match case["metric"]:
        case "levenshtein_ratio":
            return text.code_levenshtein(output, expected)
        case "numeric_diff":
            return number_similarity(output, expected)
        case "exact_match" if isinstance(output, str) and isinstance(expected, str):
            return text.code_exact_match(output, expected)
        case "exact_match":
            return structure.code_json_match(_json_or_text(output), _json_or_text(expected))
        case "json_diff":
            return structure.code_json_similarity(_json_or_text(output), _json_or_text(expected))
        case "valid_json" if "schema" in case["params"]:
            return _value(structure.code_json_schema(_json(output), case["params"]["schema"]))
        case "valid_json":
            return structure.code_json_valid(_json(output))
    raise KeyError(case["metric"])


def _openevals(case: Case) -> Any:
    output, expected = case["input"]["outputs"], case["input"]["reference_outputs"]
    match case["metric"]:
        case "exact_match":
            return structure.code_json_match(output, expected)
        case "levenshtein_similarity":
            return text.code_levenshtein(json.dumps(output), json.dumps(expected))
        case "json_match" if case["params"].get("aggregator") == "all":
            return structure.code_json_match(output, expected)
        case "json_match":
            return structure.code_json_similarity(output, expected)
    raise KeyError(case["metric"])


def _inspect(case: Case) -> Any:
    kind, arguments = case["metric"], case["params"].get("args", [])
    metrics: Mapping[str, Callable[[str, str], Any]] = {
        "scorer.match": text.code_numeric_match,
        "scorer.math": text.code_numeric_match,
        "scorer.exact": text.code_normalized_match,
        "scorer.f1": text.code_token_f1,
        "scorer.includes": text.code_contains,
        "scorer.answer": text.code_choice_match if arguments == ["letter"] else text.code_exact_match,
    }
    metric = metrics[kind]
    target = case["input"]["target"]
    return _best(metric, case["input"]["output"], target if isinstance(target, list) else [target])


def _hf(case: Case) -> Any:
    outputs, references = case["input"]["predictions"], case["input"]["references"]
    match case["metric"]:
        case "squad":
            pairs = [(one["prediction_text"], other["answers"]["text"]) for one, other in zip(outputs, references, strict=True)]
            return {
                "exact_match": 100 * fmean(float(_best(text.code_normalized_match, *pair)) for pair in pairs),
                "f1": 100 * fmean(float(_best(text.code_token_f1, *pair)) for pair in pairs),
            }
        case "exact_match":
            return fmean(map(text.code_exact_match, outputs, references))
        case "rouge":
            kinds = ("rouge1", "rouge2", "rougeL", "rougeLsum")
            return {kind: fmean(f1(_rouge(kind, one, other)) for one, other in zip(outputs, references, strict=True)) for kind in kinds}
        case "bleu":
            return _corpus(translation.CORPUS_BLEU, outputs, references)
    raise KeyError(case["metric"])


def _ragas(case: Case) -> Any:
    output = case["input"]["response"]
    if case["metric"] == "QuotedSpansAlignment":
        passages = [Context(passage) for passage in case["input"]["retrieved_contexts"]]
        try:
            return _value(text.code_quoted_spans(str(output), passages, min_words=case["params"]["min_span_words"], casefold=case["params"]["casefold"]))
        except UndefinedError:
            return NOT_DEFINED
    reference = str(case["input"]["reference"])
    match case["metric"]:
        case "RougeScore":
            return _of_overlap(_rouge(case["params"]["rouge_type"], output, reference))[case["params"]["mode"]]
        case "BleuScore":
            return _value(text.code_bleu(output, [reference]))
        case "CHRFScore":
            return _value(text.code_chrf(output, [reference]))
        case "NonLLMStringSimilarity":
            return text.code_levenshtein(output, reference)
        case "ExactMatch":
            return text.code_exact_match(output, reference)
        case "StringPresence":
            return _best(text.code_contains, output, [reference])
    raise KeyError(case["metric"])


def _agentgate(case: Case) -> Any:
    reference, output = case["input"]["task"]["reference"], case["input"]["trajectory"]["answer"]
    accepted = [answer for answer in (reference.get("answer"), *reference.get("accepted_answers", ())) if answer]
    match case["metric"]:
        case "outcome.exact_match":
            return _best(text.code_normalized_match, output, accepted) if accepted else NOT_DEFINED
        case "outcome.f1_token":
            return _best(text.code_token_f1, output, accepted) if accepted else NOT_DEFINED
        case "outcome.numeric_accuracy":
            wanted = reference.get("numeric_answer", reference.get("answer"))
            tolerance = reference.get("numeric_tolerance", 0.0)
            return _best(lambda a, b: text.code_numeric_match(a, b, abs_tolerance=tolerance), output, [wanted])
        case "outcome.json_valid":
            return structure.code_json_valid(_json(output))
        case "outcome.schema_compliant":
            return _value(structure.code_json_schema(_json(output), reference["output_schema"]))
    raise KeyError(case["metric"])


ADAPTERS: Mapping[str, Callable[[Case], Any]] = {
    "agentgate": _agentgate,
    "autoevals": _autoevals,
    "google_rouge": _google_rouge,
    "hf_evaluate_examples": _hf,
    "inspect": _inspect,
    "inspect_math": _inspect,
    "openevals": _openevals,
    "ragas": _ragas,
    "sacrebleu": _sacrebleu,
}


def _expected(case: Case) -> Any:
    """What the other project says, as one number or several by name."""
    expected = case["expected"]
    if expected is None:
        return NOT_DEFINED
    if case["id"].startswith("inspect"):
        return {"C": 1.0, "I": 0.0, "N": 0.0}.get(expected, expected)
    if case["id"].startswith("openevals/json_match"):
        return fmean(one["score"] for one in expected)
    if case["id"].startswith("hf_"):
        return json.loads(expected[0]["printed"].replace("'", '"'))
    return expected


def _tolerance(case: Case) -> float:
    """Theirs, and half a unit of the last of two places where they round to two."""
    return max(float(case.get("tolerance", 1e-6)), 0.005 if case["metric"] == "scorer.f1" or case["id"].startswith("hf_") else 0.0)


def _agrees(ours: Any, theirs: Any, tolerance: float) -> bool:
    if isinstance(theirs, Mapping):
        return all(_agrees(ours[key], value, tolerance) for key, value in theirs.items())
    if isinstance(ours, str) or isinstance(theirs, str) or ours is None:
        return bool(ours == theirs)
    return bool(abs(ours - theirs) <= tolerance)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_peer_s_case_agrees_or_differs_as_stated(case: Case) -> None:
    if _stated(NOT_COVERED, case):
        return
    ours, theirs = ADAPTERS[case["id"].split("/")[0]](case), _expected(case)
    agrees = _agrees(ours, theirs, _tolerance(case))
    deviation = _stated(DEVIATIONS, case)
    if deviation is None:
        assert agrees, f"ours {ours}, theirs {theirs}"
    else:
        assert not agrees, f"stated as a deviation, and agrees: {ours}"


@pytest.mark.parametrize("entry", [*DEVIATIONS, *NOT_COVERED], ids=lambda entry: entry["why"][:60])
def test_each_statement_is_about_some_case_and_gives_a_reason(entry: Mapping[str, Any]) -> None:
    assert len(entry["why"]) > 20
    assert any(_stated([entry], case) for case in CASES)
    assert {"ids"} <= set(entry) or {"file", "metric"} <= set(entry)


def _unknown_ids() -> Iterator[str]:
    known = {case["id"] for case in CASES}
    for entry in (*DEVIATIONS, *NOT_COVERED):
        yield from (one for one in entry.get("ids", ()) if one not in known)


def test_each_stated_id_exists() -> None:
    assert list(_unknown_ids()) == []
