"""Why one attempt at a call got no usable answer, and what becomes of the call when no further attempt is made.

Every text in here is shown to people: it is redacted and cut before it gets in.
"""

from __future__ import annotations

from measurand.core.errors import CellError, CellTimeoutError, ProviderError, RateLimitedError


class AttemptError(Exception):
    """One attempt failed; another may succeed. `told_s`: for how long the server asks to be left alone, in seconds; None where it does not say."""

    cell_error: type[CellError] = ProviderError
    unreachable = False

    def __init__(self, message: str, told_s: float | None = None) -> None:
        self.message = message
        self.told_s = told_s
        super().__init__(message)


class ThrottledError(AttemptError):
    """The server has had too many requests (429)."""

    cell_error = RateLimitedError


class UnavailableError(AttemptError):
    """The server failed (5xx, 408), or gave an answer that is none: not JSON, too long, cut off."""


class UnreachableError(AttemptError):
    """No connection, or one that broke before the answer was whole."""

    unreachable = True


class HungError(AttemptError):
    """No whole answer within the time a request may take."""

    cell_error = CellTimeoutError


class UntrustedError(Exception):
    """TLS failed on a certificate, or a proxy refuses us: no further attempt can succeed."""


class DeclinedError(ProviderError):
    """The server understood and declined (400, 404, 413, 422 …): asking the same again is pointless; asking otherwise may not be.

    `parameter`, `words`: what the server names as the reason, as far as it does. `per_row`: the reason lies in this request's texts, e.g. their length.
    """

    def __init__(self, message: str, *, status: int, parameter: str | None = None, code: str | None = None, words: str = "", per_row: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.parameter = parameter
        self.error_code = code
        self.words = words
        self.per_row = per_row
