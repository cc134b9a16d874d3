"""Evenly spread rows of data whose length nobody knows before its end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.record import Context, Message, ToolCall
from measurand.index import registry
from measurand.run.sample import MOST, EvenSample, characters

RELEVANCE = registry["llm_answer_relevance"]
FAITHFULNESS = registry["llm_faithfulness"]


def seen(rows: list[dict[str, Any]], *metrics: Any) -> EvenSample:
    sample = EvenSample(metrics or (RELEVANCE,))
    for row in rows:
        sample.observe(row, "")
    return sample


@given(st.integers(0, 5_000))
def test_at_most_500_rows_evenly_spread(rows: int) -> None:
    kept = [int(one.fields["input"]) for one in seen([{"input": str(at), "output": "x"} for at in range(rows)]).rows()]
    steps = {b - a for a, b in pairwise(kept)}
    assert len(kept) <= MOST
    assert len(steps) <= 1
    if rows <= MOST:
        assert len(kept) == rows
    else:
        assert len(kept) > MOST // 2
        assert rows - kept[-1] <= next(iter(steps))


def test_the_sizes_are_those_of_all_rows_that_can_feed_a_metric() -> None:
    rows: list[dict[str, Any]] = [{"input": "q", "output": "x" * 9, "expected": "y" * 100} for _ in range(1_000)] + [{"input": "q"}] * 5
    (sizes,) = seen(rows).sizes
    assert (sizes.rows, sizes.characters) == (1_000, 10_000)


def test_a_row_of_a_rare_kind_is_kept_so_that_no_metric_is_planned_without_one() -> None:
    rows: list[dict[str, Any]] = [{"input": "q", "output": "x"} for _ in range(2_000)]
    rows[777] = {"input": "q", "output": "x", "contexts": [Context("c")]}
    sample = seen(rows, RELEVANCE, FAITHFULNESS)
    assert sum(one.characters[1] is not None for one in sample.rows()) == 1
    assert sample.sizes[1].rows == 1


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("abc", 3),
        (None, 0),
        ([Context("four"), Context(None, "id")], 6),
        ([Message("user", "hi", (ToolCall("f", {"k": "v"}),))], 4 + 2 + 1 + 2),
        ({"a": [1, True]}, 1 + 1 + 4),
        ("é", 1),
    ],
)
def test_characters_are_those_of_texts_at_any_depth(value: Any, size: int) -> None:
    assert characters(value) == size
