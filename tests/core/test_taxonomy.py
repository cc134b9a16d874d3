from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import UsageError
from measurand.core.taxonomy import DERIVED, MEANINGS, MetricCategory, derived_flags

ADR_007 = {
    "RequiresContext": 1,
    "RequiresGroundTruth": 2,
    "RequiresToolUsage": 4,
    "RequiresEmbeddings": 8,
    "RAG": 16,
    "Agentic": 32,
    "Conversation": 64,
    "Safety": 128,
    "Faithfulness": 256,
    "Relevance": 512,
    "Coherence": 1024,
    "Fluency": 2048,
    "LLMBased": 4096,
    "EmbeddingBased": 8192,
    "CodeBased": 16384,
}


def test_the_first_fifteen_flags_keep_the_values_of_the_adr() -> None:
    assert {name: int(MetricCategory[name]) for name in ADR_007} == ADR_007
    assert [flag.name for flag in MetricCategory][15:] == ["Correctness", "Retrieval", "Structure", "Performance", "Memory", "Multimodal"]


@pytest.mark.parametrize("word", ["RequiresContext", "requires-context", "requires_context", "REQUIRES CONTEXT"])
def test_a_flag_is_read_in_any_spelling(word: str) -> None:
    assert MetricCategory.parse(word) is MetricCategory.RequiresContext


def test_an_unknown_word_is_answered_with_what_is_near() -> None:
    with pytest.raises(UsageError) as refused:
        MetricCategory.parse("agnetic")
    assert str(refused.value) == "no category is called 'agnetic'; did you mean Agentic?"


def test_printing_is_words_and_the_zero_is_none() -> None:
    assert str(MetricCategory.RAG | MetricCategory.LLMBased) == "RAG | LLMBased"
    assert str(MetricCategory(0)) == "none"
    assert f"{MetricCategory.RAG}" == "RAG"


@given(st.sets(st.sampled_from(list(MetricCategory))))
def test_words_read_back_to_the_flags_they_were_printed_from(flags: set[MetricCategory]) -> None:
    whole = MetricCategory(0)
    for flag in flags:
        whole |= flag
    back = MetricCategory(0)
    for word in whole.words:
        back |= MetricCategory.parse(word)
    assert back == whole


def test_every_flag_has_a_meaning() -> None:
    assert set(MEANINGS) == set(MetricCategory)


def test_a_one_of_group_sets_a_bit_only_when_every_alternative_would() -> None:
    both = derived_flags([], [("reference_contexts", "expected")], judge=False, embedder=False)
    assert both == MetricCategory.RequiresGroundTruth | MetricCategory.CodeBased
    one = derived_flags([], [("contexts", "output")], judge=False, embedder=False)
    assert one == MetricCategory.CodeBased


def test_reference_contexts_need_context_and_ground_truth() -> None:
    flags = derived_flags(["reference_contexts"], [], judge=True, embedder=True)
    assert flags == (
        MetricCategory.RequiresContext
        | MetricCategory.RequiresGroundTruth
        | MetricCategory.LLMBased
        | MetricCategory.EmbeddingBased
        | MetricCategory.RequiresEmbeddings
    )
    assert not flags & ~DERIVED
