from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from tests.catalogue.answered import scored

from measurand.core.request import Embed, Request


def embedding(vectors: Mapping[str, Sequence[float]]) -> Callable[[Request[Any]], Any]:
    """An embedding model that knows these texts; asked for another, it fails."""

    def answer(request: Request[Any]) -> Any:
        assert isinstance(request, Embed)
        return [vectors[text] for text in request.texts]

    return answer


def similarity(vectors: Mapping[str, Sequence[float]], output: str, expected: Any) -> Any:
    return scored("embed_answer_similarity", embedding(vectors), output=output, expected=expected)


def test_a_negative_cosine_is_0_and_kept() -> None:
    """M27: a figure promised in [0, 1] came out negative."""
    found = similarity({"q": [1, 0], "g": [-0.6, 0.8]}, "q", "g")
    assert found.score == 0.0
    assert found.details == {"cosine": pytest.approx(-0.6)}


@pytest.mark.parametrize("pair", [([0, 0, 0], [1, 2, 3]), ([0, 0], [0, 0]), ([math.nan, 1], [1, 1]), ([1, 1], [math.inf, 1])])
def test_what_has_no_direction_is_an_error(pair: tuple[Sequence[float], Sequence[float]]) -> None:
    """M29: zero and non-finite embeddings gave NaN, which wins or poisons every comparison."""
    found = similarity({"a": pair[0], "b": pair[1]}, "a", "b")
    assert (found.status, found.score) == ("error", None)
    assert found.error is not None
    assert found.error.code == "invalid_response"


def test_one_vector_without_direction_spoils_the_cell_however_good_the_others_are() -> None:
    found = similarity({"a": [1, 0], "b": [1, 0], "c": [0, 0]}, "a", ["b", "c"])
    assert found.status == "error"


def test_identical_texts_are_as_similar_as_can_be() -> None:
    vector = [0.1, -0.7, 0.3, 1e-3]
    assert similarity({"text": vector}, "text", "text").score == 1.0


def test_the_best_accepted_answer_counts_in_any_order() -> None:
    vectors = {"a": [1.0, 0.0], "far": [0.0, 1.0], "near": [0.8, 0.6]}
    first, second = (similarity(vectors, "a", order) for order in (["far", "near"], ["near", "far"]))
    assert first.score == second.score == pytest.approx(0.8)
    assert (first.details["reference"], second.details["reference"]) == (1, 0)
