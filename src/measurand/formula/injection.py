"""Phrases of prompt injection and jailbreak: text that gives a model orders it should not take from where the text stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from measurand.formula.findings import Finding, apart
from measurand.formula.visible import visible

_W: Final = r"[\s_,;:'\"()\[\]{}*<>/\\|+=~`´“”«»„&%#@^…-]{1,4}"  # between two words of one sentence
_FEW: Final = rf"(?:{_W}[^\W_]{{1,20}}){{0,4}}?"
_EARLIER: Final = "previous|previously|prior|above|earlier|preceding|foregoing|initial|original|your|openai|openais|you"
_ORDERS: Final = "instructions?|prompts?|guidelines?|directions|directives?|programming|commands?|polic(?:y|ies)|rules|training|orders"
_MATTER: Final = "inputs?|context|conversations?|messages?|text|tasks?|restrictions?|constraints?"


class _Phrase(NamedTuple):
    """A phrase: the words it begins with, and what follows them, in lower-case text."""

    kind: str
    begins: str
    follows: str


STRONG: Final = (
    _Phrase(
        "override",
        "ignore|ignoring|ignores|disregard|disregards|disregarding|forget|bypass|bypassing|override|overriding|neglect",
        rf"(?:{_FEW}{_W}(?:{_EARLIER}){_FEW}{_W}(?:{_ORDERS})"
        rf"|{_FEW}{_W}(?:all|any|every|everything){_FEW}{_W}(?:{_EARLIER}){_FEW}{_W}(?:{_MATTER})"
        rf"|{_FEW}{_W}(?:all|any|every|the|these){_FEW}{_W}(?:instructions?|prompts?|programming|directives?){_FEW}{_W}(?:before|above|now|far|earlier|previously|given|received|got)"
        rf"|{_W}(?:all|any|every|everything|anything)(?:{_W}of)?(?:{_W}the)?{_W}(?:above|before|previous|prior|instructions?|you)"
        rf"|{_FEW}{_W}system{_W}(?:prompts?|instructions?|messages?)"
        rf"|{_W}(?:the|what is){_W}above(?=\s{{0,2}}(?:[.,;:!)\n]|and\b|$)))\b",
    ),
    _Phrase("override", "new", rf"{_W}(?:system{_W})?instructions?\s{{0,2}}:"),
    _Phrase(
        "prompt_extraction",
        "reveal|show|print|repeat|output|display|tell|give|leak|share|write|recite|what is|what's|what are|what were|summarize|copy",
        rf"(?:{_FEW}{_W}(?:(?:system|hidden|secret|initial|original|developer|pre){_W}?prompts?|(?:hidden|secret|initial|original){_W}instructions"
        rf"|your(?:{_W}[^\W_]{{1,20}}){{0,2}}?{_W}(?:prompts?|instructions|system{_W}messages?)))\b(?!{_W}(?:for|on|about|in|at|of)\b)",
    ),
    _Phrase(
        "prompt_extraction",
        "repeat|print|output|recite|reveal",
        rf"{_FEW}{_W}(?:prompt|instructions|text|words|everything){_W}(?:above|before this|that precedes?)\b",
    ),
    _Phrase("do_anything_now", "do", rf"{_W}anything{_W}now\b"),
    _Phrase(
        "addressed_to_model",
        "note|message|instruction|instructions|attention|notice|warning|dear|hey|reminder",
        rf"(?:{_W}(?:to|for))?(?:{_W}(?:the|any|all|every|an))?{_W}(?:ai|llm|language model)s?(?: (?:assistant|model|agent|system|reader)s?)?\s{{0,2}}[:,.!]",
    ),
    _Phrase("addressed_to_model", "if you are|if you're|if you", rf"(?:{_W}as)?(?:{_W}(?:an|a|the))?{_W}(?:ai|llm|language model|large language model)\b"),
    _Phrase("addressed_to_model", "system", r" (?:override|note|notice|instruction)\s{0,2}[:!]"),
    # other languages
    _Phrase(
        "override", "ignoriere|ignorieren|ignorier|vergiss|vergessen|missachte", rf"{_FEW}{_W}(?:anweisungen|anweisung|vorgaben|regeln|instruktionen|befehle)\b"
    ),
    _Phrase(
        "override",
        "ignore|ignorez|ignorer|oublie|oubliez",
        rf"{_FEW}{_W}(?:consignes|directives|instructions){_FEW}{_W}(?:précédentes|antérieures|ci-dessus|reçues)\b",
    ),
    _Phrase("override", "ignora|ignore|ignorar|olvida|olvide|omite", rf"{_FEW}{_W}(?:instrucciones|indicaciones|órdenes|directrices)\b"),
    _Phrase("override", "ignora|dimentica|ignorare", rf"{_FEW}{_W}(?:istruzioni|indicazioni)\b"),
    _Phrase("override", "ignore|esqueça|desconsidere", rf"{_FEW}{_W}(?:instruções|orientações)\b"),
    _Phrase("override", "negeer|vergeet", rf"{_FEW}{_W}(?:instructies|aanwijzingen)\b"),
    _Phrase("override", "zignoruj|ignoruj|zapomnij", rf"{_FEW}{_W}(?:instrukcje|instrukcji|polecenia|polecenie)\b"),
    _Phrase("override", "игнорируй|игнорируйте|проигнорируй|забудь|забудьте", rf"{_FEW}{_W}(?:инструкции|инструкций|указания|правила)\b"),
)
WEAK: Final = (
    _Phrase("persona", "you are now|you're now|you will now|from now on|from now", r"\b"),
    _Phrase("persona", "you are going|you're going|you are about", rf"{_W}to{_W}(?:act|pretend|be|become|play|roleplay|answer|change|simulate)\b"),
    _Phrase("persona", "act|answer|respond|reply|behave|speak|talk|acts|acting", rf"(?:{_W}(?:only|exactly))?{_W}(?:as|like)\b"),
    _Phrase("persona", "pretend|pretending|imagine", rf"{_W}(?:to be|to have|that you|you are|you're|being)\b"),
    _Phrase("persona", "simulate|simulating", rf"(?:{_W}(?:a|an|the))?{_W}(?:chatbot|being|conversation|ai|character|persona|developer mode|dan|tokens?)\b"),
    _Phrase("persona", "assume|adopt|take on|play", rf"{_FEW}{_W}(?:persona|role|character|characters|identity)\b"),
    _Phrase("persona", "roleplay|role play|roleplaying|role playing", r"\b"),
    _Phrase("in_character", "stay|stays|break|breaks|breaking|remain|staying|out of|stop", rf"{_W}(?:in{_W}|of{_W})?character\b"),
    _Phrase(
        "unrestricted",
        "no|without|zero|free of|free from|devoid of|lack of|not have|doesn't have|not bound by|unbound by|no longer bound|not follow|doesn't follow|not adhere|not abide|"
        "not limited by|ignores|ignoring|bypass|breaks|broken free|break free|any regard|without regard|not care|doesn't care|don't care",
        rf"{_FEW}{_W}(?:restrictions?|limitations?|limits|filters?|filtering|censorship|prohibitions?|moderation|morals?|morality|ethics?|ethical|legality|principles|constraints?|boundaries|"
        r"guidelines?|polic(?:y|ies)|rules|norms|disclaimers?|warnings?)\b",
    ),
    _Phrase("unrestricted", "unfiltered|unfiltred|uncensored|amoral|unrestricted|jailbreak|jailbroken|unhinged|unethical|immoral", r"\b"),
    _Phrase("mode", "developer mode|god mode|dan mode|opposite mode|evil mode|debug mode|admin mode|unrestricted mode|jailbreak mode", r"\b"),
    _Phrase(
        "no_refusal",
        "never|not|don't|cannot|can't|doesn't|won't|always|must|no",
        rf"{_FEW}{_W}(?:refuse|refuses|refusing|reject|rejects|decline|declines|warn|warns|moralizing|comply|obey|obeys|deny|say no|i'm sorry|i can't)\b",
    ),
    _Phrase("any_request", "any|every|all|whatever", rf"{_W}(?:my{_W})?(?:questions?|requests?|prompts?|orders?|commands?)\b"),
    _Phrase("model", "chatgpt|openai|gpt4|gpt3|chat gpt|language model|ai model|an ai|dan|as an ai", r"\b"),
    _Phrase("template", "insert|your", r" (?:prompt|question|request|query) here\b"),
)
TELLING: Final = frozenset({"unrestricted", "mode", "no_refusal"})
"""Kinds of weak phrases of which one must be there: a role alone ("act as a tutor and answer any question") is no attempt."""
WITHIN: Final = 400
"""Characters in which two kinds of weak phrases must begin."""


def injection_phrases(text: str) -> list[Finding]:
    """The phrases of an attempt, in order of place: strong ones, and weak ones where two kinds stand close together, one of them of `TELLING`."""
    seen = visible(text)
    lowered = seen.text.lower()
    strong = [*_begun(lowered, strong=True), *_control_tokens(lowered), *_without_words(lowered)]
    found = apart([*strong, *_close(list(_begun(lowered, strong=False)))])
    return apart([*(Finding(kind, *seen.original(start, end)) for kind, start, end in found), *_hidden(text)])


def _close(weak: Sequence[Finding]) -> Iterator[Finding]:
    """Those with one of another kind at most `WITHIN` characters away, where one of the two is telling. Ascending in, ascending out."""
    kept: set[int] = set()
    last: dict[str, int] = {}
    for at, one in enumerate(weak):
        for kind, before in last.items():
            if kind != one.kind and one.start - weak[before].start <= WITHIN and (kind in TELLING or one.kind in TELLING):
                kept |= {before, at}
        last[one.kind] = at
    return (weak[at] for at in sorted(kept))


def _begun(text: str, *, strong: bool) -> Iterator[Finding]:
    begins, follows = _compiled(strong)
    for match in begins.finditer(text):
        for kind, pattern in follows[match[0]]:
            rest = pattern.match(text, match.end())
            if rest:
                yield Finding(kind, match.start(), rest.end())
                break


@cache
def _compiled(strong: bool) -> tuple[re.Pattern[str], Mapping[str, list[tuple[str, re.Pattern[str]]]]]:
    """One search for the beginnings, then what follows each: a text is read once, and what is tried at each place is bounded."""
    follows: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for kind, begins, rest in STRONG if strong else WEAK:
        pattern = re.compile(rest)
        for begin in begins.split("|"):
            follows.setdefault(begin, []).append((kind, pattern))
    return re.compile(rf"\b(?:{_alternatives(follows)})\b"), follows


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _control_tokens(text: str) -> Iterator[Finding]:
    """Marks that frame turns in the templates of chat models."""
    if "<" in text or "[" in text or "###" in text:
        yield from (Finding("control_token", *match.span()) for match in _token().finditer(text))


@cache
def _token() -> re.Pattern[str]:
    return re.compile(
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|begin_of_text|start_header_id)\|>|\[/?inst\]|<</?sys>>|(?m:^)### {0,2}(?:system|instruction)s?:"
    )


def _without_words(text: str) -> Iterator[Finding]:
    """The order to ignore instructions in languages without spaces, or with endings."""
    if not text.isascii():
        yield from (Finding("override", *match.span()) for match in _unspaced().finditer(text))


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(
        r"(?:忽略|无视|無視|忽视|忽視|忘记|忘掉|忘記)[^。！？\n]{0,12}(?:指令|指示|提示|规则|規則|说明|說明|要求)"
        r"|(?:指示|命令|プロンプト|ルール|指令)(?:を|は|を全て|をすべて){0,1}(?:無視|忘れ)"
        r"|(?:지시|명령|프롬프트|규칙)[^.\n]{0,8}(?:무시|잊)"
    )


def _hidden(text: str) -> Iterator[Finding]:
    """Text in Unicode's invisible tag characters, apart from the flags that are written with them."""
    if not text.isascii():
        yield from (Finding("hidden_text", *match.span()) for match in _tags().finditer(text))


@cache
def _tags() -> re.Pattern[str]:
    return re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]{3,}")
