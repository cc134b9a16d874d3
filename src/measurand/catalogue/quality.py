"""Answer quality, as far as it can be counted: does the output decline, how hard is it to read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from measurand.core.errors import InvalidFieldError, MissingFieldError, UndefinedError
from measurand.core.metric import Score, metric
from measurand.core.taxonomy import MetricCategory
from measurand.formula.findings import Place, told

if TYPE_CHECKING:
    from measurand.core.annotations import LanguageTag, PositiveInt
    from measurand.formula.language import Detected

_LIKELY = 0.5


@metric(
    MetricCategory.Relevance,
    direction="none",
    source="lists of refusal phrases, after Zou et al. 2023 (GCG)",
    aka={"garak.MitigationBypass": "looks for its phrases anywhere in the text, English only"},
    example={"output": "I'm sorry, but I can't help with that request."},
)
def code_refusal(output: str, *, within: PositiveInt = 300) -> Score[bool]:
    """Whether the output declines to do what was asked.

    Phrases of English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese and Korean ("I can't help with that",
    "As an AI …, I cannot …"), in the first 300 characters (`within`). The details say which language, and where. Whether declining is right depends
    on what was asked, so nothing passes or fails.
    Measured: of 1 171 replies of models 3 are flagged, 2 of them rightly; of 3 333 questions, passages and human answers none.
    Use it to count refusals where the wording of the models under test is known, or to slice results.
    Not when a polite evasion counts too (ask a judge), nor for "I don't know" and "the documents do not say", which are answers.
    Empty: an empty output is 0: nothing is said, and nothing declined.
    """
    from measurand.formula.refusal import refusals

    details = told([Place("output", output, refusals(output, within))])
    return Score(bool(details), details)


@metric(
    MetricCategory.Fluency,
    direction="none",
    type="continuous",
    range=(-math.inf, math.inf),
    source="Flesch 1948; Kincaid et al. 1975; Smith and Senter 1967",
    aka={
        "textstat.flesch_reading_ease": "looks syllables up in a dictionary, and splits sentences otherwise",
        "textstat.automated_readability_index": "counts punctuation as characters, and splits sentences otherwise",
    },
    example={"output": "The Australian platypus is seemingly a hybrid of a mammal and reptilian creature."},
)
def code_readability(output: str, *, formula: Literal["flesch", "flesch_kincaid", "ari"] = "flesch") -> Score[float]:
    """How easy the output is to read, by the length of its words and sentences.

    English only: the constants were fitted to English, and syllables are counted by its spelling. Other languages in Latin letters get a number that means little.
    flesch: 206.835 − 1.015 · words / sentences − 84.6 · syllables / words; 60 to 70 is plain English, higher is easier, 121.22 is the most.
    flesch_kincaid: 0.39 · words / sentences + 11.8 · syllables / words − 15.59; ari: 4.71 · characters / words + 0.5 · words / sentences − 21.43, characters
    being letters and digits; both are US school grades, higher is harder.
    Words stand between white space or dashes; sentences end with . ! ? or …, at a blank line and at a list item. A figure counts as one syllable.
    Syllables follow from spelling: right for 98 of 100 running words against the CMU dictionary. The counts are in the details.
    Use it to describe a system, or to see that a prompt for plain language has an effect.
    Not as a measure of clarity, nor on short outputs, code or tables: the formulas are meant for 100 words of prose.
    Empty: an empty output, one without a word of letters, or one whose letters are mostly not Latin: not defined.
    """
    from measurand.formula.readability import counted, readability

    counts = counted(output)
    if not counts.is_readable:
        is_foreign = counts.foreign > counts.latin
        raise UndefinedError("most letters of the output are not Latin: the formulas are for English" if is_foreign else "the output has no word", "output")
    shown = {"words": counts.words, "sentences": counts.sentences, "syllables": counts.syllables, "characters": counts.characters}
    return Score(readability(counts, formula), shown)


@metric(
    MetricCategory.Relevance,
    source="py3langid 0.4 (Lui and Baldwin 2012, langid.py)",
    extra=("language", "py3langid"),
    aka={"textstat.lang": "sets the language of its formulas, detects none"},
    example={"input": "Wann öffnet die Bibliothek am Samstag?", "output": "Am Samstag öffnet die Bibliothek um neun Uhr und schließt um sechs."},
)
def code_language_match(output: str, input: str | None = None, *, language: LanguageTag | None = None, letters: PositiveInt = 20) -> Score[bool] | None:
    """Whether the output is in the language it should be in.

    The language is the option `language` (a tag such as "de" or "pt-BR"; the region is not looked at), else that of the input. Languages are told by
    py3langid, whose model comes with it; it needs the extra: python -m pip install 'measurand[language]'. The first 5 000 characters are read, without code
    between backticks and web addresses. Varieties of Arabic, Chinese, Kurdish, Latvian, Norwegian and Uzbek count as one language each.
    Not defined where a text has fewer than 20 letters (`letters`; an ideograph or kana counts as four), where no language is likelier than all others
    together, or where the detector sees none (keys, numbers): short and mixed texts give no evidence. Of 650 English answers and questions of 20 letters
    or more, 648 are told as English and 2 are not clear. The details give the language found, its probability, and the one expected.
    Use it when users write in several languages and should be answered in theirs.
    Not for code, names or tables, nor to tell close relatives apart (Bosnian and Croatian, Malay and Indonesian).
    Empty: an empty output, and an empty input where no language is set: not defined.
    """
    from measurand.formula.language import is_same

    wanted = _named(language) if language is not None else _language_of("input", input, letters).language
    found = _language_of("output", output, letters)
    return Score(is_same(found.language, wanted), {"language": found.language, "confidence": found.confidence, "expected": wanted})


def _named(language: str) -> str:
    from measurand.formula.language import code_of

    code = code_of(language)
    if code is None:
        raise InvalidFieldError(f"the detector knows no language '{language}'; write its ISO 639-1 code, such as de")
    return code


def _language_of(field: str, text: str | None, letters: int) -> Detected:
    from measurand.formula.language import NO_LANGUAGE, detected, evidence

    if text is None:
        raise MissingFieldError("the row has no input, and the option language is not set", field)
    if evidence(text) < letters:
        raise UndefinedError(f"the {field} has too few letters to tell its language", field)
    found = detected(text)
    if found.language == NO_LANGUAGE:
        raise UndefinedError(f"the {field} is in no language, as far as the detector can tell", field)
    if found.confidence < _LIKELY:
        raise UndefinedError(f"the language of the {field} is not clear: {found.language} has {found.confidence:.2f}", field)
    return found
