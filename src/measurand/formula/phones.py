"""Telephone numbers in a text, by the numbering plans of the phonenumbers package (Google's libphonenumber)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from sys import maxsize
from typing import Final

from measurand.core.effort import still_time
from measurand.formula.findings import Finding

_NAMED_WITHIN: Final = 30  # characters before a number in which its name must stand
_FEWEST: Final = 7
_MOST: Final = 15  # digits, ITU-T E.164


def phones(text: str, region: str | None = None, first: int = 0, last: int = maxsize) -> Iterator[Finding]:
    """Numbers with + and a country code; those of `region` as they are written there; without a region, those of North America in groups.

    A number in one run of digits counts only after its name ("tel", "call"), and so, in any form, does one of an unknown region.
    """
    for match in _candidate().finditer(text, first, last):
        written = match[0].rstrip(" .-/(")
        written = written if ")" in written else written.lstrip("(")
        start = match.start() + match[0].index(written)
        digits = sum(map(str.isdigit, written))
        if _FEWEST <= digits <= _MOST and len(set(filter(str.isdigit, written))) > 1 and not _is_other(text, start, written):
            still_time()
            if _is_phone(written, region, named=_is_named(text, start), grouped=not written.isdigit()):
                yield Finding("phone", start, start + len(written))


def regions() -> frozenset[str]:
    """The regions whose numbering plan is known, as ISO 3166 codes."""
    import phonenumbers

    return frozenset(phonenumbers.SUPPORTED_REGIONS)


@cache
def _candidate() -> re.Pattern[str]:
    """Seven digits or more with at most two marks between each two; the run is taken whole, so the search is linear."""
    return re.compile(r"(?<![\w@#$€£¥=&%:.,/\\+-])(?:\+ ?|\()?\(?\d(?:[ .()/-]{0,2}\d){6,17}+(?![\w@%]|[.,:/-]\d)")


@cache
def _other() -> re.Pattern[str]:
    """Days, years, decimal numbers, four parts of a version, numbers in groups of three, ISBNs: in digits as a telephone number, but something else."""
    day = r"(?:19|20)\d\d([ ./-])[01]?\d\1[0-3]?\d|[0-3]?\d([ ./-])[0-3]?\d\2(?:19|20)\d\d"
    return re.compile(
        rf"(?:{day})(?:[ .-].*)?|[1-9]\d{{0,2}}(?:\.\d{{3}}){{2,}}|(?:19|20)\d\d ?[/-] ?(?:19|20)\d\d|\d+\.\d+|\d{{1,3}}(?:\.\d{{1,3}}){{3}}|(?:97[89][ -])?\d{{1,5}}-\d{{1,7}}-\d{{1,7}}-\d"
    )


def _is_other(text: str, start: int, written: str) -> bool:
    return _other().fullmatch(written) is not None or _numbered().search(text, max(0, start - _NAMED_WITHIN), start) is not None


@cache
def _numbered() -> re.Pattern[str]:
    words = "isbn|issn|order|invoice|ticket|ref|reference|tracking|id|serial"
    return re.compile(rf"\b(?:{words})[\W_]{{0,3}}(?:no|nr|number|id|1[03])?\W{{0,3}}$", re.IGNORECASE)


def _is_named(text: str, start: int) -> bool:
    return _name().search(text, max(0, start - _NAMED_WITHIN), start) is not None


@cache
def _name() -> re.Pattern[str]:
    words = (
        "phone|phones|telephone|tel|mobile|cell|cellphone|fax|call|dial|ring|whatsapp|sms|hotline|contact number|telefon|telefonnummer|handy|mobil|rufnummer|"
        "téléphone|tél|portable|teléfono|móvil|celular|telefono|cellulare|telefone|celular|telefoon|mobiel|телефон|тел|电话|電話|手机"
    )
    return re.compile(rf"(?:\b|(?<=_))(?:{words})(?:\W{{1,3}}\w{{1,8}}){{0,2}}?\W{{0,3}}$", re.IGNORECASE)


def _is_phone(written: str, region: str | None, *, named: bool, grouped: bool) -> bool:
    if written.startswith("+"):
        return _valid(written, None)
    if region is not None:
        return (named and _valid(written, region)) or (grouped and _grouped_as_there(written, region))
    if named and not written.startswith("00"):
        return True
    if _north_american().fullmatch(written):
        return _valid(written, "US")
    return written.startswith("00") and (named or grouped) and _valid("+" + written[2:], None)


@cache
def _north_american() -> re.Pattern[str]:
    return re.compile(r"(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d([ .-]))[2-9]\d\d(?:[ .-])\d{4}")


@lru_cache(maxsize=4096)
def _valid(written: str, region: str | None) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(written, region))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=4096)
def _grouped_as_there(written: str, region: str) -> bool:
    import phonenumbers

    found = phonenumbers.PhoneNumberMatcher(written, region, leniency=phonenumbers.Leniency.STRICT_GROUPING, max_tries=1)
    return found.has_next()
