"""Which files make trust; what they do on a connection stands in test_tls_and_proxy.py."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from measurand.config.runtimes import ModelSettings
from measurand.core.errors import ConfigError
from measurand.runtime.trust import trust_of


def trust(environ: dict[str, str] | None = None, **keys: Any) -> ssl.SSLContext:
    settings = ModelSettings(provider="openai", model="m", base_url="https://gateway.example/v1", **keys)
    return trust_of(settings, section="models.judge", environ=environ or {}, resolve=Path, system=ssl.create_default_context)


def test_certificates_and_names_are_always_checked() -> None:
    for context in (trust(), trust({"SSL_CERT_DIR": "/"})):
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_a_variable_replaces_the_systems_store_and_ca_file_adds_to_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        trustme.CA().cert_pem.write_to_path(tmp_path / f"{name}.pem")
    assert len(trust({"SSL_CERT_FILE": str(tmp_path / "one.pem")}).get_ca_certs()) == 1
    assert len(trust({"SSL_CERT_FILE": str(tmp_path / "one.pem")}, ca_file=str(tmp_path / "two.pem")).get_ca_certs()) == 2


def test_a_file_of_the_environment_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"SSL_CERT_FILE: '.*absent' cannot be used \(No such file or directory\); \[models.judge\] is asked over TLS"):
        trust({"SSL_CERT_FILE": str(tmp_path / "absent")})


def test_a_key_behind_a_password_is_refused_and_nobody_is_asked_for_it(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization

    leaf = trustme.CA().issue_cert("client.example")
    leaf.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), None)
    locked = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"word"))
    (tmp_path / "locked.key").write_bytes(locked)
    with pytest.raises(ConfigError, match=r"\[models.judge\] client_cert_file: .* its key unencrypted"):
        trust(client_cert_file=str(tmp_path / "cert.pem"), client_key_file=str(tmp_path / "locked.key"))
