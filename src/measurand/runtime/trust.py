"""Whom we believe over TLS, and who we say we are."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from pathlib import Path

from measurand.config.runtimes import RuntimeTable
from measurand.core.errors import ConfigError, Problem


def trust_of(
    settings: RuntimeTable, *, section: str, environ: Mapping[str, str], resolve: Callable[[str], Path], system: Callable[[], ssl.SSLContext]
) -> ssl.SSLContext:
    """SSL_CERT_FILE and SSL_CERT_DIR where set, else the system's store; besides them ca_file; the client certificate. Checks cannot be turned off.

    `system` makes a context that trusts the system's store, which each operating system keeps elsewhere. Raises `ConfigError` naming the key whose file cannot be used.
    """
    context = _named(environ, section) or system()
    if settings.ca_file is not None:
        path = resolve(settings.ca_file)
        try:
            context.load_verify_locations(path)
        except (OSError, ValueError) as error:
            raise _unusable(f"[{section}] ca_file", path, error, "a PEM file of certificate authorities") from None
    if settings.client_cert_file is not None:
        certificate = resolve(settings.client_cert_file)
        key = resolve(settings.client_key_file) if settings.client_key_file is not None else None
        try:
            context.load_cert_chain(certificate, key, password="")  # an encrypted key is refused: nobody is there to be asked for its password
        except (OSError, ValueError) as error:
            raise _unusable(f"[{section}] client_cert_file", certificate, error, "a PEM file, its key unencrypted in it or in client_key_file") from None
    return context


def _named(environ: Mapping[str, str], section: str) -> ssl.SSLContext | None:
    file, folder = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    if not file and not folder:
        return None
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except OSError as error:
        where = "SSL_CERT_FILE" if file else "SSL_CERT_DIR"
        raise _unusable(where, Path(file or folder or ""), error, f"[{section}] is asked over TLS: name a PEM file, or unset the variable") from None


def _unusable(where: str, path: Path, error: Exception, hint: str) -> ConfigError:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
    return ConfigError(Problem("bad_file", where, f"{str(path)!r} cannot be used ({reason})", hint))
