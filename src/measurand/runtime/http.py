"""The one place that speaks HTTP: JSON is posted to one server, within its time, size and trust; nothing is retried or followed here."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpx2
from attrs import frozen

from measurand.config.runtimes import RuntimeTable
from measurand.config.secrets import redact
from measurand.core.errors import ConfigError, Problem
from measurand.runtime.faults import HungError, UnavailableError, UnreachableError, UntrustedError
from measurand.runtime.proxies import proxy_for
from measurand.runtime.trust import trust_of

POOLS: Final = 4
"""Connection pools that share the load: one costs 1.1 ms of CPU a call at 64 in flight, four 0.6 (ADR 5)."""
MAX_REPLY_BYTES: Final = 20_000_000
CONNECT_SECONDS: Final = 10.0
KEPT_ALIVE_SECONDS: Final = 4.0  # common servers hang up after 5 s of silence; a request sent into that moment is lost

Headers = Sequence[tuple[str, str]]

_DEFAULTS: Final[Headers] = (("content-type", "application/json"), ("accept", "application/json"), ("user-agent", "measurand"))


@frozen
class Answer:
    """What came back, whatever its status. `headers` are found without regard to case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Sender:
    """Posts to one server over kept-alive connections. Belongs to the event loop that first uses it.

    Transports, not clients: a client's cookies, redirects, authentication and hooks are what must not happen here, and cost a quarter of the CPU of a call.
    """

    def __init__(
        self,
        address: str,
        *,
        timeout_s: float = 60.0,
        connections: int = 16,
        headers: Headers = (),
        query: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        proxy: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.address = address.rstrip("/")
        self.timeout_s = timeout_s
        self._query = urlencode(query or {})
        ours = {name.lower() for name, _ in headers}
        self._headers = [*(default for default in _DEFAULTS if default[0] not in ours), *headers]
        self._urls: dict[str, httpx2.URL] = {}
        self._extensions = {"timeout": {"connect": min(CONNECT_SECONDS, timeout_s)}}
        self._transports = [transport] if transport is not None else [_transport(connections, tls, proxy) for _ in range(POOLS)]
        self._answered = False
        self._in_flight = [0] * len(self._transports)

    def url(self, path: str) -> str:
        """Where `path` ("/chat/completions") is posted to, secrets in the query replaced."""
        return redact(str(self._url(path)))

    def _url(self, path: str) -> httpx2.URL:
        url = self._urls.get(path)
        if url is None:
            text = f"{self.address}/{path.lstrip('/')}"
            url = self._urls[path] = httpx2.URL(f"{text}?{self._query}" if self._query else text)
        return url

    async def post(self, path: str, body: Mapping[str, Any] | bytes, *, headers: Headers = (), timeout_s: float | None = None) -> Answer:
        """Posts JSON to base_url + path. `headers` come after the fixed ones, `timeout_s` bounds the whole call (default: the sender's).

        Any status is an answer, a redirect too: nothing is sent on. Raises `HungError`, `UnreachableError`, `UnavailableError` (a reply
        over 20 MB, or one that breaks the protocol) and `UntrustedError` (certificate or proxy refused).
        """
        content = body if isinstance(body, bytes) else encoded(body)
        request = httpx2.Request("POST", self._url(path), headers=[*self._headers, *headers], content=content, extensions=self._extensions)
        seconds = self.timeout_s if timeout_s is None else timeout_s
        pool = self._in_flight.index(min(self._in_flight))
        self._in_flight[pool] += 1
        try:
            async with asyncio.timeout(seconds):
                answer = await _exchanged(self._transports[pool], request)
                self._answered = True
                return answer
        except (TimeoutError, httpx2.ReadTimeout, httpx2.WriteTimeout):
            raise HungError(f"{self.url(path)} gave no whole answer within {seconds:g} s") from None
        except (httpx2.TransportError, httpx2.DecodingError, OSError) as error:
            raise _fault(error, self.url(path), first=not self._answered) from None
        finally:
            self._in_flight[pool] -= 1

    async def close(self) -> None:
        """Closes every connection."""
        for transport in self._transports:
            await transport.aclose()


def encoded(body: Mapping[str, Any]) -> bytes:
    """Compact JSON in UTF-8. Lone surrogates, which UTF-8 has not, become "?". Raises ValueError for NaN and infinities, TypeError for what is no JSON."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def open_sender(
    settings: RuntimeTable,
    *,
    section: str,
    environ: Mapping[str, str],
    resolve: Callable[[str], Path],
    connections: int,
    address: str | None = None,
    headers: Headers = (),
) -> Sender:
    """The sender of a `[models.…]` or `[embeddings.…]` table; opens no socket.

    `section` ("models.judge") is named in errors, `resolve` finds a config's relative paths, `address` replaces base_url, `headers` are
    the provider's own, which the table's replace. Secret headers are not in it: they are passed with every post.
    Raises `ConfigError` for an address that is none, and for a certificate file that cannot be used.
    """
    target = address or settings.address()
    assert target is not None  # the caller knows that this provider is asked over HTTP
    try:
        httpx2.URL(target)
    except httpx2.InvalidURL as error:
        raise ConfigError(Problem("bad_value", f"[{section}] base_url", f"is no address ({error})", "write the server's address")) from None
    proxy = proxy_for(target, settings.proxy, environ)
    set_by_table = {name.lower() for name in settings.headers}
    secure = urlsplit(target).scheme == "https" or (proxy or "").startswith("https:")
    return Sender(
        target,
        timeout_s=settings.timeout_seconds,
        connections=connections,
        headers=[*(header for header in headers if header[0].lower() not in set_by_table), *settings.headers.items()],
        query=settings.query,
        tls=trust_of(settings, section=section, environ=environ, resolve=resolve, system=_system) if secure else None,
        proxy=proxy,
    )


def _system() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


def _transport(connections: int, tls: ssl.SSLContext | None, proxy: str | None) -> httpx2.AsyncHTTPTransport:
    here = -(-connections // POOLS)
    context = tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody; for plain http, where the default would read the whole store for nothing
    return httpx2.AsyncHTTPTransport(
        verify=context,
        trust_env=False,
        limits=httpx2.Limits(max_connections=here, max_keepalive_connections=here, keepalive_expiry=KEPT_ALIVE_SECONDS),
        proxy=httpx2.Proxy(proxy, ssl_context=context if proxy.startswith("https:") else None) if proxy else None,
    )


async def _exchanged(transport: httpx2.AsyncBaseTransport, request: httpx2.Request) -> Answer:
    response = await transport.handle_async_request(request)
    try:
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > MAX_REPLY_BYTES:
                raise UnavailableError(f"{redact(str(request.url))} sent more than {MAX_REPLY_BYTES // 1_000_000} MB")
            parts.append(part)
    finally:
        await response.aclose()
    return Answer(response.status_code, response.headers, b"".join(parts))


def _fault(error: Exception, url: str, *, first: bool) -> Exception:
    if isinstance(error, httpx2.ConnectTimeout):
        return UnreachableError(f"no connection to {url} within {CONNECT_SECONDS:g} s")
    tls = _tls_error(error)
    if isinstance(tls, ssl.SSLCertVerificationError):
        return UntrustedError(f"the certificate of {url} is not trusted ({tls.verify_message}); ca_file names further authorities")
    if tls is not None and "ALERT" in (tls.reason or ""):
        return UntrustedError(f"{url} refuses the TLS connection ({tls.reason}); client_cert_file and client_key_file say who we are")
    if isinstance(error, httpx2.ProxyError):
        return UntrustedError(f"the proxy on the way to {url} refuses: {redact(str(error))[:200]}")
    if isinstance(error, httpx2.DecodingError):
        return UnavailableError(f"{url} sent an answer that cannot be decompressed")
    if isinstance(error, httpx2.LocalProtocolError):
        return UntrustedError(f"what would be sent to {url} is no HTTP: a header holds what headers cannot")  # its text may quote a secret header
    reason = redact(str(error))[:200] or "the connection broke"
    # TLS 1.3 tells a client without a certificate only after its request, and the connection is often gone before the alert is read
    perhaps = (
        " (perhaps it wants a client certificate: client_cert_file)"
        if first and url.startswith("https:") and not isinstance(error, httpx2.ConnectError)
        else ""
    )
    return UnreachableError(f"no answer from {url}: {reason.rstrip('.')}{perhaps}")


def _tls_error(error: BaseException) -> ssl.SSLError | None:
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None or isinstance(seen, ssl.SSLError):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None
