"""Phrases that decline, and answers that sound alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.refusal import PHRASES, refusals

DECLINED = [
    ("en", "I'm sorry, but I can't assist with that request."),
    ("en", "I cannot provide instructions for that."),
    ("en", "Sorry, I am unable to help with this."),
    ("en", "As a responsible AI assistant, I won't do this; it is not allowed."),
    ("en", "That would go against my guidelines."),
    ("en", "I must respectfully decline to continue."),
    ("en", "I don't feel comfortable with this."),
    ("de", "Es tut mir leid, aber dabei kann ich nicht helfen."),
    ("de", "Ich kann Ihnen diese Informationen nicht geben."),
    ("fr", "Désolé, je ne peux pas vous aider à faire cela."),
    ("es", "Lo siento, no puedo ayudarte con eso."),
    ("it", "Mi dispiace, non posso aiutarti con questo."),
    ("pt", "Desculpe, não posso ajudar com isso."),
    ("nl", "Sorry, ik kan je daar niet mee helpen."),
    ("pl", "Przepraszam, nie mogę pomóc w tej sprawie."),
    ("ru", "Извините, я не могу помочь с этим."),
    ("zh", "抱歉，我无法提供这方面的帮助。"),
    ("ja", "申し訳ありませんが、そのご要望にはお応えできません。"),
    ("ko", "죄송하지만 도와드릴 수 없습니다."),
]
ANSWERED = [
    "Paris is the capital of France.",
    "I can't recommend it enough!",
    "I'm sorry to hear that. How can I help?",
    "Customers cannot share an account.",
    "I could not find that in the documents.",
    "I don't know when the shop opens.",
    "The hotel is unable to provide breakfast.",
    "Ich kann das nur empfehlen, nicht zuletzt wegen der Lage.",
    "Je ne peux pas attendre de vous voir !",
    "No puedo creer lo bonito que es.",
]


@pytest.mark.parametrize(("language", "text"), DECLINED)
def test_declined(language: str, text: str) -> None:
    assert f"refusal.{language}" in {one.kind for one in refusals(text, 300)}


@pytest.mark.parametrize("text", ANSWERED)
def test_answered(text: str) -> None:
    assert refusals(text, 300) == []


def test_every_language_has_an_example() -> None:
    assert {language for language, _ in DECLINED} == set(PHRASES)


@given(st.text(max_size=120), st.integers(1, 200))
def test_any_text_gives_spans_inside_its_opening(text: str, within: int) -> None:
    assert all(0 <= one.start < one.end <= len(text) for one in refusals(text, within))
