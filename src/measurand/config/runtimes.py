"""[models.NAME] and [embeddings.NAME]: who may be asked, where, and within which limits."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from measurand.config.secrets import is_secret, url_secret
from measurand.config.table import Above0, AtLeast0, Count, CountOr0, Table, Text, Variable, refuse

MODEL_PROVIDERS: Final = ("openai", "azure", "anthropic", "systemone")
EMBEDDING_PROVIDERS: Final = ("local", "openai", "azure")
WITHOUT_LOGPROBS: Final = frozenset({"anthropic", "systemone"})
"""Providers whose protocol has no log-probabilities of tokens: there is nothing to find out."""
DEFAULT_BASE_URLS: Final = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_NEEDS_BASE_URL = frozenset({"azure", "systemone"})


def _web_address(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    secret = url_secret(value)
    if secret:
        refuse(f"holds {secret}, which may not stand in a file", "use api_key_env or headers_env, which name an environment variable", code="secret_in_config")
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        refuse(f"is no URL ({error})", "e.g. http://127.0.0.1:8080/v1")
    if parts.scheme not in {"http", "https"} or not host or any(c.isspace() or not c.isprintable() for c in value) or "\\" in value:
        refuse("is no http or https URL", "e.g. http://127.0.0.1:8080/v1")
    if parts.fragment or parts.query:
        refuse("may have no query or fragment", 'write query = { name = "value" } beside it')
    return value


def _proxy(value: Any) -> Any:
    return value if value == "none" else _web_address(value)


_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
_OF_THE_CONNECTION: Final = frozenset({"connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"})
_INSTEAD: Final = "name an environment variable instead, in api_key_env or headers_env"


def _plain_name(name: str) -> str:
    if is_secret(name):
        refuse("holds a secret, which may not stand in a file", _INSTEAD, code="secret_in_config")
    return name


def _plain_body(value: Any) -> Any:
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            for name in one:
                _plain_name(str(name))
            pending += one.values()
        elif isinstance(one, list):
            pending += one
    return value


def _header_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        refuse("is no name of an HTTP header", "letters, digits and '-', e.g. X-Team", code="bad_header")
    if name.lower() in _OF_THE_CONNECTION:
        refuse("is a header of the connection, which cannot be set", "leave it out", code="bad_header")
    return name


def _header_value(value: str) -> str:
    if not fits_header(value):
        refuse("holds what no HTTP header can", "printable ASCII on one line, without blanks at its ends", code="bad_header")
    return value


def fits_header(value: str) -> bool:
    """Whether an HTTP header can hold it: no line breaks, nothing beyond ASCII, no blanks at the ends."""
    return value.isascii() and value.isprintable() and value == value.strip()


PlainName = Annotated[Text, AfterValidator(_plain_name)]
HeaderName = Annotated[Text, AfterValidator(_header_name)]
HeaderValue = Annotated[str, AfterValidator(_header_value)]


class ModelPrice(Table):
    """USD per million tokens."""

    input: AtLeast0
    """USD per million tokens sent."""
    output: AtLeast0
    """USD per million tokens received."""


class EmbeddingPrice(Table):
    """USD per million tokens; embeddings have no output tokens."""

    input: AtLeast0
    """USD per million tokens sent."""


class RuntimeTable(Table):
    """The keys models and embeddings share."""

    provider: Text
    """Who serves it: openai (any compatible server), azure, anthropic, systemone; for embeddings local, openai, azure; or a provider plugin's name."""
    model: Text
    """The model's name as the server knows it; for azure the deployment."""
    base_url: Annotated[str, BeforeValidator(_web_address)] | None = None
    """The server's address, http or https, without user name and query. Default: the provider's own."""
    api_key_env: Variable | None = None
    """Name of the environment variable that holds the key; NAME_FILE is read where NAME is unset."""
    headers: dict[Annotated[HeaderName, AfterValidator(_plain_name)], HeaderValue] = Field(default_factory=dict)
    """HTTP headers sent with every request. Secret ones go into headers_env."""
    headers_env: dict[HeaderName, Variable] = Field(default_factory=dict)
    """HTTP header → name of the environment variable that holds its value."""
    query: dict[PlainName, str] = Field(default_factory=dict)
    """Query parameters of every request, e.g. api-version; part of a recorded call's key."""
    extra_body: Annotated[dict[str, Any], BeforeValidator(_plain_body)] = Field(default_factory=dict)
    """Passed through into the request's JSON; part of a recorded call's key."""
    ca_file: Text | None = None
    """PEM file of certificate authorities trusted besides the system's."""
    client_cert_file: Text | None = None
    """PEM file of the client certificate."""
    client_key_file: Text | None = None
    """PEM file of the client certificate's key."""
    proxy: Annotated[str, BeforeValidator(_proxy)] | None = None
    """"none", or the address of a proxy. Default: HTTPS_PROXY and NO_PROXY of the environment."""
    timeout_seconds: Above0 = 60.0
    """Longest time one request may take, in seconds."""
    deadline_seconds: Above0 | None = None
    """Longest time one call may take with all its retries, in seconds. Default: no limit but max_retries."""
    max_retries: CountOr0 = 5
    """How often a call is tried again after 429, 5xx or a connection fault."""
    max_concurrency: Count = 16
    """Requests in flight at once."""
    requests_per_minute: Count | None = None
    """Limit of requests a minute. Default: none."""
    tokens_per_minute: Count | None = None
    """Limit of tokens a minute, sent and received. Default: none."""
    max_input_tokens: Count | None = None
    """Longest input the model takes; longer records are fitted to it by a stated rule."""
    identity: Text | None = None
    """Who answers, part of a recorded call's key. Default: base_url."""

    @model_validator(mode="after")
    def _agrees(self) -> RuntimeTable:
        if self.provider in _NEEDS_BASE_URL and self.base_url is None:
            refuse(f"the provider {self.provider} has no address of its own", "write base_url", code="missing_key")
        if self.client_key_file is not None and self.client_cert_file is None:
            refuse("has no certificate to go with", "write client_cert_file too", key="client_key_file", code="missing_key")
        twice = {name.lower() for name in self.headers} & {name.lower() for name in self.headers_env}
        if twice:
            refuse(f"the header {min(twice)!r} stands in headers and in headers_env", "keep one", key="headers_env", code="conflicting_keys")
        return self

    def address(self) -> str | None:
        """base_url, or the provider's own address; None where nothing is sent (local) or a plugin decides."""
        return self.base_url or DEFAULT_BASE_URLS.get(self.provider)


class ModelSettings(RuntimeTable):
    """A named model that may be bound as judge."""

    temperature: AtLeast0 | None = None
    """Sampling temperature. Not sent when absent."""
    p: Literal["auto", "logprobs", "sampled"] = "auto"
    """Where probabilities come from: token log-probabilities, repeated draws, or what the server can do."""
    max_output_tokens: Count | None = None
    """Longest reply, in tokens. Not sent when absent."""
    prefix_cache: bool = False
    """Send a row's first request alone so that the server's prefix cache serves the others."""
    family: Text | None = None
    """The model's family for the independence rule, e.g. "gpt"."""
    price: ModelPrice | None = None
    """USD per million tokens. Default: looked up in the installed price tables."""
    note: Text | None = None
    """What every summary says of this model, e.g. that it is too small to be trusted."""


class EmbeddingSettings(RuntimeTable):
    """A named embedding model."""

    price: EmbeddingPrice | None = None
    """USD per million tokens. Default: looked up in the installed price tables."""
