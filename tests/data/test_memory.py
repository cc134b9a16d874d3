from __future__ import annotations

import datetime
import math
from collections import UserDict
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from measurand.core.errors import DataError
from measurand.data.rows import BadRow, Row
from measurand.data.source import open_source


def values(data: Any) -> list[dict[str, Any] | str]:
    return [row.values if isinstance(row, Row) else row.message for row in open_source(data).rows()]


def test_mappings() -> None:
    rows = [{"a": 1, "b": ("x", None)}, UserDict({"a": np.int64(2), "b": np.array(["y"])})]
    assert values(rows) == [{"a": 1, "b": ["x", None]}, {"a": 2, "b": ["y"]}]


def test_a_generator_can_be_read_twice() -> None:
    source = open_source({"a": n} for n in range(2))
    assert list(source.rows()) == list(source.rows())
    assert [row.where for row in source.rows()] == ["the rows row 1", "the rows row 2"]


def test_what_the_caller_changes_later_does_not_matter() -> None:
    inner = ["x"]
    (row,) = open_source([{"a": inner}]).rows()
    inner.append("y")
    assert isinstance(row, Row)
    assert row.values == {"a": ["x"]}


def test_pandas() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.5, math.nan], "d": [["p"], []], "e": [pd.Timestamp("2024-02-29"), pd.NaT]})
    assert values(frame) == [
        {"a": 1, "b": "x", "c": 0.5, "d": ["p"], "e": "2024-02-29T00:00:00"},
        {"a": 2, "b": None, "c": None, "d": [], "e": None},
    ]
    with pytest.raises(DataError, match="the columns a are there twice"):
        open_source(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_polars() -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None], "d": [["p"], []], "e": [datetime.date(2024, 2, 29), None]})
    expected = [{"a": 1, "b": "x", "d": ["p"], "e": "2024-02-29"}, {"a": 2, "b": None, "d": [], "e": None}]
    assert values(frame) == expected
    assert values(frame.lazy()) == expected


def cyclic() -> dict[str, Any]:
    row: dict[str, Any] = {}
    row["a"] = row
    return row


def deep() -> dict[str, Any]:
    row: dict[str, Any] = {}
    for _ in range(300):
        row = {"a": row}
    return row


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("text", "the row is str, not an object"),
        (3, "the row is int, not an object"),
        ({1: "a"}, "the column 1 is no text"),
        ({"a": math.nan}, "a: Out of range float values"),
        ({"a": 10**5000}, "a: Exceeds the limit"),
        ({"a": object()}, "a: Object of type object is not JSON serializable"),
        ({"a": "\ud800"}, "\\ud800 is half of a character"),
        (deep(), "nested more than 200 levels deep"),
    ],
)
def test_a_row_that_is_none(row: Any, message: str) -> None:
    bad, good = open_source([row, {"a": 1}]).rows()
    assert isinstance(bad, BadRow)
    assert bad.message.startswith(message)
    assert isinstance(good, Row)


def test_a_row_that_contains_itself() -> None:
    (bad,) = open_source([cyclic()]).rows()
    assert bad == BadRow("the rows", 1, "nested too deeply, or in itself", "", "row")


@pytest.mark.parametrize("data", [3, {"a": 1}, None])
def test_what_is_no_dataset(data: Any) -> None:
    with pytest.raises(DataError, match="is no dataset; a path, a list of paths, rows as mappings, or a pandas or polars frame"):
        open_source(data)
