"""Payment cards and bank accounts in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from sys import maxsize

from measurand.formula.checksums import luhn, mod_97
from measurand.formula.findings import Finding


def cards(text: str, start: int = 0, end: int = maxsize) -> Iterator[Finding]:
    """Payment cards (ISO/IEC 7812): a known issuer's prefix and length, the Luhn digit, in one run or in the groups that stand on cards."""
    for match in _card().finditer(text, start, end):
        number = re.sub(r"[ -]", "", match[0])
        named_otherwise = match[0] == number and _is_numbered(text, match.start())
        if _issuer().fullmatch(number) and luhn(number) and not named_otherwise:
            yield Finding("card", *match.span())


@cache
def _card() -> re.Pattern[str]:
    fours = r"\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?"
    amex = r"\d{4}([ -]?)\d{6}\2\d{4,5}"
    return re.compile(rf"(?<!\w)(?<!\d[.,+/-])(?:{fours}|{amex})(?!\w|[.,/-]\d)")


@cache
def _issuer() -> re.Pattern[str]:
    return re.compile(
        r"4\d{15}(?:\d{3})?"  # Visa
        r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"  # Mastercard
        r"|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}"  # American Express, Diners Club
        r"|6(?:011|4[4-9]\d|5\d\d)\d{12}(?:\d{3})?|62\d{14,17}"  # Discover, UnionPay
        r"|35(?:2[89]|[3-8]\d)\d{12}(?:\d{3})?|(?:50(?:18|20|38)|5893|6304|6759|676[1-3])\d{12}"  # JCB, Maestro
    )


def _is_numbered(text: str, start: int) -> bool:
    """Whether the words before say that a run of digits is the number of something else."""
    return _numbered().search(text, max(0, start - 30), start) is not None


@cache
def _numbered() -> re.Pattern[str]:
    of = "order|invoice|tracking|ticket|reference|ref|booking|shipment|parcel|confirmation|transaction|serial|case|id|bestellung|rechnung|commande|pedido|imei|isbn"
    return re.compile(rf"(?:\b|_)(?:{of})[\W_]{{0,3}}(?:no|nr|number|num|id|nummer)?[\W_]{{0,3}}$", re.IGNORECASE)


def ibans(text: str, start: int = 0, end: int = maxsize) -> Iterator[Finding]:
    """Bank accounts (ISO 13616): a country's length, in one run or in groups of four, and a remainder of 1 by 97."""
    for match in _iban().finditer(text, start, end):
        wanted = _lengths().get(match[1].upper(), 0)
        places = [match.start() + at for at, one in enumerate(match[0]) if one.isalnum()]
        if not wanted or len(places) < wanted:
            continue
        last = places[wanted - 1] + 1
        account = "".join([text[at] for at in places[:wanted]])
        if not text[last : last + 1].isalnum() and mod_97(account):
            yield Finding("iban", match.start(), last)


@cache
def _iban() -> re.Pattern[str]:
    return re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}(?:[ -]?[A-Za-z0-9]{1,4}){3,16}")


@cache
def _lengths() -> Mapping[str, int]:
    """Characters of an account by country, from the IBAN registry of SWIFT."""
    written = (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 "
        "GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 "
        "MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 "
        "XK20 YE30"
    )
    return {one[:2]: int(one[2:]) for one in written.split()}
