"""Which metric the rows can feed, after one look at their fields."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from measurand.index import registry
from measurand.run.availability import Availability, Lacking

F1 = registry["code_token_f1"]
RECALL = registry["code_context_recall"]


def seen(*rows: dict[str, Any], columns: tuple[str, ...] = ()) -> Availability:
    availability = Availability(columns)
    for index, fields in enumerate(rows):
        availability.observe(fields, f"r{index}")
    return availability


def test_no_rows_feed_nothing() -> None:
    nothing = seen()
    assert (nothing.rows, nothing.fed(F1), nothing.feeds_every_row(F1)) == (0, 0, False)
    assert nothing.everywhere == nothing.somewhere == frozenset()


def test_rows_are_counted_by_the_fields_they_have() -> None:
    both, one = {"output": "x", "expected": "x"}, {"output": "x"}
    found = seen(both, one, both, one, one, one)
    assert (found.rows, found.fed(F1), found.feeds_every_row(F1)) == (6, 2, False)
    assert found.lacking(F1) == Lacking(4, ("r1", "r3", "r4"), ("expected",))
    assert found.everywhere == {"output"}
    assert found.somewhere == {"output", "expected"}


def test_a_house_column_is_there_where_it_has_a_value() -> None:
    rows: tuple[dict[str, Any], ...] = ({"metadata": {"tier": "gold"}}, {"metadata": {"tier": ""}}, {"metadata": {"tier": None}}, {"metadata": {}}, {})
    found = seen(*rows, columns=("metadata.tier",))
    assert [pattern for pattern in found.somewhere if pattern.startswith("metadata.")] == ["metadata.tier"]
    assert sum(rows_of for have, rows_of in _patterns(found) if "metadata.tier" in have) == 1


def _patterns(found: Availability) -> list[tuple[frozenset[str], int]]:
    return [(have, pattern.rows) for have, pattern in found._patterns.items()]


@given(st.lists(st.sets(st.sampled_from(["output", "expected", "contexts", "reference_contexts"]))))
def test_fed_and_lacking_rows_are_all_the_rows(fields: list[set[str]]) -> None:
    found = seen(*(dict.fromkeys(names, "x") for names in fields))
    for metric in (F1, RECALL):
        assert found.fed(metric) + found.lacking(metric).rows == found.rows == len(fields)
        assert found.fed(metric) == sum(metric.feedable(names) for names in fields)
