"""Personal data in a text: e-mail addresses, telephone numbers, cards, accounts, national identity numbers, network addresses.

What has check digits must fulfil them; what has none must stand as people write it, not as programs write identifiers, times and versions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from measurand.core.effort import still_time
from measurand.formula.accounts import cards, ibans
from measurand.formula.emails import emails
from measurand.formula.findings import Finding, apart
from measurand.formula.national_ids import national_ids
from measurand.formula.network import ips
from measurand.formula.phones import phones
from measurand.formula.visible import Visible, visible

KINDS: Final = ("email", "iban", "card", "national_id", "ip", "phone")
"""In the order in which they are believed where two read the same digits."""


def personal_data(text: str, kinds: Sequence[str], region: str | None = None) -> list[Finding]:
    """The personal data in a text, in order of place and without overlaps. `kinds` are of `KINDS`; `region` is whose telephone numbers are read without +."""
    seen = visible(text)
    return [Finding(one.kind, *seen.original(one.start, one.end)) for one in _found(seen, kinds, region)]


def _found(seen: Visible, kinds: Sequence[str], region: str | None) -> list[Finding]:
    text = seen.text
    found = list(emails(text)) if "email" in kinds else []
    stretches = [(max(0, match.start() - _AROUND), match.end() + _AROUND) for match in _numbers().finditer(text)]
    for kind, detect in _NUMBERS.items():
        if kind in kinds:
            still_time()
            for first, last in stretches:
                found += detect(text, first, last)
    if "ip" in kinds:
        found += ips(text)
    if "phone" in kinds:
        still_time()
        for first, last in stretches:
            found += phones(text, region, first, last)
    return apart(found)


_NUMBERS: Final[Mapping[str, Callable[[str, int, int], Iterator[Finding]]]] = {"iban": ibans, "card": cards, "national_id": national_ids}
_AROUND: Final = 12  # characters before and after its digits that may belong to a number


@cache
def _numbers() -> re.Pattern[str]:
    """Stretches with as many digits as the shortest number has, so that what is slow is done there alone."""
    return re.compile(r"\d(?:\D{0,8}\d){6,}+")


def known_data(text: str, kinds: Sequence[str]) -> tuple[frozenset[str], str]:
    """What a text gives away, to be told from what is new: its e-mail and network addresses, and all its letters and digits in one run."""
    seen = visible(text)
    addresses = _found(seen, [kind for kind in ("email", "ip") if kind in kinds], None)
    return frozenset(seen.text[start:end].lower() for _, start, end in addresses), joined(seen.text)


def is_known(kind: str, value: str, known: tuple[frozenset[str], str]) -> bool:
    """Whether a finding's text is part of a text that `known_data` has read, whatever its spaces, marks, and country code."""
    still_time()
    addresses, everything = known
    plain = visible(value).text
    if kind in ("email", "ip"):
        return plain.lower() in addresses
    written = joined(plain)
    if kind == "phone" and len(written) > _SUBSCRIBER:  # with or without a country code: the digits that all forms share are the last ones
        written = written[-_SUBSCRIBER:]
    return written in everything


_SUBSCRIBER: Final = 8


def joined(text: str) -> str:
    """Letters and digits in capitals; marks and spaces between two of them gone where either is a digit, so that numbers are one run."""
    return _between().sub("", text).upper()


@cache
def _between() -> re.Pattern[str]:
    return re.compile(r"(?<=[A-Za-z\d])[ .()/\-]{1,3}(?=\d)|(?<=\d)[ .()/\-]{1,3}(?=[A-Za-z])")
