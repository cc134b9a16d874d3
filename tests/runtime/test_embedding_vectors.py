from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import CellError, InvalidResponseError
from measurand.runtime.embedding_vectors import vectors_of

if TYPE_CHECKING:
    from measurand.runtime.embedding_vectors import Vector


def entry(index: int | None, embedding: Any) -> dict[str, Any]:
    return {"object": "embedding", "embedding": embedding} | ({} if index is None else {"index": index})


def messages(found: list[Vector | CellError]) -> list[str]:
    return [one.message if isinstance(one, CellError) else "" for one in found]


def test_vectors_are_attached_by_index_not_by_position() -> None:
    found = vectors_of([entry(1, [0.0, 1.0]), entry(0, [1.0, 0.0])], 2)
    assert [list(one) for one in found if not isinstance(one, CellError)] == [[1.0, 0.0], [0.0, 1.0]]
    assert all(isinstance(one, np.ndarray) and one.dtype == np.float32 for one in found)


def test_without_any_index_the_position_counts_if_the_number_is_right() -> None:
    found = vectors_of([entry(None, [1, 0]), entry(None, [0, 1])], 2)
    assert [list(one) for one in found if not isinstance(one, CellError)] == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(InvalidResponseError, match="1 vectors without index for 2 texts"):
        vectors_of([entry(None, [1, 0])], 2)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8).filter(any))
def test_base64_and_numbers_are_the_same_vector(values: list[float]) -> None:
    coded = base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
    plain, packed = vectors_of([entry(0, values), entry(1, coded)], 2)
    assert not isinstance(plain, CellError)
    assert not isinstance(packed, CellError)
    assert plain.tobytes() == packed.tobytes()


@pytest.mark.parametrize(
    ("embedding", "words"),
    [
        ([0.0, 0.0], "a vector of zeros"),
        ([float("nan"), 1.0], "NaN or an infinity"),
        ([1e300, 1.0], "NaN or an infinity"),  # not finite once it is a float32
        ([1.0], "a vector of 1 numbers, where others have 2"),
        ([], "a vector of 0 numbers, where others have 2"),
        ("not base64!", "no vector"),
        ("AAA=", "no vector"),  # two bytes are no float32
        ([True, False], "no vector"),
        (["1", "2"], "no vector"),
        (None, "no vector"),
        ({}, "no vector"),
    ],
)
def test_one_bad_vector_is_the_error_of_its_text_alone(embedding: Any, words: str) -> None:
    found = vectors_of([entry(0, [1.0, 0.0]), entry(1, embedding), entry(2, [0.0, 1.0])], 3)
    assert messages(found)[0] == messages(found)[2] == ""
    assert words in messages(found)[1]


def test_a_text_with_no_vector_or_with_two_has_none() -> None:
    found = vectors_of([entry(0, [1.0]), entry(0, [2.0]), entry(2, [1.0])], 3)
    assert messages(found) == ["the server sent more than one vector for this text", "the server sent no vector for this text", ""]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "no list of vectors"),
        ({"0": [1.0]}, "no list of vectors"),
        ([[1.0]], "no list of vectors"),
        ([entry(5, [1.0])], "index 5 for 1 texts"),
        ([entry(-1, [1.0])], "index -1 for 1 texts"),
        ([{"index": "0", "embedding": [1.0]}], "index '0' for 1 texts"),
        ([{"index": True, "embedding": [1.0]}], "index True for 1 texts"),
        ([entry(0, [1.0]), entry(None, [1.0])], "index None for 1 texts"),
    ],
)
def test_a_reply_that_cannot_be_attached_to_texts_is_an_error_of_all(data: Any, words: str) -> None:
    with pytest.raises(InvalidResponseError, match=words):
        vectors_of(data, 1)


def test_nothing_asked_nothing_found() -> None:
    assert vectors_of([], 0) == []
