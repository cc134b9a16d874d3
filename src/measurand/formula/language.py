"""Which language a text is in, by py3langid (Lui & Baldwin 2012, langid.py): its model comes with the package, nothing is downloaded."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from measurand.core.errors import InvalidFieldError

LANGUAGES: Final = (
    "ace", "af", "am", "an", "ar", "ary", "arz", "as", "az", "ba", "bcl", "be", "bg", "bn", "br", "bs",
    "ca", "crh", "cs", "cy", "da", "de", "dz", "el", "en", "eo", "es", "et", "eu", "ext", "fa", "fi",
    "fo", "fr", "fuv", "fy", "ga", "gcf", "gcr", "gd", "gl", "gom", "grc", "gu", "gug", "guw", "ha", "hbo",
    "he", "hi", "hr", "ht", "hu", "hy", "id", "ig", "is", "it", "ja", "jv", "ka", "kab", "kik", "kk",
    "km", "kn", "ko", "ku", "ky", "la", "lb", "lg", "lij", "ln", "lo", "lt", "ltg", "lv", "mg", "mk",
    "ml", "mn", "mr", "ms", "mt", "my", "ne", "nl", "nn", "no", "nso", "oc", "om", "or", "pa", "pcm",
    "pl", "ps", "pt", "qu", "ro", "ru", "rw", "sa", "sdh", "se", "si", "sk", "sl", "sn", "so", "sq",
    "sr", "st", "sv", "sw", "ta", "te", "tg", "th", "tk", "tl", "tr", "tt", "ug", "uk", "ur", "uz",
    "uzs", "vec", "vi", "vo", "wa", "wuu", "xh", "yo", "yue", "zh", "zu",
)  # fmt: skip
"""The codes the detector knows: ISO 639-1 where there is one."""

READ: Final = 5_000
"""So many characters from the beginning are read."""
_NO_LANGUAGE: Final = "zxx"
_WHOLE_WORDS: Final = 0x2E80  # from here on (ideographs, kana, hangul) a character says about as much as four letters


class Detected(NamedTuple):
    """The likeliest language, and how likely it is among all the detector knows, in [0, 1]."""

    language: str
    confidence: float


def detected(text: str) -> Detected:
    """The language of the first 5 000 characters."""
    language, confidence = _identifier().classify(text[:READ])
    return Detected(str(language), float(confidence))


def spelled(code: str) -> str:
    """A language code as the detector knows it. Raises `InvalidFieldError` for one that it does not know."""
    known = code.strip().lower().partition("-")[0]
    if known not in LANGUAGES:
        raise InvalidFieldError(f"language '{code}' is not known to the detector, which knows {', '.join(LANGUAGES)}"[:500])
    return known


def evidence(text: str) -> int:
    """How many letters the detector can go by; an ideograph, kana or hangul counts as four."""
    return sum(4 if ord(one) >= _WHOLE_WORDS else 1 for one in text[:READ] if one.isalpha())


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def known_to_the_detector() -> tuple[str, ...]:
    """The codes of the installed model, without the one for "no language"."""
    return tuple(sorted(str(one) for one in _identifier().labels if str(one) != _NO_LANGUAGE))
