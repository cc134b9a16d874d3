"""Network addresses of someone in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from measurand.formula.findings import Finding

_SMALL: Final = 32  # four parts below this are taken for a version: 2.4.1.9
_LARGEST: Final = 255


def ips(text: str) -> Iterator[Finding]:
    """Public IPv4 and IPv6 addresses, and those kept for documentation; not private, loopback, link-local or multicast ones, networks (/24), or versions."""
    if not (_quad().search(text) or ":" in text):
        return
    for match in _ip().finditer(text):
        if _is_public_4(match, text) if match["four"] else _is_public_6(match[0]):
            yield Finding("ip", *match.span())


@cache
def _quad() -> re.Pattern[str]:
    """A quick look that spares most texts the slow one."""
    return re.compile(r"\d\.\d{1,3}\.\d{1,3}\.\d")


@cache
def _ip() -> re.Pattern[str]:
    four = r"(?<![\w.])(?<![\w ]/)(?<!\w-)(?P<four>(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3})(?!\w|[.-]\w|/\d)"
    six = r"(?<![\w:.])[23][0-9A-Fa-f]{3}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d|/\d)"
    return re.compile(f"{four}|{six}")


def _is_public_4(match: re.Match[str], text: str) -> bool:
    parts = [int(part) for part in match[0].split(".")]
    first, second = parts[:2]
    if max(parts) > _LARGEST or first in (0, 10, 127) or first >= 224:  # this host, private, loopback, multicast and above
        return False
    if (first, second) in ((192, 168), (169, 254)) or (first == 172 and 16 <= second < 32) or (first == 100 and 64 <= second < 128):
        return False
    before = text[max(0, match.start() - 24) : match.start()]
    return bool(_address().search(before)) if max(parts) < _SMALL else not _version().search(before)


def _is_public_6(written: str) -> bool:
    from ipaddress import AddressValueError, IPv6Address

    try:
        address = IPv6Address(written)
    except AddressValueError:
        return False
    return address.is_global or written.lower().startswith("2001:db8:")


@cache
def _version() -> re.Pattern[str]:
    words = "version|ver|v|release|build|rev|revision|firmware|kernel|driver|patch|update|section|sec|chapter|clause|upgrade to|upgraded to|update to|§"
    return re.compile(rf"(?:\b|^)(?:{words})[\s:.=\"']*$", re.IGNORECASE)


@cache
def _address() -> re.Pattern[str]:
    return re.compile(r"\b(?:ip|ips|ipv4|address|host|server|dns|from|client)\W{1,3}(?:is |was |address )?$", re.IGNORECASE)
