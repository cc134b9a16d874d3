from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.coerce import Invalid, references
from measurand.core.errors import DataError
from measurand.core.record import Context, ExpectedToolCall, Message, ToolCall
from measurand.data.columns import Columns
from measurand.data.fields import FieldReader
from measurand.data.rows import Row

from .files import Survey, fields  # noqa: TID252  # tests are imported by path, there is no package to name


def of_csv(surveyed: Survey, text: str, **how: Any) -> list[dict[str, Any]]:
    return fields(surveyed(text, "t.csv", **how))


def test_null_is_missing_and_empty_is_what_the_field_says(surveyed: Survey) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "1", "input": "", "output": "", "expected": "", "contexts": [], "tool_calls": [], "expected_tool_calls": [], "topics": [], "tools": []},
        {"id": "2", "input": None, "output": None, "expected": [], "contexts": None, "reference_contexts": [], "forbidden_tools": []},
        {"id": "3", "input": " ", "expected": {}, "messages": []},
    ]
    assert fields(surveyed(rows)) == [
        {"id": "1", "output": "", "contexts": [], "tool_calls": [], "expected_tool_calls": []},
        {"id": "2", "reference_contexts": [], "forbidden_tools": []},
        {"id": "3", "input": " ", "expected": {}, "messages": [], "tool_calls": []},
    ]


def test_an_empty_cell_is_missing_but_for_the_output(surveyed: Survey) -> None:
    assert of_csv(surveyed, "id,input,output,expected,contexts,status,house\na,q,,,,,\n") == [{"id": "a", "input": "q", "output": ""}]


def test_words_for_nothing_are_words(surveyed: Survey) -> None:
    rows = of_csv(surveyed, "input,expected\nIs it taxable?,N/A\nWhich value is empty in Python?,None\nagent?,007\n")
    assert [row["expected"] for row in rows] == ["N/A", "None", "007"]


def test_lists_and_objects_in_cells(surveyed: Survey) -> None:
    (row,) = of_csv(surveyed, 'question,contexts\nq1,"[\'Opens at 9\', ""It\'s closed Sundays""]"\n')
    assert row["contexts"] == [Context("Opens at 9"), Context("It's closed Sundays")]
    (row,) = of_csv(surveyed, 'input,expected_tools\nq,"[{""name"":""a"",""args"":{""x"":1,""y"":2}}]"\n')
    assert row["expected_tool_calls"] == [ExpectedToolCall("a", {"x": 1, "y": 2})]
    (row,) = of_csv(surveyed, 'input,contexts\nq,"first\nsecond, and | more"\n')
    assert row["contexts"] == [Context("first\nsecond, and | more")]
    (row,) = of_csv(surveyed, "input,contexts\nq,['a' 'b']\n")
    assert isinstance(row["contexts"], Invalid)


def test_several_references_in_a_cell_and_one_that_only_looks_so(surveyed: Survey) -> None:
    rows = of_csv(surveyed, 'input,expected\na,"[""Paris"", ""paris""]"\nb,"[1, 2]"\nc,"{""a"": 1}"\nd,[sic]\n')
    assert [row["expected"] for row in rows] == [["Paris", "paris"], "[1, 2]", '{"a": 1}', "[sic]"]
    (row,) = fields(surveyed([{"input": "a", "expected": '["Paris"]'}]))
    assert row["expected"] == '["Paris"]'


def test_numbers_in_cells(surveyed: Survey) -> None:
    (row,) = of_csv(surveyed, 'task,trial,reward,tags,metadata\nt,3,0.5,prod,"{""a"": 1}"\n')
    assert row == {"task": "t", "trial": 3, "reward": 0.5, "tags": ["prod"], "metadata": {"a": 1}}


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
PASSAGES = st.lists(TEXT | st.just("| Tier | Cost |\n| --- | --- |") | st.just('["x"]') | st.just("['x']"), min_size=1, max_size=3)


def row_fields(values: dict[str, Any], cells: bool) -> dict[str, Any]:
    columns = Columns(())
    columns.see(values, "t:1", cells)
    return FieldReader(columns, columns.decide()).fields(Row("t", 1, values, b"", "line", cells))


@given(PASSAGES, PASSAGES)
def test_lists_survive_a_table_and_a_jsonl(contexts: list[str], expected: list[str]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerow([json.dumps(contexts), json.dumps(expected)])
    (cells,) = csv.reader(io.StringIO(file.getvalue(), newline=""))
    for values, as_cells in (({"contexts": contexts, "expected": expected}, False), (dict(zip(["contexts", "expected"], cells, strict=True)), True)):
        found = row_fields(values, as_cells)
        assert found["contexts"] == [Context(text) for text in contexts]
        assert references(found["expected"]) == expected


def test_misshapen_values_wait_for_the_metric_that_needs_them(surveyed: Survey) -> None:
    (row,) = fields(surveyed([{"input": "q", "output": "a", "tool_calls": 3, "human": ["yes"]}]))
    assert row == {
        "input": "q",
        "output": "a",
        "tool_calls": Invalid("tool_calls is a number; it must be a list, and a call is {name, arguments} or a name"),
        "human": Invalid("human is a list; it must be an object"),
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("id", {}, "id is an object; it must be a text"),
        ("task", ["t"], "task is a list; it must be a text"),
        ("trial", "first", "trial is the text 'first'; it must be a number"),
        ("cluster", [1], "cluster is a list; it must be a text"),
        ("tags", {"a": 1}, "tags is an object; it must be a list of texts"),
    ],
)
def test_a_row_that_cannot_be_placed_is_a_bad_row(surveyed: Survey, name: str, value: Any, message: str) -> None:
    with pytest.raises(DataError) as told:
        surveyed([{"input": "q", name: value}])
    assert str(told.value.problems[0]) == f"rows.jsonl:1: {message}"
    assert surveyed([{"input": "q", name: value}, {"input": "r"}], on_bad_row="skip").skipped == 1


def test_metadata_holds_what_feeds_no_field(surveyed: Survey) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "1", "lang": "en", "empty": None, "metadata": {"a": 1}},
        {"id": "2", "lang": "en", "metadata": {"lang": "de"}},
        {"id": "3", "metadata": "free text"},
        {"id": "4", "metadata": None},
    ]
    assert [row.get("metadata") for row in fields(surveyed(rows))] == [{"lang": "en", "a": 1}, {"lang": "de"}, {"metadata": "free text"}, None]


def test_derived_fields(surveyed: Survey) -> None:
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"x": 1}'}}]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "assistant", "content": "a"},
    ]
    dataset = surveyed([{"id": "1", "messages": messages}, {"id": "2", "messages": [], "output": "own"}])
    first, second = fields(dataset)
    assert first["tool_calls"] == [ToolCall("f", {"x": 1}, "c", "ok")]
    assert (first["input"], first["output"]) == ("q", "a")
    assert isinstance(first["messages"][0], Message)
    assert second == {"id": "2", "messages": [], "output": "own", "tool_calls": []}
    assert dataset.available == {"id": 2, "input": 1, "output": 2, "messages": 2, "tool_calls": 2}
    assert {(entry["field"], entry["how"]) for entry in dataset.mapping} == {
        ("id", "exact"),
        ("messages", "exact"),
        ("output", "exact"),
        ("tool_calls", "derived"),
        ("input", "derived"),
    }


def test_rows_with_many_different_columns(surveyed: Survey) -> None:
    rows = [{"input": f"q{n}", f"house{n}": n} for n in range(1_500)]
    assert fields(surveyed(rows))[1_499] == {"input": "q1499", "metadata": {"house1499": 1499}}
