"""Network addresses of someone in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from measurand.formula.findings import Finding

_SMALL: Final = 32  # four parts below this are taken for a version: 2.4.1.9


def ips(text: str) -> Iterator[Finding]:
    """Public IPv4 and IPv6 addresses, and those kept for documentation; not private, loopback, link-local or multicast ones, networks (/24), or versions."""
    from ipaddress import ip_address

    for match in _ip().finditer(text):
        try:
            address = ip_address(match[0])
        except ValueError:
            continue
        if _is_someones(address) and not (address.version == 4 and _is_version(text, match)):
            yield Finding("ip", *match.span())


@cache
def _ip() -> re.Pattern[str]:
    four = r"(?<![\w.])(?<![\w ]/)(?<!\w-)\d{1,3}(?:\.\d{1,3}){3}(?!\w|[.-]\w|/\d)"
    six = r"(?<![\w:.])[23][0-9A-Fa-f]{3}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d|/\d)"
    return re.compile(f"{four}|{six}")


def _is_someones(address: Any) -> bool:
    if address.is_multicast or address.is_loopback or address.is_link_local or address.is_unspecified:
        return False
    return bool(address.is_global) or str(address).startswith(("192.0.2.", "198.51.100.", "203.0.113.", "2001:db8:"))


def _is_version(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 24) : match.start()]
    if re.search(r"(?i)\b(?:version|ver|v|release|build|rev|revision|firmware|kernel|driver|patch|update|section|sec|chapter|clause|§)[\s:.=\"']*$", before):
        return True
    small = all(int(part) < _SMALL for part in match[0].split("."))
    return small and not re.search(r"(?i)\b(?:ip|ips|ipv4|address|host|server|dns|from|client)\W{1,3}(?:is |was |address )?$", before)
