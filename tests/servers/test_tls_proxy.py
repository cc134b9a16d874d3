"""The HTTPS server and the proxy, seen through clients of the standard library."""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path

import pytest
from tests.servers.mock import MockServer
from tests.servers.proxy import ProxyServer
from tests.servers.tls import NAME, TlsServer


def context(server: TlsServer, who: str | None) -> ssl.SSLContext:
    files = server.certificates
    made = ssl.create_default_context(cafile=str(files.ca_file))
    if who == "client":
        made.load_cert_chain(files.client_cert_file, files.client_key_file)
    if who == "stranger":
        made.load_cert_chain(files.stranger_cert_file, files.stranger_key_file)
    return made


def models(connection: http.client.HTTPConnection, path: str = "/v1/models") -> str:
    connection.request("GET", path)
    name = json.loads(connection.getresponse().read())["data"][0]["id"]
    connection.close()
    return str(name)


def test_only_a_client_with_a_certificate_of_the_authority_is_let_in(tmp_path: Path) -> None:
    with TlsServer(tmp_path) as server:
        assert models(http.client.HTTPSConnection(server.host, timeout=5, context=context(server, "client"))) == "mock"
        for who in (None, "stranger"):
            connection = http.client.HTTPSConnection(server.host, timeout=5, context=context(server, who))
            with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
                models(connection)
            connection.close()
        assert len(server.log) == 1


def test_a_client_that_does_not_know_the_authority_leaves(tmp_path: Path) -> None:
    with TlsServer(tmp_path, require_client=False) as server:
        connection = http.client.HTTPSConnection(server.host, timeout=5)
        with pytest.raises(ssl.SSLCertVerificationError):
            models(connection)
        connection.close()
        assert models(http.client.HTTPSConnection(server.host, timeout=5, context=context(server, None))) == "mock"


def test_the_proxy_tunnels_to_a_name_that_only_it_knows(tmp_path: Path) -> None:
    with TlsServer(tmp_path) as server, ProxyServer({NAME: server.host}) as proxy:
        connection = http.client.HTTPSConnection(proxy.host, timeout=5, context=context(server, "client"))
        connection.set_tunnel(NAME, 443)
        assert models(connection) == "mock"
        assert (proxy.connected, proxy.forwarded) == ([f"{NAME}:443"], [])


def test_the_proxy_forwards_plain_requests_and_refuses() -> None:
    with MockServer() as server, ProxyServer() as proxy:
        address = f"{server.root}/v1/models?a=1"
        assert models(http.client.HTTPConnection(proxy.host, timeout=5), address) == "mock"
        assert (proxy.forwarded, server.log[0]["path"]) == ([address], "/v1/models?a=1")
    with ProxyServer(refuse=407) as proxy:
        connection = http.client.HTTPSConnection(proxy.host, timeout=5)
        connection.set_tunnel(NAME, 443)
        with pytest.raises(OSError, match="407"):
            models(connection)
        connection.close()
