from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.result import RESULT_KEYS, MetricResult, ResultError, as_json, passed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda of: st.lists(of) | st.dictionaries(st.text(), of),
)


@given(JSON)
def test_json_stays_as_it_is(value: Any) -> None:
    assert as_json(value) == value


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        ((1, {2}), [1, [2]]),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
        (np.array([[1.5, np.nan]]), [[1.5, None]]),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (1j, "1j"),
    ],
)
def test_what_is_no_json_becomes_it(value: Any, wanted: Any) -> None:
    assert as_json(value) == wanted
    json.dumps(as_json(value), allow_nan=False)


@pytest.mark.parametrize(
    ("score", "threshold", "direction", "wanted"),
    [
        (0.5, 0.5, "higher", True),
        (0.5, 0.5, "lower", False),
        (0.4, 0.5, "lower", True),
        (0.4, 0.5, "higher", False),
        (0.5, 0.5, "none", None),
        (None, 0.5, "higher", None),
        (0.5, None, "higher", None),
    ],
)
def test_passed_is_being_on_the_good_side(score: float | None, threshold: float | None, direction: str, wanted: bool | None) -> None:
    assert passed(score, threshold, direction) is wanted


def test_a_result_as_json_has_the_keys_of_the_contract() -> None:
    result = MetricResult("m", "1", "r", "t", 0, None, "error", error=ResultError("timeout", "too long"))
    assert tuple(result.to_dict()) == RESULT_KEYS
    assert result.to_dict()["error"] == {"code": "timeout", "message": "too long"}
    assert repr(result) == "MetricResult(metric='m', status='error', error=ResultError(code='timeout', message='too long', field=None), sample_id='r')"
