"""What the mock server can be told: how fast it is, what goes wrong, what it refuses, what it answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final

FAULTS: Final = (
    "429",  # refused at once, with the Retry-After of `retry_after`
    "500",
    "503",
    "hang",  # no answer for `hang_s`
    "slow",  # an answer `slow_s` later
    "disconnect",  # the connection is reset instead of an answer
    "cut",  # the connection is closed in the middle of the body
    "truncate",  # half of the reply's text, finish_reason "length"
    "malformed",  # JSON of another shape
    "prose",  # no JSON at all
    "badjson",  # JSON with a syntax error
    "nan",  # NaN in place of the first value
    "count",  # one verdict, claim or text fewer than asked for
    "range",  # 99 in place of the first answer
    "empty",  # ""
    "refuse",  # message.refusal instead of content
    "html",  # a 200 whose body is a web page
)
REFUSABLE: Final = (
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "json_schema",
    "json_object",
    "response_format",
    "logprobs",
    "top_logprobs",
    "seed",
    "n",
)
USAGES: Final = ("full", "absent", "null", "partial", "details")
WRAPS: Final = ("", "fence", "think", "prose", "single_quotes", "trailing_comma")
REFUSAL_STYLES: Final = ("openai", "message", "detail")
EMBEDDING_FAULTS: Final = ("zero", "nan", "short", "missing", "duplicate")


@dataclass(frozen=True)
class Answer:
    """A scripted reply to every chat request whose text matches `match`, the first that does."""

    match: str
    """A regular expression, searched in all messages; "." matches line breaks."""
    reply: Any = ""
    """The reply's text, or an object that becomes its JSON; for another status the whole body."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    times: int = 0
    """Used at most so often; 0: always."""
    top: dict[str, float] | None = None
    """Token → probability at the reply's first token, where logprobs are asked for."""


@dataclass(frozen=True)
class Settings:
    """All settings. `MockServer.configure` and POST /__config change some of them while the server runs."""

    latency_ms: float = 0.0
    jitter_ms: float = 0.0
    ms_per_output_token: float = 0.0
    seed: int = 0

    faults: dict[str, float] = field(default_factory=dict)
    """Fault → share of the requests that have it."""
    fault_on: str = "all"
    """"all", "chat" or "embeddings"."""
    fault_where: str = ""
    """Only requests whose body matches this regular expression can be faulted."""
    fault_once: bool = False
    """An identical body is faulted at most once, so that its repetition succeeds."""
    fault_first: int = 0
    """At most so many faults in all; 0: no limit."""
    retry_after: str | None = "0"
    """Any text for the header; "date:2" is a date two seconds ahead; None: no header."""
    hang_s: float = 3600.0
    slow_s: float = 10.0
    rpm: int = 0
    """A real limit: requests a minute, 429 above; 0: none."""
    max_inflight: int = 0
    """A real limit: requests at once, 429 above; 0: none."""

    refuses: tuple[str, ...] = ()
    """Parameters answered with 400: names of REFUSABLE."""
    refusal_style: str = "openai"
    """How a 400 says it: "openai" (code and param), "message" (only a sentence), "detail" (a 422 of a typed web framework)."""
    no_embeddings: bool = False
    """Embeddings are answered with 501."""
    api_key: str | None = None
    """The one key that is let in; anything else is a 401."""
    echo_authorization: bool = False
    """Every error message quotes the Authorization header, as careless gateways do."""
    forbidden: bool = False
    """Every request is a 403."""
    not_found: bool = False
    """Every request is a 404, as for a model or deployment that is not there."""
    redirect_to: str | None = None
    """Every request is redirected to this address."""
    redirect_status: int = 307
    content_filter: str | None = None
    """Prompts that match this regular expression are a 400 with code content_filter."""
    declines: str | None = None
    """Requests whose body matches this regular expression are a plain 400; "" matches all."""
    context_size: int = 0
    """Longer prompts are a 400 exceed_context_size_error; 0: no limit."""
    slots: int = 0
    """`n` above it is a 400; 0: no limit."""

    usage: str = "full"
    """One of USAGES: what the replies say of their tokens."""
    cached_share: float = 0.0
    """The share of the prompt's tokens that is said to come from the server's cache."""
    model: str | None = None
    """What the server calls the model; None: as it was asked for."""
    fingerprint: str | None = "mock"
    ignore_schema: bool = False
    """A 200 with prose, whatever the response_format."""
    wrap: str = ""
    """One of WRAPS: what stands around the reply's text."""
    answers: tuple[Answer, ...] = ()
    verdict: str = "yes"
    """"yes", "no", or "mixed": by a hash of what is asked."""
    p_yes: float | None = None
    """The probability of yes among yes and no, where logprobs are asked for; None: by `verdict` and a hash."""
    answer_mass: float = 0.98
    """The probability of all answers together; the rest falls on other tokens."""
    score: float | None = None
    """The level or number that is answered; None: the second highest."""
    list_len: int = 4
    """The length of a list whose length nothing prescribes."""

    dim: int = 64
    batch_limit: int = 0
    """More inputs in one embeddings request are a 400; 0: no limit."""
    reversed_embeddings: bool = False
    """Embeddings come in reverse order; their `index` is right."""
    no_base64: bool = False
    """Embeddings are lists of numbers whatever was asked for."""
    bad_embeddings: dict[str, str] = field(default_factory=dict)
    """Regular expression → one of EMBEDDING_FAULTS, for the texts that match."""

    def __post_init__(self) -> None:
        _among("faults", self.faults, FAULTS)
        _among("refuses", self.refuses, REFUSABLE)
        _among("usage", [self.usage], USAGES)
        _among("wrap", [self.wrap], WRAPS)
        _among("verdict", [self.verdict], ("yes", "no", "mixed"))
        _among("fault_on", [self.fault_on], ("all", "chat", "embeddings"))
        _among("refusal_style", [self.refusal_style], REFUSAL_STYLES)
        _among("bad_embeddings", self.bad_embeddings.values(), EMBEDDING_FAULTS)

    def changed(self, changes: dict[str, Any]) -> Settings:
        """The settings with some of them changed; answers may be given as tables."""
        unknown = sorted(set(changes) - {one.name for one in fields(self)})
        if unknown:
            raise ValueError(f"the mock server has no setting {unknown[0]!r}")
        if "answers" in changes:
            changes = {**changes, "answers": tuple(one if isinstance(one, Answer) else Answer(**one) for one in changes["answers"])}
        if "refuses" in changes:
            changes = {**changes, "refuses": tuple(changes["refuses"])}
        return replace(self, **changes)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def _among(name: str, given: Any, allowed: tuple[str, ...]) -> None:
    unknown = [one for one in given if one not in allowed]
    if unknown:
        raise ValueError(f"{name}: {unknown[0]!r} is none of {', '.join(allowed)}")
