"""An HTTPS mock server with a certificate authority of its own, that lets in only clients with a certificate of it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import trustme
from tests.servers.mock import MockServer

NAME: Final = "judge.example"
"""A name that the server's certificate has besides the loopback's; no resolver knows it."""


@dataclass(frozen=True)
class Certificates:
    """PEM files of one authority, and of a client of another."""

    ca_file: Path
    client_cert_file: Path
    client_key_file: Path
    stranger_cert_file: Path
    stranger_key_file: Path
    server: ssl.SSLContext
    """The server's side: its certificate, and that a client's is required."""

    def keys(self) -> dict[str, str]:
        """The settings of a model that is let in."""
        return {"ca_file": str(self.ca_file), "client_cert_file": str(self.client_cert_file), "client_key_file": str(self.client_key_file)}


def certificates(folder: Path, *, require_client: bool = True) -> Certificates:
    """Writes certificates into a folder."""
    authority, stranger = trustme.CA(), trustme.CA()
    ca_file = folder / "ca.pem"
    authority.cert_pem.write_to_path(ca_file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(NAME, "localhost", "127.0.0.1").configure_cert(context)
    if require_client:
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)
    client, other = (_written(one.issue_cert("client.example"), folder, name) for one, name in ((authority, "client"), (stranger, "stranger")))
    return Certificates(ca_file, *client, *other, context)


def _written(certificate: trustme.LeafCert, folder: Path, name: str) -> tuple[Path, Path]:
    cert_file, key_file = folder / f"{name}.pem", folder / f"{name}.key"
    cert_file.write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    certificate.private_key_pem.write_to_path(key_file)
    return cert_file, key_file


class TlsServer(MockServer):
    """A mock server behind HTTPS. `certificates` are what a client needs."""

    def __init__(self, folder: Path, *, require_client: bool = True, **settings: Any) -> None:
        self.certificates = certificates(folder, require_client=require_client)
        super().__init__(self.certificates.server, **settings)
