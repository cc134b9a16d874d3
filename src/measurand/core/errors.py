"""The one tree of errors.

Two families. `CellError` is about one row and one metric: it becomes a result with a status and never ends a run. `MeasurandError` ends a
command; each subclass carries its exit code, and the entry point is the only place that turns it into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

MESSAGE_LIMIT = 500  # characters of an error message kept in a result


@frozen
class Problem:
    """One thing that keeps a command from doing its work: what was found, where, and what to write instead."""

    code: str
    """A stable word for programs, e.g. `unknown_metric`."""
    where: str
    """File, line and key ("metrics.toml:14: [run] metrics"), or the option that was typed ("--category")."""
    message: str
    """What was found there."""
    hint: str = ""
    """What is allowed, the nearest known name, what to type. Empty when there is nothing useful to say."""

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}; {self.hint}" if self.hint else text


class MeasurandError(Exception):
    """What ends a command. Base of everything a caller may want to catch."""

    exit_code = 70


class ProblemsError(MeasurandError):
    """Wrong usage, config or data: nothing was spent (exit 2). Carries every problem found, not only the first."""

    exit_code = 2

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UsageError(ProblemsError):
    """What was typed or passed cannot be done."""


class ConfigError(ProblemsError):
    """metrics.toml says something that cannot be. `partial` are the settings without what is wrong, so that the rest can be checked too; None if there are none."""

    partial: Any = None


class DataError(ProblemsError):
    """The data cannot be read, or does not have what was asked of it."""


class DeclarationError(MeasurandError):
    """A metric's declaration contradicts itself; the sentence says how to mend it."""

    exit_code = 2


class ModelStoppedError(MeasurandError):
    """A model can no longer be asked in this run: its key is refused, or it refuses what the config sets. What was paid for is stored (exit 3)."""

    exit_code = 3


class StoreError(MeasurandError):
    """The store cannot be written or read; what it already holds is intact."""

    exit_code = 3


class RunIncompleteError(MeasurandError):
    """A run ended before its end; everything done so far is stored (exit 3)."""

    exit_code = 3

    def __init__(self, reason: str, run_id: str = "") -> None:
        self.reason = reason
        self.run_id = run_id
        self.run: Any = None
        """What `evaluate` would have returned, with the results there are."""
        super().__init__(reason)


class CellError(Exception):
    """Why one metric has no score on one row. `code` is one of the codes of a result's `error`."""

    code = "internal"

    def __init__(self, message: str, field: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        self.message = message[:MESSAGE_LIMIT]
        self.field = field
        self.details = details
        """What the result keeps beside the error, e.g. the first characters of a reply that cannot be read."""
        super().__init__(self.message)


class MissingFieldError(CellError):
    """The row lacks a field the metric needs (status not_applicable)."""

    code = "missing_field"


class UndefinedError(CellError):
    """The metric is not defined for this row, e.g. 0/0 (status not_applicable)."""

    code = "undefined"


class InvalidFieldError(CellError):
    """A field is there but cannot be used as what the metric needs (status error)."""

    code = "invalid_field"


class NotJsonError(InvalidFieldError):
    """An output that should be JSON and is not. A metric of structure, to which that is a finding, takes it as a value: `output: Json | NotJsonError`."""


class CellTimeoutError(CellError):
    """A bounded computation took too long, e.g. a pattern that backtracks for ever (status error)."""

    code = "timeout"


class InvalidResponseError(CellError):
    """A judge's reply cannot be read as an answer to its question (status error)."""

    code = "invalid_response"


class RateLimitedError(CellError):
    """The server kept refusing for too many requests (status error)."""

    code = "rate_limited"


class ProviderError(CellError):
    """A server failed, could not be reached, or answered what is no answer (status error)."""

    code = "provider_error"


class RefusedError(CellError):
    """The model, or a filter before it, would not answer (status error)."""

    code = "refused"


class BudgetExceededError(CellError):
    """The call was not sent: it does not fit into what may still be spent (status error)."""

    code = "budget_exceeded"


class CacheMissError(CellError):
    """A replay needs a reply that is not recorded; nothing was sent (status error)."""

    code = "cache_miss"


class InvalidScoreError(CellError):
    """A metric returned what is no score: NaN, infinite, out of range, of another type (status error)."""

    code = "invalid_score"


NOT_APPLICABLE_CODES = frozenset({"missing_field", "undefined"})
ERROR_CODES = NOT_APPLICABLE_CODES | {
    "invalid_field",
    "timeout",
    "rate_limited",
    "provider_error",
    "invalid_response",
    "invalid_score",
    "refused",
    "budget_exceeded",
    "cache_miss",
    "internal",
}


def nearest(word: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known words most like `word`, best first; empty when none is near."""
    import difflib

    folded = {name.casefold().replace("-", "_"): name for name in known}
    found = difflib.get_close_matches(word.casefold().replace("-", "_"), folded, n=limit, cutoff=0.6)
    return [folded[name] for name in found]


def did_you_mean(word: str, known: Sequence[str] | Iterable[str]) -> str:
    """The question "did you mean X?", or "" when nothing known is near."""
    names = nearest(word, known)
    return f"did you mean {' or '.join(names)}?" if names else ""
