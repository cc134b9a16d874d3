from __future__ import annotations

import pytest

from measurand.formula.language import LANGUAGES, READ, code_of, detected, evidence, is_same, known_to_the_detector, prose

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


@pytest.mark.parametrize(
    ("tag", "code"), [("de-AT", "de"), (" EN ", "en"), ("pt_BR", "pt"), ("nb", "no"), ("zh-Hant-TW", "zh"), ("klingon", None), ("german", None), ("", None)]
)
def test_a_tag_is_read_by_its_language(tag: str, code: str | None) -> None:
    assert code_of(tag) == code


def test_varieties_of_one_language_count_as_one() -> None:
    assert is_same("yue", "zh")
    assert is_same("nn", "no")
    assert not is_same("no", "da")
    assert not is_same("ms", "id")


def test_code_and_addresses_are_not_read() -> None:
    text = "Hier ist es:\n```python\nprint('the answer')\n```\nund `the_name` steht auf https://example.com/the/page dort. ```the rest is open"
    assert prose(text).split() == ["Hier", "ist", "es:", "und", "steht", "auf", "dort."]
    lines = "return the first value of the list\n" * 20
    assert detected(f"So geht es, wenn die Datei schon da ist:\n```\n{lines}```").language == "de"
    assert detected(f"So geht es, wenn die Datei schon da ist:\n{lines}").language == "en"


def test_only_the_beginning_of_a_text_is_read() -> None:
    assert len(prose("word " * 100_000)) == READ
    assert detected(SENTENCES["de"] * 100 + SENTENCES["en"] * 100_000).language == "de"
