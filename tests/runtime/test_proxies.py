"""Which proxy a request goes through."""

from __future__ import annotations

import pytest

from measurand.runtime.proxies import is_loopback, proxy_for

PROXY = {"HTTPS_PROXY": "http://proxy.example:3128", "HTTP_PROXY": "http://plain.example:3128"}


@pytest.mark.parametrize(
    ("address", "configured", "environ", "proxy"),
    [
        ("https://api.example/v1", None, {}, None),
        ("https://api.example/v1", None, PROXY, "http://proxy.example:3128"),
        ("http://api.example/v1", None, PROXY, "http://plain.example:3128"),
        ("https://api.example/v1", None, {**PROXY, "https_proxy": "http://lower.example:1"}, "http://lower.example:1"),
        ("https://api.example/v1", None, {"HTTPS_PROXY": "proxy.example:3128"}, "http://proxy.example:3128"),
        ("https://api.example/v1", "none", PROXY, None),
        ("https://api.example/v1", "http://ours.example:1", PROXY, "http://ours.example:1"),
        ("https://127.0.0.1:8080/v1", "http://ours.example:1", PROXY, None),
        ("http://[::1]:8080/v1", None, PROXY, None),
        ("http://localhost/v1", None, PROXY, None),
    ],
)
def test_config_then_environment_and_never_for_loopback(address: str, configured: str | None, environ: dict[str, str], proxy: str | None) -> None:
    assert proxy_for(address, configured, environ) == proxy


@pytest.mark.parametrize(
    ("rule", "excepted"),
    [
        ("api.example", True),
        ("example", True),
        (".example", True),
        ("*.example", True),
        ("ample", False),
        ("API.EXAMPLE", True),
        ("other.example,  api.example", True),
        ("api.example:443", True),
        ("api.example:8443", False),
        ("*", True),
        ("", False),
        ("10.0.0.0/8", False),
    ],
)
def test_no_proxy_by_name(rule: str, excepted: bool) -> None:
    assert (proxy_for("https://api.example/v1", None, {**PROXY, "NO_PROXY": rule}) is None) == excepted


@pytest.mark.parametrize(
    ("rule", "excepted"), [("10.0.0.0/8", True), ("10.1.2.3", True), ("10.1.2.3:443", True), ("1.2.3", False), ("11.0.0.0/8", False), ("10.0.0.0/99", False)]
)
def test_no_proxy_by_address(rule: str, excepted: bool) -> None:
    assert (proxy_for("https://10.1.2.3/v1", None, {**PROXY, "NO_PROXY": rule}) is None) == excepted


def test_no_proxy_for_six_byte_addresses() -> None:
    assert proxy_for("https://[2001:db8::1]/v1", None, {**PROXY, "NO_PROXY": "2001:db8::1"}) is None
    assert proxy_for("https://[2001:db8::1]/v1", None, {**PROXY, "NO_PROXY": "[2001:db8::1]:443"}) is None
    assert proxy_for("https://[2001:db8::1]/v1", None, {**PROXY, "NO_PROXY": "2001:db8::2"}) is not None


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost.example", False),
        ("10.0.0.1", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback
