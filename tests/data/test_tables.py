from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import DataError
from measurand.data.rows import BadRow, ReadOptions, Row
from measurand.data.tables import read_table

from .files import Read  # noqa: TID252  # tests are imported by path, there is no package to name


def values(rows: list[Row | BadRow]) -> list[dict[str, Any]]:
    assert all(isinstance(row, Row) for row in rows)
    return [row.values for row in rows if isinstance(row, Row)]


def test_a_file_saved_by_a_spreadsheet(read: Read) -> None:
    assert values(read("t.csv", b"\xef\xbb\xbfinput,target\r\nwhich moon is largest,Ganymede\r\n")) == [
        {"input": "which moon is largest", "target": "Ganymede"}
    ]


def test_blank_lines_and_carriage_returns(read: Read) -> None:
    rows = read("t.csv", b"input,expected\r\nhi,hello\r\n\r\nbye,goodbye\r\n")
    assert [(row.line, row.values["expected"]) for row in rows if isinstance(row, Row)] == [(2, "hello"), (4, "goodbye")]


def test_cells_are_texts_and_nothing_is_guessed(read: Read) -> None:
    assert values(read("t.csv", "a,b,c,d,e\nN/A,None,007,null,NaN\n")) == [{"a": "N/A", "b": "None", "c": "007", "d": "null", "e": "NaN"}]


def test_a_cell_may_be_long_and_hold_line_breaks(read: Read) -> None:
    rows = read("t.csv", 'a,b\n"' + "x" * 200_000 + '","two\nlines ""quoted"", and a comma"\n1,2\n')
    assert values(rows)[0] == {"a": "x" * 200_000, "b": 'two\nlines "quoted", and a comma'}
    assert [row.line for row in rows] == [2, 4]


def test_other_delimiters(read: Read) -> None:
    assert values(read("t.tsv", "a\tb\n1,5\t2\n")) == [{"a": "1,5", "b": "2"}]
    assert values(read("t.csv", "a;b\n1,5;2\n", delimiter=";")) == [{"a": "1,5", "b": "2"}]


def test_a_header_cut_by_the_wrong_delimiter(read: Read) -> None:
    with pytest.raises(DataError, match=r't.csv:1: the header is one column, \'question;answer\'; set \[data\] delimiter = ";"'):
        read("t.csv", "question;answer\na;b\n")


def test_one_column_is_a_table(read: Read) -> None:
    assert values(read("t.csv", "input\na\n\nb; c\n")) == [{"input": "a"}, {"input": "b; c"}]


def test_a_name_twice_in_the_header(read: Read) -> None:
    with pytest.raises(DataError, match=r"t.csv:1: the header names a twice; give each column its own name"):
        read("t.csv", "a,b,a\n1,2,3\n")


def test_a_column_without_name_gets_one(read: Read) -> None:
    assert values(read("t.csv", ",a\n0,x\n")) == [{"column_1": "0", "a": "x"}]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1", "the row has 1 cells, the header 2"),
        ("1,2,3", "the row has 3 cells, the header 2"),
        ('"1"x,2', "something follows a closing quote"),
        ("1,\0", "the line holds NUL bytes: a binary file, or text in another encoding"),
        ("1,a\rb", "a lone carriage return stands outside quotes"),
    ],
)
def test_a_bad_row_is_told_and_the_next_is_read(read: Read, row: str, message: str) -> None:
    good, bad, after = read("t.csv", f"a,b\n1,2\n{row}\n3,4\n")
    assert isinstance(bad, BadRow)
    assert (bad.where, bad.message) == ("t.csv:3", message)
    assert isinstance(good, Row)
    assert isinstance(after, Row)
    assert after.line == 4


def test_bytes_of_another_encoding(read: Read) -> None:
    raw = bytes.fromhex("696e7075740a636166e920960a")
    (bad,) = read("t.csv", raw)
    assert isinstance(bad, BadRow)
    assert (bad.where, bad.message) == ("t.csv:2", "byte 4 of the line (0xe9) is not utf-8: the file has another encoding")
    assert "encoding" in bad.hint
    assert values(read("t.csv", raw, encoding="cp1252")) == [{"input": "café –"}]
    assert values(read("t.csv", "a,b\né,ü\n".encode("utf-16"), encoding="utf-16")) == [{"a": "é", "b": "ü"}]


def test_a_quote_left_open_is_one_bad_row_not_the_rest_of_the_file_in_memory(read: Read) -> None:
    content = 'a,b\n1,2\n3,"open\n' + "x,y\n" * 100_000
    good, bad = read("t.csv", content, max_row_bytes=1_000)
    assert isinstance(good, Row)
    assert isinstance(bad, BadRow)
    assert (bad.line, bad.message) == (3, "a quote opens in this row and is not closed within max_row_bytes 1000")
    bad = read("t.csv", 'a,b\n1,"open')[-1]
    assert isinstance(bad, BadRow)
    assert (bad.line, bad.message) == (2, "a quote is opened and never closed")


def test_a_line_over_the_limit(read: Read) -> None:
    bad, good = read("t.csv", "a,b\n" + "x" * 5_000 + ",2\n3,4\n", max_row_bytes=1_000)
    assert isinstance(bad, BadRow)
    assert bad.message == "the line has more than max_row_bytes 1000"
    assert isinstance(good, Row)


@pytest.mark.parametrize("content", ["", "\n\n", "a,b\n", "a,b"])
def test_nothing_below_the_header_is_no_rows(read: Read, content: str) -> None:
    assert read("t.csv", content) == []


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@given(st.lists(st.tuples(TEXT, TEXT.map(lambda text: f"{text}.")), max_size=5))
def test_reads_what_the_csv_module_writes(rows: list[tuple[str, str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([("a", "b"), *rows])
    found = list(read_table(io.BytesIO(file.getvalue().encode()), "t.csv", ReadOptions(), ","))
    assert [(row.values["a"], row.values["b"]) for row in found if isinstance(row, Row)] == rows
