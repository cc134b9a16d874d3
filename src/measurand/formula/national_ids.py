"""National identity numbers whose form, and mostly whose check digits, are published.

A form that ordinary numbers share (nine to twelve digits with one check digit) counts only after its name ("BSN 111222333"); what has letters, marks or a
date in fixed places stands alone. Sources: the rules of the issuers, named at each form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from sys import maxsize
from typing import NamedTuple

from measurand.formula.checksums import luhn, mod_11_2, mod_11_10, verhoeff, weighted
from measurand.formula.findings import Finding

NAMED_WITHIN = 40  # characters before a number in which its name must stand


class Scheme(NamedTuple):
    """One country's number: how it is written, how it is called where it must be named, and what must hold of its letters and digits."""

    kind: str
    pattern: str
    names: str | None
    holds: Callable[[str], bool]


def national_ids(text: str, first: int = 0, last: int = maxsize) -> Iterator[Finding]:
    """The national identity numbers in a text as from `visible`; kinds are `national_id.` and the name of the number."""
    for scheme, pattern, names in _compiled():
        for match in pattern.finditer(text, first, last):
            start, end = match.span()
            if names is not None and not names.search(text, max(0, start - NAMED_WITHIN), start):
                continue
            if scheme.holds(_joints().sub("", match[0]).upper()):
                yield Finding(f"national_id.{scheme.kind}", start, end)


@cache
def _joints() -> re.Pattern[str]:
    return re.compile(r"[^0-9A-Za-z+]")


@cache
def _compiled() -> list[tuple[Scheme, re.Pattern[str], re.Pattern[str] | None]]:
    edges = r"(?<![\w.,/+])(?<!\w-)(?:{})(?![\w]|[.,/+-]\w)"
    return [(one, re.compile(edges.format(one.pattern)), re.compile(rf"\b(?:{one.names})\b", re.IGNORECASE) if one.names else None) for one in _SCHEMES]


def _is_date(year: str, month: str, day: str) -> bool:
    """Whether these digits are a day; a year of two digits is of either century."""
    long = (31, 29 if int(year) % 4 == 0 else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= int(month) <= 12 and 1 <= int(day) <= long[int(month) - 1]


def _varied(digits: str) -> bool:
    return len(set(digits)) > 1


def _ssn(number: str) -> bool:
    """Social Security Administration, randomised since 2011: area not 000, 666 or from 900, group not 00, serial not 0000. There is no check digit."""
    return number[:3] not in ("000", "666") and number[0] != "9" and number[3:5] != "00" and number[5:] != "0000"


def _sin(number: str) -> bool:
    """Canada, Employment and Social Development: Luhn."""
    return _varied(number) and luhn(number)


def _nhs(number: str) -> bool:
    """NHS Data Dictionary: weights 10 to 2, 11 minus the remainder by 11 is the last digit (11 is 0, 10 is none)."""
    return _varied(number) and (11 - weighted(number, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11) % 11 == int(number[-1])


def _cpf(number: str) -> bool:
    """Receita Federal: two check digits, weights 10 to 2 and 11 to 2, the sum times ten by 11 (10 is 0)."""
    first = weighted(number[:9], (10, 9, 8, 7, 6, 5, 4, 3, 2)) * 10 % 11 % 10
    second = weighted(number[:10], (11, 10, 9, 8, 7, 6, 5, 4, 3, 2)) * 10 % 11 % 10
    return _varied(number) and number[9:] == f"{first}{second}"


def _dni(number: str) -> bool:
    """Ministerio del Interior: the letter is the remainder by 23; X, Y, Z of a NIE stand for 0, 1, 2. Eight digits that are a day are taken for one."""
    digits = number[:-1].translate({88: "0", 89: "1", 90: "2"})
    if number[0].isdigit() and number[:2] in ("19", "20") and _is_date(number[:4], number[4:6], number[6:8]):
        return False
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == number[-1]


def _nir(number: str) -> bool:
    """INSEE: the key is 97 minus the remainder by 97; Corsica's 2A and 2B count as 19 and 18."""
    body = number[:13].replace("2A", "19").replace("2B", "18")
    return body.isdigit() and 97 - int(body) % 97 == int(number[13:])


_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def _codice_fiscale(code: str) -> bool:
    """Agenzia delle Entrate, D.M. 23 December 1976: values of the odd and even places, the remainder by 26 is the letter."""
    values = [int(one) if one.isdigit() else ord(one) - 65 for one in code[:15]]
    total = sum(_ODD[value] for value in values[::2]) + sum(values[1::2])
    return chr(65 + total % 26) == code[15]


def _steuer_id(number: str) -> bool:
    """Bundeszentralamt für Steuern: ISO/IEC 7064 MOD 11,10; of the first ten digits one occurs twice or three times."""
    return number[0] != "0" and len(set(number[:10])) in (8, 9) and mod_11_10(number)


def _bsn(number: str) -> bool:
    """Netherlands: the eleven test, weights 9 to 2 and −1."""
    return _varied(number) and weighted(number, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _pesel(number: str) -> bool:
    """Poland: a day of birth (80, 20, 40, 60 added to the month for other centuries), weights 1, 3, 7, 9, the sum divisible by 10."""
    month = f"{int(number[2:4]) % 20:02}"
    return _is_date(number[:2], month, number[4:6]) and weighted(number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def _personnummer(number: str) -> bool:
    """Sweden, SFS 1991:481: a day of birth and the Luhn digit of the last ten; 60 added to the day of a coordination number."""
    digits = number.replace("+", "")[-10:]
    day = int(digits[4:6])
    return _is_date(digits[:2], digits[2:4], f"{day - 60 if day > 60 else day:02}") and luhn(digits)


def _hetu(number: str) -> bool:
    """Finland, Digital and Population Data Services Agency: a day of birth, and a character for the remainder by 31."""
    digits = number[:6] + number[-4:-1]
    return _is_date(number[4:6], number[2:4], number[:2]) and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(digits) % 31] == number[-1]


def _aadhaar(number: str) -> bool:
    """UIDAI: Verhoeff; no number begins with 0 or 1."""
    return number[0] not in "01" and verhoeff(number)


def _resident_id(number: str) -> bool:
    """China, GB 11643-1999: a day of birth, ISO/IEC 7064 MOD 11-2."""
    return number[6:8] in ("19", "20") and _is_date(number[6:10], number[10:12], number[12:14]) and mod_11_2(number)


_SCHEMES = (
    Scheme("us_ssn", r"\d{3}-\d{2}-\d{4}", None, _ssn),
    Scheme("us_ssn", r"\d{3} ?\d{2} ?\d{4}", r"ssn|social security(?: number| no)?", _ssn),
    Scheme("ca_sin", r"\d{3}[ -]?\d{3}[ -]?\d{3}", r"sin|nas|social insurance(?: number| no)?", _sin),
    Scheme("gb_nhs", r"\d{3}[ -]?\d{3}[ -]?\d{4}", r"nhs(?: number| no)?", _nhs),
    Scheme("br_cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", None, _cpf),
    Scheme("br_cpf", r"\d{11}", r"cpf", _cpf),
    Scheme("es_dni", r"(?:\d{8}|[XYZxyz]-?\d{7})-?[A-Za-z]", None, _dni),
    Scheme("fr_nir", r"[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}", None, _nir),
    Scheme("it_codice_fiscale", r"[A-Za-z]{6}\d{2}[A-EHLMPR-Ta-ehlmpr-t]\d{2}[A-Za-z]\d{3}[A-Za-z]", None, _codice_fiscale),
    Scheme("de_steuer_id", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", r"steuer-?id|steuer-?identifikationsnummer|identifikationsnummer|steuer-?idnr|idnr|tin", _steuer_id),
    Scheme("nl_bsn", r"\d{9}|\d{4}[ .]\d{2}[ .]\d{3}", r"bsn|burgerservicenummer|sofinummer", _bsn),
    Scheme("pl_pesel", r"\d{11}", r"pesel", _pesel),
    Scheme("se_personnummer", r"(?:\d{2})?\d{6}[-+]?\d{4}", r"personnummer|person-?nr|samordningsnummer|personal identity number", _personnummer),
    Scheme("fi_hetu", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]", None, _hetu),
    Scheme("in_aadhaar", r"\d{4}[ -]?\d{4}[ -]?\d{4}", r"aadhaar|aadhar|uidai", _aadhaar),
    Scheme("cn_resident_id", r"[1-8]\d{16}[\dXx]", None, _resident_id),
)
