from __future__ import annotations

import datetime
import decimal
import gzip
import json
import math
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from measurand.core.errors import DataError
from measurand.data import parquet
from measurand.data.rows import BadRow, ReadOptions, Row
from measurand.data.source import open_source


def written(path: Path, rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> Path:
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    return path


def read(path: Path, **options: Any) -> list[Row | BadRow]:
    return list(open_source(path, ReadOptions(**options)).rows())


def test_values_are_native(tmp_path: Path) -> None:
    rows = read(written(tmp_path / "t.parquet", [{"q": "q1", "contexts": ["a", "b"], "flag": True}, {"q": "q2", "contexts": [], "flag": None}]))
    assert [row.values for row in rows if isinstance(row, Row)] == [
        {"q": "q1", "contexts": ["a", "b"], "flag": True},
        {"q": "q2", "contexts": [], "flag": None},
    ]
    assert [type(value) for row in rows if isinstance(row, Row) for value in row.values.values()] == [str, list, bool, str, list, type(None)]
    assert [row.where for row in rows] == [f"{tmp_path}/t.parquet row 1", f"{tmp_path}/t.parquet row 2"]
    assert all(json.loads(row.raw) == row.values for row in rows if isinstance(row, Row))


def test_dates_decimals_maps_and_structs(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            ("day", pa.date32()),
            ("whole", pa.decimal128(6, 2)),
            ("part", pa.decimal128(6, 2)),
            ("map", pa.map_(pa.string(), pa.int64())),
            ("struct", pa.struct([("a", pa.list_(pa.int8()))])),
        ]
    )
    row = {"day": datetime.date(2024, 2, 29), "whole": decimal.Decimal("3.00"), "part": decimal.Decimal("3.25"), "map": [("k", 1)], "struct": {"a": [1]}}
    (found,) = read(written(tmp_path / "t.parquet", [row], schema))
    assert isinstance(found, Row)
    assert found.values == {"day": "2024-02-29", "whole": 3, "part": 3.25, "map": {"k": 1}, "struct": {"a": [1]}}


def test_what_json_has_not_is_a_bad_row(tmp_path: Path) -> None:
    nan, raw = read(written(tmp_path / "t.parquet", [{"x": math.nan, "y": None}, {"x": 1.0, "y": b"\x00"}]))
    assert isinstance(nan, BadRow)
    assert nan.message.startswith("x: Out of range float values are not JSON compliant")
    assert isinstance(raw, BadRow)
    assert raw.message == "y: Object of type bytes is not JSON serializable"


def test_gzip_around_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = written(tmp_path / "t.parquet", [{"a": 1}])
    path = tmp_path / "t.parquet.gz"
    path.write_bytes(gzip.compress(inner.read_bytes()))
    (row,) = read(path)
    assert isinstance(row, Row)
    assert row.values == {"a": 1}
    monkeypatch.setattr(parquet, "MAX_UNZIPPED_BYTES", 10)
    with pytest.raises(DataError, match=r"unpacks to more than 10 bytes; Parquet compresses itself: leave out the gzip"):
        read(path)


def test_what_is_no_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_text("PAR1 and then nothing like it")
    with pytest.raises(DataError, match=r"t.parquet: it cannot be read as Parquet"):
        read(path)


def test_a_column_twice(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"the columns a are there twice"):
        read(tmp_path / "t.parquet")


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "t.parquet", [{"a": 1}])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(DataError, match=r"reading Parquet needs pyarrow; python -m pip install 'measurand\[parquet\]'"):
        read(path)
