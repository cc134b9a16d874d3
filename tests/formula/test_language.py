from __future__ import annotations

import pytest

from measurand.core.errors import InvalidFieldError
from measurand.formula.language import LANGUAGES, detected, evidence, known_to_the_detector, spelled

SENTENCES = {
    "de": "Am Samstag öffnet die Bibliothek um neun Uhr und schließt um sechs.",
    "en": "On Saturday the library opens at nine o'clock and it closes at six in the evening.",
    "fr": "Le samedi, la bibliothèque ouvre à neuf heures et ferme à dix-huit heures.",
    "ru": "В субботу библиотека открывается в девять часов и закрывается в шесть.",
    "ja": "土曜日に図書館は九時に開き、六時に閉まります。",
    "ar": "تفتح المكتبة يوم السبت في الساعة التاسعة وتغلق في السادسة.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_told(language: str) -> None:
    found = detected(SENTENCES[language])
    assert found.language == language
    assert 0.5 < found.confidence <= 1.0


def test_the_list_is_what_the_detector_knows() -> None:
    assert known_to_the_detector() == LANGUAGES


def test_letters_are_the_evidence_and_an_ideograph_counts_as_four() -> None:
    assert evidence("ab 12, c!") == 3
    assert evidence("図書館") == 12
    assert evidence("") == 0


def test_a_code_is_read_with_its_region_and_an_unknown_one_is_refused() -> None:
    assert (spelled("de-AT"), spelled(" EN ")) == ("de", "en")
    with pytest.raises(InvalidFieldError, match="language 'klingon' is not known to the detector, which knows ace, af"):
        spelled("klingon")
