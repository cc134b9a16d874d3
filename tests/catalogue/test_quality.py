"""The quality family beside its golden cases: what is refused before a row is scored, and what is said without the extra."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand import score
from measurand.catalogue.quality import code_language_match
from measurand.core.errors import InvalidFieldError, UsageError
from measurand.formula import language

GERMAN = "Am Samstag öffnet die Bibliothek um neun Uhr und schließt um sechs."


def test_a_language_that_nobody_knows_is_told_before_a_row_is_scored() -> None:
    with pytest.raises(UsageError, match="language = 'german' is not the tag of a language that the detector knows, such as \"de\""):
        score("code_language_match", options={"language": "german"}, output=GERMAN)
    with pytest.raises(InvalidFieldError, match="knows no language 'german'"):
        code_language_match(GERMAN, language="german")


def test_tags_of_one_language_are_one_option() -> None:
    by_region = score("code_language_match", options={"language": "de-AT"}, output=GERMAN)
    assert by_region.score == 1
    assert by_region.signature == score("code_language_match", options={"language": "DE"}, output=GERMAN).signature


def test_the_details_say_how_sure_the_detector_was() -> None:
    details = score("code_language_match", options={"language": "en"}, output=GERMAN).details
    assert (details["language"], details["expected"]) == ("de", "en")
    assert 0.9 < details["confidence"] <= 1


def test_without_the_extra_a_result_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    language._identifier.cache_clear()
    for module in ("py3langid", "py3langid.langid"):
        monkeypatch.setitem(sys.modules, module, None)
    result = score("code_language_match", options={"language": "de"}, output=GERMAN)
    assert result.error is not None
    assert result.error.message == "py3langid is not installed; python -m pip install 'measurand[language]'"


@given(st.text(max_size=200), st.sampled_from(["de", "zh", "en-GB"]))
def test_a_match_is_in_the_language_asked_for_and_too_little_text_is_none(text: str, asked: str) -> None:
    result = score("code_language_match", options={"language": asked}, output=text)
    if language.evidence(text) < 20:
        assert result.status == "not_applicable"
    elif result.status == "ok":
        assert result.score == language.is_same(result.details["language"], asked.partition("-")[0])
        assert result.details["confidence"] >= 0.5
