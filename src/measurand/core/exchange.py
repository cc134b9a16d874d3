"""What is sent to a model and what comes back, as values: the same for every provider, for the record of calls, and for a plan that sends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import field, frozen

Finish: TypeAlias = Literal["stop", "length", "filtered", "refused"]
FINISHES: Final[tuple[Finish, ...]] = ("stop", "length", "filtered", "refused")

Way: TypeAlias = Literal["logprobs", "sampled", "typed"]
"""Where the probabilities of an answer come from (judge.md): token log-probabilities, repeated structured replies, or the server itself."""


@frozen
class ChatMessage:
    """One message: role "system" or "user", and its text."""

    role: str
    content: str


@frozen
class ModelRequest:
    """A request before any adaptation to a server. All of it is part of a recorded call's key."""

    messages: tuple[ChatMessage, ...]
    schema: Mapping[str, Any] | None = None
    """The JSON Schema that the reply has; None: free text."""
    logprobs: bool = False
    """Whether the log-probabilities of the reply's tokens are wanted, 20 alternatives for each."""
    max_tokens: int | None = None
    """Most tokens that an answer of this form needs; None: the model's setting decides."""
    draw: int = 0
    """Which repetition of the same question this is, from 0."""
    typed: Mapping[str, Any] | None = None
    """The same request as `{"state": …, "questions": {id: …}}`, for a provider whose wire format that is; then messages are only for people to read."""


@frozen
class Token:
    """One token of a reply. `top`: the likeliest tokens at its place with their log-probabilities, itself maybe among them."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@frozen
class TokenUsage:
    """Tokens of one call. `reported`: by the server; False: at least one of the figures is an estimate."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reported: bool = True


@frozen
class Completion:
    """A model's reply."""

    text: str
    finish: Finish = "stop"
    tokens: tuple[Token, ...] | None = None
    typed: Mapping[str, Mapping[str, float]] | None = None
    """Question id → answer → probability, from a provider that answers typed questions."""
    usage: TokenUsage = field(default=TokenUsage(0, 0, 0, False))
    model: str | None = None
    """What the server calls the model that answered."""
    fingerprint: str | None = None
    """The server's `system_fingerprint`, where it gives one."""
    latency_s: float = 0.0
    """Seconds from sending to the reply, of the attempt that succeeded."""
