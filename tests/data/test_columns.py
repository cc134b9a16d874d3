from __future__ import annotations

from typing import Any

import pytest

from measurand.core.errors import DataError
from measurand.core.fields import FIELDS
from measurand.core.record import Context

from .files import Survey, fields  # noqa: TID252  # tests are imported by path, there is no package to name


def mapping(dataset: Any) -> dict[str, tuple[str, str]]:
    return {entry["column"]: (entry["field"], entry["how"]) for entry in dataset.mapping}


def note(dataset: Any, column: str) -> str:
    return str(next(entry["note"] for entry in dataset.mapping if entry["column"] == column))


@pytest.mark.parametrize(("alias", "field"), [(alias, field.name) for field in FIELDS.values() for alias in field.aliases])
def test_every_alias_is_read(surveyed: Survey, alias: str, field: str) -> None:
    value: Any = {"contexts": ["a"], "messages": [], "calls": ["f"], "expected_calls": ["f"], "tools": ["f"], "list[str]": ["a"], "int": 1}.get(
        FIELDS[field].shape, "a"
    )
    (row,) = fields(surveyed([{"input": "q", alias: value}] if field != "input" else [{alias: value}]))
    assert field in row
    assert "metadata" not in row


@pytest.mark.parametrize("name", ["Ground Truth", "ground-truth", "GROUND_TRUTH", "groundtruth", "GroundTruth"])
def test_names_match_without_case_spaces_and_marks(surveyed: Survey, name: str) -> None:
    dataset = surveyed([{name: "a"}])
    assert mapping(dataset) == {name: ("expected", "alias")}


def test_named_beats_exact_beats_aliases_in_their_order(surveyed: Survey) -> None:
    row = {"target": "3", "reference": "2", "expected": "1", "Customer answer": "0", "q": "x"}
    dataset = surveyed([row], columns={"expected": "customer_answer", "input": "q"})
    assert mapping(dataset) == {
        "Customer answer": ("expected", "named"),
        "q": ("input", "named"),
        "target": ("metadata", "metadata"),
        "reference": ("metadata", "metadata"),
        "expected": ("metadata", "metadata"),
    }
    assert note(dataset, "target") == "not read as expected: 'Customer answer' is"
    assert fields(dataset) == [{"expected": "0", "input": "x", "metadata": {"target": "3", "reference": "2", "expected": "1"}}]
    del row["Customer answer"]
    assert mapping(surveyed([row]))["expected"] == ("expected", "exact")
    del row["expected"]
    assert mapping(surveyed([row]))["reference"] == ("expected", "alias")


def test_written_exactly_so_beats_written_alike(surveyed: Survey) -> None:
    dataset = surveyed([{"INPUT": "loud", "input": "q"}])
    assert fields(dataset) == [{"input": "q", "metadata": {"INPUT": "loud"}}]


def test_an_alias_whose_values_do_not_fit_is_passed_over(surveyed: Survey) -> None:
    dataset = surveyed([{"input": "q", "documents": 3, "retrieval_context": ["a"]}, {"input": "r", "documents": ["b"], "retrieval_context": []}])
    assert mapping(dataset)["documents"] == ("metadata", "metadata")
    assert mapping(dataset)["retrieval_context"] == ("contexts", "alias")
    dataset = surveyed([{"input": "q", "documents": ["a"]}, {"input": "r", "documents": 3}])
    assert mapping(dataset)["documents"] == ("metadata", "metadata")
    assert note(dataset, "documents") == (
        "not read as contexts: rows.jsonl:2: contexts is a number; it must be a list, and a passage is a text or {id, text, score}"
    )
    assert [row["metadata"] for row in fields(dataset)] == [{"documents": ["a"]}, {"documents": 3}]


def test_a_misfit_far_down_counts_for_the_whole_dataset(surveyed: Survey) -> None:
    rows: list[dict[str, Any]] = [{"input": f"q{n}", "documents": ["a"]} for n in range(1_500)]
    rows[1_400]["documents"] = 3
    observed: list[list[str]] = []

    def observe() -> Any:
        names: list[str] = []
        observed.append(names)
        return lambda _fields, name: names.append(name)

    dataset = surveyed(rows, observe=observe)
    assert mapping(dataset)["documents"] == ("metadata", "metadata")
    assert "rows.jsonl:1401" in note(dataset, "documents")
    assert dataset.available == {"input": 1_500, "metadata": 1_500}
    assert [len(names) for names in observed] == [1_400, 1_500]
    assert len(list(dataset.records())) == 1_500


def test_a_column_that_comes_late_counts_from_the_beginning(surveyed: Survey) -> None:
    rows: list[dict[str, Any]] = [{"input": f"q{n}", "answer": "late alias"} for n in range(1_200)] + [{"input": "last", "response": "better alias"}]
    dataset = surveyed(rows)
    assert mapping(dataset) == {"input": ("input", "exact"), "answer": ("metadata", "metadata"), "response": ("output", "alias")}
    assert dataset.available == {"input": 1_201, "output": 1, "metadata": 1_200}


def test_an_exact_name_is_taken_whatever_it_holds(surveyed: Survey) -> None:
    dataset = surveyed([{"input": "q", "contexts": 3}])
    assert mapping(dataset)["contexts"] == ("contexts", "exact")
    assert "it must be a list" in fields(dataset)[0]["contexts"].message


def test_an_exact_name_without_values_is_pointed_out(surveyed: Survey) -> None:
    dataset = surveyed([{"input": "q", "expected": None, "reference": "a"}])
    assert note(dataset, "expected") == "has no value in the rows looked at; 'reference' has, and is not used: --column expected=reference takes it"


def test_nested_columns(surveyed: Survey) -> None:
    rows: list[dict[str, Any]] = [{"meta": {"question": {"text": "q"}, "lang": "en"}, "a.b": "x"}, {"meta": None, "a.b": "y"}]
    dataset = surveyed(rows, columns={"input": "meta.question.text", "id": "a.b"})
    assert mapping(dataset)["meta.question.text"] == ("input", "named")
    assert fields(dataset) == [{"id": "x", "input": "q", "metadata": {"meta": rows[0]["meta"]}}, {"id": "y"}]


def test_a_column_for_two_fields_and_one_for_metadata(surveyed: Survey) -> None:
    dataset = surveyed([{"q": "x", "Lang": "en"}], columns=[("input", "q"), ("task", "q"), ("metadata.language", "Lang")])
    assert fields(dataset) == [{"input": "x", "task": "x", "metadata": {"language": "en"}}]


def test_splitting_is_asked_for(surveyed: Survey) -> None:
    rows = [{"input": "q", "Docs": "one\n\ntwo\n"}, {"input": "r", "Docs": None}, {"input": "s", "Docs": ["as | is"]}]
    dataset = surveyed(rows, columns={"contexts": {"from": "Docs", "split": "\n"}})
    assert [row.get("contexts") for row in fields(dataset)] == [[Context("one"), Context("two")], None, [Context("as | is")]]
    assert note(dataset, "Docs") == 'split at "\\n"'


def test_one_passage_with_line_breaks_is_worth_a_word(surveyed: Survey) -> None:
    split = 'contexts: every row is one passage with line breaks; to split it: [data.columns] contexts = { from = "Docs", split = "\\n" }'
    columns = {"contexts": "Docs"}
    assert split in surveyed([{"input": "q", "Docs": "a\nb"}, {"input": "r", "Docs": None}], columns=columns).notes
    assert surveyed([{"input": "q", "Docs": "a\nb"}, {"input": "r", "Docs": "c"}], columns=columns).notes == ()
    assert surveyed([{"input": "q", "Docs": "a\nb"}, {"input": "r", "Docs": ["c", "d"]}], columns=columns).notes == ()


def test_ids_of_passages_by_the_columns_name(surveyed: Survey) -> None:
    for name in ("relevant_ids", "qrels", "Relevant IDs"):
        (row,) = fields(surveyed([{"input": "q", name: ["d1"]}]))
        assert row["reference_contexts"] == [Context(id="d1")]
    (row,) = fields(surveyed([{"input": "q", "retrieved_ids": ["d1"], "gold_contexts": ["text"]}], columns={"contexts": "retrieved_ids"}))
    assert row["contexts"] == [Context(id="d1")]
    assert row["reference_contexts"] == [Context("text")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"input": "Qestion"}, "column input: no column is called 'Qestion'; did you mean Question?"),
        ({"input": "zzz"}, "column input: no column is called 'zzz'; the data has Question, meta"),
        ({"inptu": "Question"}, "column inptu: 'inptu' is no field of a record; did you mean input?"),
        ([("input", "Question"), ("input", "meta")], "column input: two columns are named for input: 'Question' and 'meta'; name one"),
        (
            {"contexts": {"from": "meta", "split": ""}},
            'column contexts: a column is named by its name, or by { from, split }; contexts = { from = "Docs", split = "\\n" }',
        ),
        ({"contexts": {"split": "x"}}, 'column contexts: a column is named by its name, or by { from, split }; contexts = { from = "Docs", split = "\\n" }'),
        ({"input": {"from": "Question", "split": "x"}}, 'column input: input is no list, so its texts cannot be split; input = "Question"'),
        ({"input": "other.nested"}, "column input: no column is called 'other.nested'; the data has Question, meta"),
    ],
)
def test_columns_that_cannot_be_meant(surveyed: Survey, columns: Any, message: str) -> None:
    with pytest.raises(DataError) as told:
        surveyed([{"Question": "q", "meta": {}}], columns=columns)
    assert str(told.value.problems[0]) == message


def test_samples_are_short_and_few(surveyed: Survey) -> None:
    rows = [{"input": f"q{n}\nx", "house": {"n": 1}, "long": "y" * 500} for n in range(5)]
    samples = {entry["column"]: entry["samples"] for entry in surveyed(rows).mapping}
    assert samples == {"input": ["q0 x", "q1 x", "q2 x"], "house": ['{"n":1}'], "long": ["y" * 59 + "…"]}


def test_very_many_columns_are_not_listed(surveyed: Survey) -> None:
    rows = [{"input": "q", **{f"c{n}_{k}": 1 for k in range(100)}} for n in range(30)]
    dataset = surveyed(rows, id_order=True)
    assert len(dataset.mapping) <= 1_001
    assert "there are more columns than are listed; all are metadata" in dataset.notes
    assert len(fields(dataset)[29]["metadata"]) == 100
