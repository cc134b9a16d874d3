"""The taxonomy: what a metric is about, what it needs, and how it is computed, as flags that can be combined and queried."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from typing import Final

from measurand.core.errors import Problem, UsageError, did_you_mean


class MetricCategory(IntFlag):
    """Flags of a metric. The first fifteen values are those of ADR-007 of AgentEval; only domain and quality bits are ever written by hand."""

    RequiresContext = 1
    RequiresGroundTruth = 2
    RequiresToolUsage = 4
    RequiresEmbeddings = 8
    RAG = 16
    Agentic = 32
    Conversation = 64
    Safety = 128
    Faithfulness = 256
    Relevance = 512
    Coherence = 1024
    Fluency = 2048
    LLMBased = 4096
    EmbeddingBased = 8192
    CodeBased = 16384
    Correctness = 1 << 15
    Retrieval = 1 << 16
    Structure = 1 << 17
    Performance = 1 << 18
    Memory = 1 << 19
    Multimodal = 1 << 20

    @classmethod
    def parse(cls, word: str) -> MetricCategory:
        """The flag that `word` names: `rag`, `RequiresContext`, `requires-context` and `requires_context` are all read.

        Raises `UsageError` naming the nearest flags.
        """
        try:
            return _BY_WORD[_folded(word)]
        except KeyError:
            raise UsageError(unknown_category(word)) from None

    @property
    def words(self) -> tuple[str, ...]:
        """The names of the single flags in it, lowest value first; empty for the zero."""
        value = int(self)
        return tuple(name for name, bit in _BITS if value & bit)

    def __str__(self) -> str:
        return " | ".join(self.words) or "none"

    def __repr__(self) -> str:
        return f"<MetricCategory {self}>"


def _folded(word: str) -> str:
    return word.strip().replace("-", "").replace("_", "").replace(" ", "").lower()


_BITS: Final = tuple((flag.name or "", int(flag)) for flag in MetricCategory)
_BY_WORD: Final = {_folded(name): MetricCategory(bit) for name, bit in _BITS}

MEANINGS: Final[dict[MetricCategory, str]] = {
    MetricCategory.RequiresContext: "needs contexts or reference_contexts",
    MetricCategory.RequiresGroundTruth: "needs expected, reference_contexts, expected_tool_calls, topics or facts",
    MetricCategory.RequiresToolUsage: "needs tool_calls or expected_tool_calls",
    MetricCategory.RequiresEmbeddings: "uses an embedding model",
    MetricCategory.RAG: "retrieval-augmented generation",
    MetricCategory.Agentic: "agents: tools, trajectories, goals",
    MetricCategory.Conversation: "several turns",
    MetricCategory.Safety: "harms, leaks, policy",
    MetricCategory.Faithfulness: "is the output supported by what was retrieved",
    MetricCategory.Relevance: "does it address what was asked",
    MetricCategory.Coherence: "does it hang together",
    MetricCategory.Fluency: "is it well written",
    MetricCategory.LLMBased: "computed by asking a model",
    MetricCategory.EmbeddingBased: "computed from embeddings",
    MetricCategory.CodeBased: "computed by code alone",
    MetricCategory.Correctness: "is it right, measured against a reference or the environment",
    MetricCategory.Retrieval: "what was retrieved, and in which order",
    MetricCategory.Structure: "JSON and its schema",
    MetricCategory.Performance: "time, tokens, money",
    MetricCategory.Memory: "what was kept from earlier",
    MetricCategory.Multimodal: "images, audio, video",
}

DERIVED: Final = (
    MetricCategory.RequiresContext
    | MetricCategory.RequiresGroundTruth
    | MetricCategory.RequiresToolUsage
    | MetricCategory.RequiresEmbeddings
    | MetricCategory.LLMBased
    | MetricCategory.EmbeddingBased
    | MetricCategory.CodeBased
)
"""Bits that follow from a metric's fields and instruments and are never written."""

_FEEDS: Final = (
    (MetricCategory.RequiresContext, frozenset({"contexts", "reference_contexts"})),
    (MetricCategory.RequiresGroundTruth, frozenset({"expected", "reference_contexts", "expected_tool_calls", "topics", "facts"})),
    (MetricCategory.RequiresToolUsage, frozenset({"tool_calls", "expected_tool_calls"})),
)


def derived_flags(required: Iterable[str], one_of: Iterable[tuple[str, ...]], *, judge: bool, embedder: bool) -> MetricCategory:
    """The bits that follow from the required fields, the one-of groups and the instruments used.

    A one-of group sets a bit only when every alternative would; optional fields set none.
    """
    fields = frozenset(required)
    groups = tuple(one_of)
    bits = 0
    for flag, feeding in _FEEDS:
        if fields & feeding or any(feeding.issuperset(group) for group in groups):
            bits |= flag
    if judge:
        bits |= MetricCategory.LLMBased
    if embedder:
        bits |= MetricCategory.EmbeddingBased | MetricCategory.RequiresEmbeddings
    if not judge and not embedder:
        bits |= MetricCategory.CodeBased
    return MetricCategory(bits)


def unknown_category(word: str, where: str = "") -> Problem:
    """What to answer to a word that names no flag."""
    names = [name for name, _ in _BITS]
    hint = did_you_mean(word, names) or "one of " + ", ".join(names)
    return Problem("unknown_category", where, f"no category is called '{word}'", hint)
