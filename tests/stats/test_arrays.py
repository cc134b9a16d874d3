from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.stats.arrays import dense, same_length


@given(st.lists(st.integers(-2, 10**12), min_size=1, max_size=30))
def test_dense_codes_group_the_same_rows(codes: list[int]) -> None:
    found = dense(np.array(codes, np.int64))
    assert found.min() >= 0
    assert found.max() < 4 * len(codes) + len(codes)
    for left, code in enumerate(codes):
        for right in range(left + 1, len(codes)):
            assert bool(found[left] == found[right]) is (code == codes[right] and code >= 0)


def test_dense_leaves_the_callers_array_alone() -> None:
    codes = np.array([3, -1, -1])
    dense(codes)
    assert codes.tolist() == [3, -1, -1]


def test_a_wrong_length_is_named() -> None:
    with pytest.raises(ValueError, match=r"'clusters' has shape \(2,\); one-dimensional with 3 entries"):
        same_length(np.zeros(3), clusters=np.zeros(2))
    with pytest.raises(ValueError, match=r"'values' has shape \(1, 3\)"):
        same_length(np.zeros((1, 3)))
