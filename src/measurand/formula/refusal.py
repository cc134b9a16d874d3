"""Phrases with which an assistant declines, in several languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from measurand.formula.findings import Finding
from measurand.formula.visible import visible

_NEAR = r"[^.!?\n]{0,80}"
_CANNOT = (
    r"(?:can't|cannot|can not|couldn't|could not|won't|will not|(?:am|'m|are|'re) (?:unable|not able|not allowed|not permitted|not going) to|"
    r"(?:must|have to|need to|will have to|'ll have to) (?:respectfully )?(?:decline|refuse)(?: to)?|refuse to|decline to|"
    r"(?:am|'m) not (?:comfortable|willing) (?:with |to )?)"
)
_DO = (
    r"(?:help|assist|provid\w*|fulfil\w*|comply|support|creat\w*|generat\w*|writ\w*|produc\w*|engag\w*|participat\w*|discuss|shar\w*|offer|do (?:that|this|so)|continue|"
    r"condon\w*|promot\w*|encourag\w*|facilitat\w*|accommodate|endors\w*|advise|give (?:you )?(?:advice|instructions|guidance)|tell you how|"
    r"answer (?:that|this|your|such)|respond to (?:that|this|your|such)|be (?:a )?part of|go along)"
)
PHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        rf"\bi ?(?:really |simply |just )?{_CANNOT} (?:\w+ly |in good conscience )?{_DO}",
        rf"\bsorry,?{_NEAR}\b(?:can't|cannot|can not|unable to|not able to|won't) (?:\w+ly )?(?:{_DO}|do (?:that|this)|answer that)",
        rf"\b(?:as|i'm|i am)(?: just| only)? an? (?:\w+ ){{0,3}}?(?:ai|language model|assistant|chatbot)\b{_NEAR}\b(?:can't|cannot|can not|unable|not able|not allowed|not permitted|won't|must not|not appropriate)\b",
        (
            rf"\b(?:i|we|it|that|this|which|request){_NEAR}\b(?:against|violat\w+) (?:my|our|openai's|the|anthropic's|google's) (?:\w+ ){{0,3}}?"
            r"(?:guidelines?|polic(?:y|ies)|principles|programming|terms|rules)"
        ),
        r"\b(?:i|we) (?:don't|do not) (?:feel comfortable|think it(?:'s| is| would be) (?:appropriate|right))",
        r"\b(?:it(?:'s| is| would be)|it is) not (?:appropriate|ethical|acceptable) (?:for me |or \w+ )?to\b",
        r"^\W{0,3}(?:request (?:denied|declined)|i must decline|i decline|i refuse)\b",
    ),
    "de": (
        (
            rf"\b(?:ich|wir|da(?:bei|mit|zu)?) (?:ich )?(?:kann|können|darf|dürfen|werde|möchte)\b{_NEAR}\bnicht\b{_NEAR}"
            r"(?:helfen|weiterhelfen|unterstützen|beantworten|bereitstellen|erfüllen|nachkommen|schreiben|erstellen|geben|liefern|dienen|mitwirken|behilflich)"
        ),
        rf"\btut mir (?:sehr )?leid\b{_NEAR}\b(?:kann|darf|werde)\b{_NEAR}\bnicht\b{_NEAR}(?:helfen|weiterhelfen|unterstützen|erfüllen|nachkommen|schreiben|geben|dienen|machen|tun)",
        rf"\bals (?:ki|künstliche intelligenz|sprachmodell|assistent)\w*\b{_NEAR}\b(?:kann|darf)\b{_NEAR}\bnicht\b",
    ),
    "fr": (
        (
            r"\bje ne (?:peux|puis|suis) (?:malheureusement )?pas (?:en mesure de |autorisée? à )?(?:vous |t'|y |te |l')?"
            r"(?:aider|assister|répondre à (?:cette|votre|ta)|fournir|créer|générer|écrire|accéder à (?:cette|votre)|satisfaire|participer|accompagner|donner)"
        ),
        rf"\bdésolée?\b{_NEAR}\bje ne (?:peux|puis) pas (?:vous |t')?(?:aider|répondre|fournir|faire|donner|créer|écrire)",
        rf"\ben tant qu(?:e|')\s?(?:ia|intelligence artificielle|modèle de langage|assistant)\b{_NEAR}\bne (?:peux|puis|suis) pas\b",
    ),
    "es": (
        r"\bno (?:puedo|podemos) (?:ayudar\w*|proporcionar\w*|cumplir|responder a (?:esa|esta|su|tu)|hacer (?:eso|esto)|crear|generar|escribir|ofrecer\w*|asistir\w*|dar(?:te|le)|participar|facilitar\w*)",
        rf"\blo siento\b{_NEAR}\bno puedo (?:ayudar\w*|hacer|responder|proporcionar\w*|dar\w*|cumplir)",
        rf"\bcomo (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje|asistente)\b{_NEAR}\bno (?:puedo|debo)\b",
    ),
    "it": (
        r"\bnon (?:posso|possiamo|sono in grado di) (?:aiutar\w*|fornir\w*|rispondere a (?:questa|tale)|creare|generare|scrivere|assister\w*|soddisfare|dar(?:ti|le)|farlo|partecipare)",
        rf"\bmi dispiace\b{_NEAR}\bnon posso (?:aiutar\w*|farlo|fornir\w*|rispondere|dar\w*)",
    ),
    "pt": (
        r"\bnão (?:posso|podemos|consigo) (?:ajud\w+(?:-\w+)?|fornecer|cumprir|responder a (?:essa|esta)|criar|gerar|escrever|atender|participar|fazer isso|dar)",
        rf"\b(?:desculp\w+|sinto muito|lamento)\b{_NEAR}\bnão posso (?:ajud\w+|fornecer|fazer|responder|atender)",
    ),
    "nl": (
        rf"\bik kan (?:je|u|jou|daar|dit|dat|hier)?{_NEAR}\bniet\b{_NEAR}(?:helpen|mee helpen|beantwoorden|verstrekken|schrijven|geven|voldoen|ondersteunen)",
    ),
    "pl": (r"\bnie mog(?:ę|e) (?:ci |panu |pani |w tym )?(?:pomóc|udzielić|spełnić|odpowiedzieć na to|napisać|stworzyć)",),
    "ru": (r"\bне (?:могу|можем|смогу) (?:вам |тебе |с этим )?(?:помочь|предоставить|выполнить|ответить на (?:этот|ваш)|создать|написать|дать)",),
    "zh": (
        r"(?:我|我们|很?抱歉|对不起|對不起)[^。！？!?\n]{0,30}(?:无法|無法|不能|不便|不会|不會)[^。！？!?\n]{0,6}(?:帮|幫|提供|满足|滿足|回答|协助|協助|支持|参与|參與|编写|編寫|生成|完成)",
    ),
    "ja": (
        r"(?:申し訳|すみません|恐れ入り|ごめんなさい)[^。\n]{0,60}(?:できません|出来ません|致しかねます|いたしかねます|しかねます)",
        r"(?:お手伝い|お答え|ご提供|提供|対応|支援|協力)(?:することは|することが|は|が|を)?(?:できません|出来ません|致しかねます|いたしかねます)",
    ),
    "ko": (r"(?:죄송|미안)[^.\n]{0,60}(?:수 없|드릴 수 없|어렵습니다|불가)", r"도와\s?드릴 수 없|제공해?\s?드릴 수 없|제공할 수 없"),
}
"""By language, as patterns over lower-case text; each is bounded, so that a search is linear."""


def refusals(text: str, within: int) -> list[Finding]:
    """Where a text declines in its first `within` characters; kinds are `refusal.` and the language."""
    seen = visible(text)
    opening = seen.text[:within].lower()
    found = ((language, pattern.search(opening)) for language, pattern in _patterns())
    return [Finding(f"refusal.{language}", *seen.original(*match.span())) for language, match in found if match]


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((language, re.compile("|".join(phrases))) for language, phrases in PHRASES.items())
