from __future__ import annotations

from typing import Any

import pytest

from measurand.core.errors import DataError

from .files import Survey, identities  # noqa: TID252  # tests are imported by path, there is no package to name

ROWS: list[dict[str, Any]] = [
    {"id": "a", "input": "q1", "tags": ["prod", "en"], "reward": 1, "metadata": {"lang": "en", "deep": {"er": True}}, "Customer Tier": "gold"},
    {"id": "b", "input": "q2", "tags": ["dev"], "reward": 0.5, "metadata": {"lang": "de"}, "Customer Tier": "silver"},
    {"id": "c", "input": "q3", "reward": None, "Customer Tier": "gold"},
]


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ([("id", "b")], "b"),
        ([("input", "q3")], "c"),
        ([("tags", "prod")], "a"),
        ([("reward", "1")], "a"),
        ([("reward", "1.0")], "a"),
        ([("metadata.lang", "de")], "b"),
        ([("metadata.deep.er", "true")], "a"),
        ([("Customer Tier", "gold")], "ac"),
        ([("customer_tier", "gold")], "ac"),
        ([("metadata.Customer Tier", "gold")], "ac"),
        ([("customer_tier", "gold"), ("tags", "en")], "a"),
        ([("task", "c")], "c"),
    ],
)
def test_conditions(surveyed: Survey, where: list[tuple[str, str]], ids: str) -> None:
    dataset = surveyed(ROWS, where=where)
    assert [name for name, _, _ in identities(dataset)] == list(ids)
    assert (dataset.rows, dataset.filtered) == (len(ids), 3 - len(ids))


def test_a_column_that_was_read_as_a_field_keeps_its_name(surveyed: Survey) -> None:
    assert surveyed([{"question": "a"}, {"question": "b"}], where=[("question", "b")]).rows == 1


def test_trials_and_rows_without_id(surveyed: Survey) -> None:
    rows = [{"task": "t", "trial": trial} for trial in range(3)] + [{"task": "u", "trial": 0}]
    assert identities(surveyed(rows, where=[("trial", "0")])) == [("t", "t", 0), ("u", "u", 0)]
    assert surveyed(rows, where=[("id", "t")]).rows == 3


def test_a_limit(surveyed: Survey) -> None:
    dataset = surveyed(ROWS, limit=2)
    assert [name for name, _, _ in identities(dataset)] == ["a", "b"]
    assert (dataset.rows, dataset.filtered) == (2, 1)
    assert [name for name, _, _ in identities(surveyed(ROWS, where=[("customer_tier", "gold")], limit=1))] == ["a"]
    assert surveyed(ROWS, limit=9).rows == 3


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"where": [("id", "zzz")]}, "rows.jsonl: 0 rows: none of 3 meets --where id=zzz; metrics check shows the columns and what they hold"),
        ({"limit": 0}, "rows.jsonl: 0 rows: --limit 0 leaves none of 3; give a limit from 1"),
        ({"where": [("inptu", "q1")]}, "--where inptu=q1: nothing in the data is called 'inptu'; did you mean input?"),
        (
            {"where": [("customer tear", "gold")]},
            "--where customer tear=gold: nothing in the data is called 'customer tear'; did you mean Customer Tier or cluster?",
        ),
        (
            {"where": [("metadata.zzz", "1")]},
            "--where metadata.zzz=1: nothing in the data is called 'metadata.zzz'; did you mean metadata?",
        ),
    ],
)
def test_nothing_left_is_never_silent(surveyed: Survey, how: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as told:
        surveyed(ROWS, **how)
    assert [str(problem) for problem in told.value.problems] == [message]
