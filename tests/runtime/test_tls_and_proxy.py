"""Private authorities, client certificates, proxies and redirects, against real servers on the loopback."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.servers.mock import MockServer
from tests.servers.proxy import ProxyServer
from tests.servers.tls import NAME, TlsServer

from measurand.config.runtimes import EmbeddingSettings
from measurand.core.errors import CellError, ConfigError, ModelStoppedError, ProviderError
from measurand.runtime.embedding import Embedded, open_embedding


def ask(base_url: str, environ: Mapping[str, str] | None = None, **more: Any) -> Embedded:
    """One embedding, which goes through the same HTTP module as everything else."""

    async def run() -> Embedded:
        settings = EmbeddingSettings(provider="openai", model="m", base_url=base_url, **{"max_retries": 0, "timeout_seconds": 5.0, **more})
        embedding = open_embedding("e", settings, environ=environ or {}, resolve=Path)
        try:
            return await embedding.embed(["text"])
        finally:
            await embedding.close()

    return asyncio.run(run())


def answered(embedded: Embedded) -> bool:
    return not isinstance(embedded.vectors[0], CellError)


# ---------------------------------------------------------------- TLS


def test_a_private_authority_and_a_client_certificate(tmp_path: Path) -> None:
    with TlsServer(tmp_path) as server:
        assert answered(ask(server.base_url, {}, **server.certificates.keys()))
        assert server.statuses() == [200]


def test_the_certificate_and_its_key_may_stand_in_one_file(tmp_path: Path) -> None:
    with TlsServer(tmp_path) as server:
        files = server.certificates
        both = tmp_path / "both.pem"
        both.write_bytes(files.client_cert_file.read_bytes() + files.client_key_file.read_bytes())
        assert answered(ask(server.base_url, ca_file=str(files.ca_file), client_cert_file=str(both)))


def test_an_authority_from_the_environment(tmp_path: Path) -> None:
    with TlsServer(tmp_path, require_client=False) as server:
        assert answered(ask(server.base_url, environ={"SSL_CERT_FILE": str(server.certificates.ca_file)}))


def test_an_unknown_authority_stops_and_names_the_key_to_set(tmp_path: Path) -> None:
    with TlsServer(tmp_path, require_client=False) as server:
        with pytest.raises(ModelStoppedError, match=r"certificate of https://127\.0\.0\.1:\d+/v1/embeddings is not trusted .*ca_file"):
            ask(server.base_url)
        assert server.log == []


def test_a_server_of_another_name_is_not_trusted(tmp_path: Path) -> None:
    with TlsServer(tmp_path, require_client=False) as server, ProxyServer({"other.example": server.host}) as proxy:
        with pytest.raises(ModelStoppedError, match="is not trusted"):
            ask("https://other.example/v1", proxy=proxy.url, ca_file=str(server.certificates.ca_file))
        assert server.log == []


def test_without_its_certificate_a_client_is_not_let_in(tmp_path: Path) -> None:
    with TlsServer(tmp_path) as server:
        with pytest.raises((ModelStoppedError, ProviderError), match=r"refuses the TLS connection|no answer from"):
            ask(server.base_url, ca_file=str(server.certificates.ca_file))
        files = server.certificates
        with pytest.raises((ModelStoppedError, ProviderError), match=r"refuses the TLS connection|no answer from"):
            ask(server.base_url, ca_file=str(files.ca_file), client_cert_file=str(files.stranger_cert_file), client_key_file=str(files.stranger_key_file))
        assert server.log == []


@pytest.mark.parametrize("key", ["ca_file", "client_cert_file"])
def test_a_certificate_file_that_is_not_there_or_is_none_is_a_problem_of_the_config(key: str, tmp_path: Path) -> None:
    absent = str(tmp_path / "absent.pem")
    with pytest.raises(ConfigError, match=rf"\[embeddings.e\] {key}: '.*absent.pem' cannot be used"):
        ask("https://127.0.0.1:9/v1", {}, **{key: absent})
    Path(absent).write_text("no certificate")
    with pytest.raises(ConfigError, match=rf"\[embeddings.e\] {key}"):
        ask("https://127.0.0.1:9/v1", {}, **{key: absent})


# ---------------------------------------------------------------- proxies


@pytest.mark.parametrize("where", ["config", "HTTPS_PROXY", "https_proxy"])
def test_a_proxy_is_asked_for_the_host(where: str, tmp_path: Path) -> None:
    with TlsServer(tmp_path) as server, ProxyServer({NAME: server.host}) as proxy:
        keys: dict[str, Any] = {**server.certificates.keys()}
        if where == "config":
            assert answered(ask(f"https://{NAME}/v1", proxy=proxy.url, **keys))
        else:
            assert answered(ask(f"https://{NAME}/v1", environ={where: proxy.url}, **keys))
        assert proxy.connected == [f"{NAME}:443"]
        assert server.statuses() == [200]


def test_loopback_is_never_proxied(tmp_path: Path) -> None:
    with TlsServer(tmp_path) as server, MockServer() as plain, ProxyServer() as proxy:
        environ = {"HTTPS_PROXY": proxy.url, "HTTP_PROXY": proxy.url}
        assert answered(ask(server.base_url, environ, **server.certificates.keys()))
        assert answered(ask(plain.base_url, environ=environ))
        assert answered(ask(plain.base_url, proxy=proxy.url))
        assert (proxy.connected, proxy.forwarded) == ([], [])


@pytest.mark.parametrize("environ", [{"NO_PROXY": NAME}, {"NO_PROXY": ".example"}, {"no_proxy": "*"}])
def test_no_proxy_and_none_keep_away_from_the_proxy(environ: dict[str, str]) -> None:
    with ProxyServer() as proxy:
        cases: tuple[dict[str, Any], ...] = ({"environ": {"HTTPS_PROXY": proxy.url, **environ}}, {"environ": {"HTTPS_PROXY": proxy.url}, "proxy": "none"})
        for more in cases:
            with pytest.raises((ProviderError, ModelStoppedError), match="no answer from"):
                ask(f"https://{NAME}/v1", **more)
        assert proxy.connected == []


def test_a_plain_address_goes_through_the_proxy_too() -> None:
    with MockServer() as server, ProxyServer({"gateway.example": server.host}) as proxy:
        assert answered(ask("http://gateway.example/v1", environ={"HTTP_PROXY": proxy.url}))
        assert proxy.forwarded == ["http://gateway.example/v1/embeddings"]


def test_a_proxy_that_refuses_stops_and_its_password_is_not_told() -> None:
    with ProxyServer(refuse=407) as proxy:
        address = proxy.url.replace("http://", "http://user:planted-password@")
        with pytest.raises(ModelStoppedError, match=r"the proxy .* refuses") as refused:
            ask(f"https://{NAME}/v1", environ={"HTTPS_PROXY": address})
        assert proxy.credentials == ["Basic " + base64.b64encode(b"user:planted-password").decode()]
    assert "planted-password" not in str(refused.value)
    assert proxy.credentials[0] not in str(refused.value)


# ---------------------------------------------------------------- redirects


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with MockServer() as other, MockServer(redirect_to=f"{other.base_url}/embeddings", redirect_status=status) as server:
        with pytest.raises(ModelStoppedError, match=f"answered {status}.*redirects are not followed"):
            ask(server.base_url)
        assert len(server.log) == 1
        assert other.log == []
