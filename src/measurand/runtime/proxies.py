"""Which proxy a request goes through: the config's, the environment's, or none."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def proxy_for(address: str, configured: str | None, environ: Mapping[str, str]) -> str | None:
    """The proxy's address for requests to `address`; None: straight there. Loopback is never proxied, nor what NO_PROXY lists, nor anything if `configured` is "none".

    NO_PROXY: hosts by comma; "corp.example" and ".corp.example" mean the domain and all below it, "host:8443" one port, "10.0.0.0/8" a network, "*" everything.
    """
    parts = urlsplit(address)
    host = (parts.hostname or "").rstrip(".").lower()
    if configured == "none" or is_loopback(host):
        return None
    if configured is not None:
        return configured
    found = _variable(f"{parts.scheme}_proxy", environ)
    if not found or _excepted(host, parts.port or _PORTS.get(parts.scheme), _variable("no_proxy", environ)):
        return None
    return found if "://" in found else f"http://{found}"


def is_loopback(host: str) -> bool:
    """Whether a host name (lower case, without brackets) is this machine by definition: localhost, 127.0.0.0/8, ::1."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _ip(host)
    return address is not None and (address.is_loopback or (isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address).is_loopback))


def _variable(name: str, environ: Mapping[str, str]) -> str:
    """Lower case wins, as in curl and urllib."""
    return (environ.get(name) or environ.get(name.upper()) or "").strip()


def _excepted(host: str, port: int | None, rules: str) -> bool:
    return any(_fits(rule, host, port) for rule in rules.lower().replace(",", " ").split())


def _fits(rule: str, host: str, port: int | None) -> bool:
    if rule == "*":
        return True
    address = _ip(host)
    if address is not None and "/" in rule:
        try:
            return address in ipaddress.ip_network(rule, strict=False)
        except ValueError:
            return False
    name, _, wanted = rule.rpartition(":") if rule.count(":") == 1 or "]:" in rule else (rule, "", "")
    if wanted and wanted != str(port):
        return False
    name = name.strip("[]").removeprefix("*").removeprefix(".")
    return bool(name) and (host == name or (address is None and host.endswith(f".{name}")))


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
