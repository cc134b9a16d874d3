from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InvalidResponseError
from measurand.formula.vectors import cosine

NUMBERS = st.floats(-1e150, 1e150).filter(lambda x: x == 0 or abs(x) > 1e-150)
VECTORS = st.lists(NUMBERS, min_size=1, max_size=8).filter(any)


def test_by_hand() -> None:
    assert cosine([3, 4], [4, 3]) == 0.96
    assert cosine([1, 0], [0, 5]) == 0
    assert cosine([1, 2, 3], [-1, -2, -3]) == -1


@given(VECTORS, st.floats(1e-6, 1e6))
def test_a_vector_points_where_it_points_however_long(vector: list[float], length: float) -> None:
    assert cosine(vector, vector) == 1.0
    assert cosine(vector, [-x for x in vector]) == -1.0
    assert cosine(vector, [x * length for x in vector]) == pytest.approx(1.0)


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(NUMBERS, min_size=n, max_size=n).filter(any)] * 2)))
def test_symmetric_bounded_and_as_numpy_says(pair: tuple[list[float], list[float]]) -> None:
    import numpy as np

    a, b = pair
    found = cosine(a, b)
    assert found == cosine(b, a)
    assert -1.0 <= found <= 1.0
    one, other = np.array(a) / max(map(abs, a)), np.array(b) / max(map(abs, b))
    assert found == pytest.approx(float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other))), abs=1e-12)


def test_single_precision_arrays_are_read_as_numbers() -> None:
    import numpy as np

    vector = np.array([0.1, 0.7, -0.3], dtype=np.float32)
    assert cosine(vector, vector) == 1.0  # type: ignore[arg-type]  # an array is what a runtime gives


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        ([0, 0], [1, 2], "a vector of zeros, which has no direction"),
        ([0, 0], [0, 0], "a vector of zeros"),
        ([1, 2], [math.nan, 1], "NaN or infinity in it"),
        ([1, 2], [math.inf, 1], "NaN or infinity in it"),
        ([1, 2], [1, 2, 3], "vectors of 2 and 3 numbers"),
        ([], [], "a vector of zeros"),
    ],
)
def test_what_has_no_direction_is_an_error_and_no_similarity(a: list[float], b: list[float], sentence: str) -> None:
    with pytest.raises(InvalidResponseError, match=sentence):
        cosine(a, b)
