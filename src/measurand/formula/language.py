"""Which language a text is in, by py3langid (Lui & Baldwin 2012, langid.py): its model comes with the package, nothing is downloaded."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final, NamedTuple

from measurand.core.errors import CellError

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
"""So many characters of prose from the beginning are read."""
NO_LANGUAGE: Final = "zxx"
"""What the detector calls text that is in no language: serial numbers, keys, markup."""
_WHOLE_WORDS: Final = 0x2E80  # from here on (ideographs, kana, hangul) a character says about as much as four letters
_OTHER_CODES: Final = {"nb": "no", "iw": "he", "in": "id", "jw": "jv", "mo": "ro", "fil": "tl", "cmn": "zh", "gn": "gug", "ki": "kik", "ff": "fuv"}
_VARIETIES: Final = {"ary": "ar", "arz": "ar", "wuu": "zh", "yue": "zh", "sdh": "ku", "ltg": "lv", "nn": "no", "uzs": "uz"}
"""Members of one macrolanguage (ISO 639-3), which count as one."""


class Detected(NamedTuple):
    """The likeliest language, and how likely it is among all the detector knows, in [0, 1]."""

    language: str
    confidence: float


def detected(text: str) -> Detected:
    """The language of the first 5 000 characters of prose. Raises `CellError` where py3langid is not installed."""
    language, confidence = _identifier().classify(prose(text))
    return Detected(str(language), float(confidence))


def code_of(tag: str) -> str | None:
    """The detector's code for a language tag (de, de-AT, pt_BR, nb); None for a language it does not know."""
    primary = tag.strip().lower().replace("_", "-").partition("-")[0]
    code = _OTHER_CODES.get(primary, primary)
    return code if code in LANGUAGES else None


def is_same(one: str, other: str) -> bool:
    """Whether two codes of the detector name one language, or varieties of one."""
    return _VARIETIES.get(one, one) == _VARIETIES.get(other, other)


def evidence(text: str) -> int:
    """How many letters the detector can go by; an ideograph, kana or hangul counts as four."""
    return sum(4 if ord(one) >= _WHOLE_WORDS else 1 for one in prose(text) if one.isalpha())


def prose(text: str) -> str:
    """What is read of a text: its beginning without code between backticks and without web addresses, which are English in any language."""
    return _no_prose().sub(" ", text[: 4 * READ])[:READ]


@cache
def _no_prose() -> re.Pattern[str]:
    return re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)


@cache
def _identifier() -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise CellError("py3langid is not installed; python -m pip install 'measurand[language]'") from None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def known_to_the_detector() -> tuple[str, ...]:
    """The codes of the installed model, without the one for "no language"."""
    return tuple(sorted(str(one) for one in _identifier().labels if str(one) != NO_LANGUAGE))
