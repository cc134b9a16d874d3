from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import DataError
from measurand.data.identity import Hashes, Occurrences, task_hashes, task_of

from .files import Survey, identities  # noqa: TID252  # tests are imported by path, there is no package to name


def test_an_own_id_is_the_task(surveyed: Survey) -> None:
    dataset = surveyed([{"id": "a", "input": "q"}, {"id": 2, "input": "q"}])
    assert identities(dataset) == [("a", "a", 0), ("2", "2", 0)]
    assert not dataset.has_trials


def test_an_own_id_with_a_trial_is_not(surveyed: Survey) -> None:
    rows = [{"id": "a0", "input": "q", "trial": 0}, {"id": "a1", "input": "q", "trial": 1}, {"id": "b0", "input": "r", "trial": 0}]
    (_, a, _), (_, again, _), (_, b, _) = identities(surveyed(rows))
    assert a == again != b
    assert [(name, trial) for name, _, trial in identities(surveyed(rows))] == [("a0", 0), ("a1", 1), ("b0", 0)]
    assert surveyed(rows).has_trials


def test_an_own_task_without_repetition(surveyed: Survey) -> None:
    assert identities(surveyed([{"task_id": "t1"}, {"task_id": "t2"}])) == [("t1", "t1", 0), ("t2", "t2", 0)]


def test_tasks_that_repeat_number_their_rows(surveyed: Survey) -> None:
    dataset = surveyed([{"task": "t"}, {"task": "u"}, {"task": "t"}, {"task": "t"}])
    assert identities(dataset) == [("t#0", "t", 0), ("u#0", "u", 0), ("t#1", "t", 1), ("t#2", "t", 2)]
    assert identities(dataset) == identities(dataset)
    assert dataset.has_trials
    assert dataset.notes == ("1 tasks occur more than once: the rows of a task are its trials, numbered in their order",)


def test_own_trials_are_kept(surveyed: Survey) -> None:
    dataset = surveyed([{"task": "t", "trial": 5}, {"task": "t", "trial": 7}])
    assert identities(dataset) == [("t#5", "t", 5), ("t#7", "t", 7)]


def test_the_task_part_names_a_row_without_id(surveyed: Survey) -> None:
    rows = [{"input": "q", "output": "one"}, {"input": "q", "output": "two"}, {"input": "r", "output": "one"}]
    (a, task, first), (b, again, second), (_, other, _) = identities(surveyed(rows))
    assert (a, b, first, second) == (f"{task}#0", f"{task}#1", 0, 1)
    assert task == again != other
    assert len(task) == 16


def test_the_same_question_has_the_same_task_in_every_format(surveyed: Survey) -> None:
    jsonl = surveyed([{"input": "q", "reference_contexts": ["a"], "expected": "x"}])
    table = surveyed('question,gold_contexts,answer,reference\nq,"[""a""]",z,x\n', "t.csv")
    assert identities(jsonl) == identities(table)
    assert [one.task_hashes for one in jsonl.records()] == [one.task_hashes for one in table.records()]


def test_hashes_are_stable_between_releases() -> None:
    # 8-byte BLAKE2b of "tq" and of '{"a":1}', by `printf … | b2sum -l 64`
    assert task_hashes({"input": "q", "output": "not of the task", "expected": {"a": 1}}) == {"input": "3c841073858a4642", "expected": "1f8c00645b7df6ce"}


def test_each_field_of_the_task_part_tells_tasks_apart() -> None:
    assert task_of(task_hashes({"input": "a", "expected": "b"})) != task_of(task_hashes({"input": "b", "expected": "a"}))
    assert task_of(task_hashes({"input": "a"})) != task_of(task_hashes({"expected": "a"}))
    assert task_of(task_hashes({"topics": ["a"]})) != task_of(task_hashes({"topics": ["a", "b"]}))


def test_nothing_to_tell_rows_apart_is_refused(surveyed: Survey) -> None:
    rows = [{"output": "a"}, {"input": "q"}, {"output": "a"}]
    with pytest.raises(DataError) as told:
        surveyed(rows)
    assert [str(problem) for problem in told.value.problems] == [
        (
            "rows.jsonl: 2 rows have no id, no task, and nothing that says what was asked (rows.jsonl:1, rows.jsonl:3); "
            'name the column that tells rows apart: --column id=COLUMN; or number them: [data] id = "order"'
        ),
    ]
    assert identities(surveyed(rows, id_order=True)) == [("1", "1", 0), ("2", "2", 0), ("3", "3", 0)]


def test_an_id_and_a_trial_do_not_make_a_task(surveyed: Survey) -> None:
    with pytest.raises(DataError, match="1 row has no id, no task"):
        surveyed([{"id": "a", "trial": 0, "output": "x"}])


@pytest.mark.parametrize("how", ["id", "sample_id"])
def test_an_id_twice_is_told_with_both_lines(surveyed: Survey, how: str) -> None:
    with pytest.raises(DataError) as told:
        surveyed([{how: "a"}, {how: "b"}, {how: "a"}, {how: "b"}])
    assert [str(problem) for problem in told.value.problems] == [
        "rows.jsonl:3: the id 'a' is there twice, first at rows.jsonl:1; an id names one row; is the column the task? --column task=COLUMN",
        "rows.jsonl:4: the id 'b' is there twice, first at rows.jsonl:2; an id names one row; is the column the task? --column task=COLUMN",
    ]


def test_very_many_repeated_ids_are_told_in_short(surveyed: Survey) -> None:
    with pytest.raises(DataError) as told:
        surveyed([{"id": "a"}] * 100)
    assert len(told.value.problems) == 21
    assert str(told.value.problems[-1]) == "rows.jsonl: and 79 more rows like this"


@pytest.mark.parametrize(
    "rows",
    [
        [{"task": "t", "trial": 0}, {"task": "t", "trial": 0}],
        [{"task": "t", "trial": 1}, {"task": "t"}],
        [{"input": "q", "trial": 0}, {"input": "q", "trial": 0}],
    ],
)
def test_the_same_task_and_trial_without_ids_is_an_error(surveyed: Survey, rows: list[dict[str, Any]]) -> None:
    with pytest.raises(DataError, match=r"rows.jsonl:2: two rows have the same task and trial \('.*#[01]'\), first at rows.jsonl:1; give each row an id"):
        surveyed(rows)


def test_the_same_task_and_trial_with_ids_is_a_note(surveyed: Survey) -> None:
    rows = [{"id": "a", "task": "t", "trial": 0, "system": "x"}, {"id": "b", "task": "t", "trial": 0, "system": "y"}]
    assert surveyed(rows).notes == ("1 pairs of task and trial occur more than once; rows of one task are averaged. To take one system: --where COLUMN=VALUE",)
    assert surveyed(rows, where=[("system", "x")]).notes == ()


def test_own_and_numbered_trials_can_stand_together(surveyed: Survey) -> None:
    assert identities(surveyed([{"task": "t", "trial": 0}, {"task": "t"}])) == [("t#0", "t", 0), ("t#1", "t", 1)]


def test_only_selected_rows_count(surveyed: Survey) -> None:
    rows = [{"task": task, "system": system} for system in ("x", "y") for task in ("t", "u")]
    assert identities(surveyed(rows, where=[("system", "y")])) == [("t", "t", 0), ("u", "u", 0)]


@given(st.lists(st.sampled_from("abcdefgh")))
def test_which_names_repeat(names: list[str]) -> None:
    hashes = Hashes()
    for name in names:
        hashes.add(hash(name))
    assert list(hashes.repeated()) == sorted({hash(name) for name in names if names.count(name) > 1})
    occurrences = Occurrences(hashes.repeated())
    assert [occurrences.next(name) for name in names] == [names[:at].count(name) for at, name in enumerate(names)]
