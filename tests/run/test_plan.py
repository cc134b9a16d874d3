"""The plan: every problem before anything is done, and an id that says what differs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from measurand.core.errors import DataError
from measurand.core.judged import judged
from measurand.core.taxonomy import MetricCategory
from measurand.run.plan import RunOptions, check_expected, plan_difference, source_of

from .planning import FOUR, codes, known, plan, settings  # noqa: TID252  # tests are imported by path, there is no package to name


def test_a_plan_says_what_it_will_score() -> None:
    made = plan(FOUR, "code_token_f1", "code_output_length", on_missing="skip")
    assert made.ok
    assert [(one.instance.name, one.applicable_rows) for one in made.metrics] == [("code_token_f1", 3), ("code_output_length", 4)]
    assert made.rows == 4


def test_the_document_has_the_keys_of_the_contract() -> None:
    document = plan(FOUR, "code_output_length", "category:rag & code-based").to_dict()
    assert list(document) == ["ok", "plan_id", "problems", "mapping", "plan"]
    assert list(document["plan"]) == ["metrics", "left_out", "destinations", "totals"]
    assert set(document["plan"]["metrics"][0]) == {
        "name", "judges", "embedding", "rows", "applicable_rows", "calls", "calls_min", "input_tokens", "output_tokens", "cost_usd",
    }  # fmt: skip
    assert set(document["plan"]["left_out"][0]) == {"metric", "missing"}
    assert document["plan"]["destinations"] == []
    json.dumps(document, allow_nan=False)


def test_a_row_that_lacks_a_field_stops_the_plan_and_names_the_row() -> None:
    (problem,) = plan(FOUR, "code_token_f1").problems
    assert (problem.code, problem.where) == ("missing_field", "the rows")
    assert problem.message == "code_token_f1 needs expected; 1 of 4 rows lack it (d)"
    assert "--on-missing skip" in problem.hint


def test_a_table_may_skip_for_one_metric() -> None:
    made = plan(FOUR, "code_token_f1", "code_exact_match", tables={"metrics": {"code_token_f1": {"on_missing": "skip"}}})
    assert [problem.message.split()[0] for problem in made.problems] == ["code_exact_match"]


@pytest.mark.parametrize("on_missing", ["stop", "skip"])
def test_a_named_metric_that_no_row_can_feed_is_a_problem_in_both_modes(on_missing: str) -> None:
    rows = [{"id": "a", "output": "x", "Docs": "y"}, {"id": "b", "output": "x", "Docs": "z"}]
    (problem,) = plan(rows, "code_context_redundancy", on_missing=on_missing).problems
    assert problem.code == "missing_field"
    assert problem.message == "code_context_redundancy needs contexts; none of the 2 rows has it"


def test_the_nearest_column_is_proposed() -> None:
    rows = [{"id": "a", "output": "x", "expected answers": "y"}]
    (problem,) = plan(rows, "code_token_f1").problems
    assert problem.hint == 'the nearest column is "expected answers": --column expected=expected answers'


def test_a_selection_that_leaves_nothing_is_a_problem() -> None:
    (problem,) = plan(FOUR, "category:agentic & code-based", on_missing="skip").problems
    assert problem.code == "nothing_selected"
    assert "tool_calls" in problem.message


def test_no_metrics_at_all() -> None:
    assert codes(plan(FOUR)) == ["no_metrics"]


def test_problems_of_data_config_and_selection_come_together() -> None:
    made = plan(Path("nowhere.jsonl"), "code_token_f2", tables={"metrics": {"code_nope": {}}})
    assert codes(made) == ["unknown_metric", "no_such_file", "unknown_metric"]


def test_the_same_problem_is_told_once() -> None:
    assert codes(plan(FOUR, "code_token_f2", "code_token_f2")) == ["unknown_metric"]


def test_no_data() -> None:
    with pytest.raises(DataError, match=r"no data is named.*--data FILE"):
        source_of(settings(), RunOptions())


def test_a_metric_that_asks_a_model_is_told_before_anything_is_done(judged_metric: str) -> None:
    assert codes(plan(FOUR, judged_metric, on_missing="skip")) == ["no_judge"]


@pytest.fixture
def judged_metric() -> Iterator[str]:
    with known(judged("test.polite", MetricCategory.Fluency, ask="Is `output` polite?", doc="Politeness.", example={"output": "Thanks"})) as name:
        yield name


# ---------------------------------------------------------------- slices


def test_slices_of_config_and_command_line_are_joined_and_named_once() -> None:
    made = plan(FOUR, "code_output_length", tables={"run": {"slices": ["metadata.lang"]}}, slices=("lang", "metadata.lang"))
    assert made.ok
    assert made.slices == ("metadata.lang", "lang")


@pytest.mark.parametrize(("name", "hint"), [("lagn", "did you mean"), ("expected", "rows can be sliced by cluster, metadata.lang, status, tags, task")])
def test_a_slice_that_is_not_there(name: str, hint: str) -> None:
    (problem,) = plan(FOUR, "code_output_length", slices=(name,)).problems
    assert (problem.code, problem.where) == ("unknown_slice", "--by")
    assert problem.hint.startswith(hint) or problem.hint.startswith("rows can be sliced by")


# ---------------------------------------------------------------- clusters and tasks


def clustered(*clusters: str | None) -> list[dict[str, Any]]:
    """Two rows a task, with these clusters."""
    return [
        {"id": f"r{at}", "task": f"t{at // 2}", "trial": at % 2, "input": "q", "output": "x", **({} if one is None else {"cluster": one})}
        for at, one in enumerate(clusters)
    ]


def test_a_task_in_one_cluster_is_fine() -> None:
    assert plan(clustered("a", "a", "b", "b", "a", "a"), "code_output_length").ok


def test_a_task_in_two_clusters_is_a_problem_that_names_both_rows() -> None:
    (problem,) = plan(clustered("a", "a", "a", "b"), "code_output_length").problems
    assert (problem.code, problem.where) == ("split_task", "the rows row 4")
    assert problem.message == "the task 't1' is in the cluster 'b' here and in the cluster 'a' at the rows row 3; a cluster groups whole tasks"


def test_a_task_half_in_a_cluster_is_one_too() -> None:
    (problem,) = plan(clustered("a", None), "code_output_length").problems
    assert "no cluster here" in problem.message


def test_of_many_such_tasks_a_few_are_named_and_the_rest_counted() -> None:
    problems = plan(clustered(*"abababababababab"), "code_output_length").problems
    assert len(problems) == 6
    assert problems[-1].message == "and 3 more tasks like this"


# ---------------------------------------------------------------- the plan's id


def test_the_same_plan_has_the_same_id_and_a_name_is_no_part_of_it() -> None:
    ids = {plan(FOUR, "code_output_length", name=name).plan_id for name in (None, "a", "b")}
    assert len(ids) == 1


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        (0, {"rows": FOUR[:3]}),
        (0, {"limit": 2}),
        (1, {"columns": {"output": "lang"}}),
        (1, {"slices": ("lang",)}),
        (1, {"min_trials": 2}),
        (1, {"where": (("lang", "en"),)}),
        (1, {"tables": {"run": {"max_error_rate": 0.5}}}),
        (2, {"metrics": ("code_output_length", "code_json_valid")}),
        (2, {"tables": {"metrics": {"code_output_length": {"threshold": 3.0}}}}),
    ],
)
def test_what_changes_a_number_or_a_row_changes_its_part_of_the_id(part: int, changed: dict[str, Any]) -> None:
    rows = changed.pop("rows", FOUR)
    metrics = changed.pop("metrics", ("code_output_length",))
    before, after = plan(FOUR, "code_output_length").plan_id, plan(rows, *metrics, **changed).plan_id
    assert before.split("-")[part] != after.split("-")[part]


def test_modes_and_budgets_are_no_part_of_the_id() -> None:
    one = plan(FOUR, "code_output_length")
    other = plan(FOUR, "code_output_length", tables={"run": {"mode": "live", "budget_usd": 3.0}})
    assert one.plan_id == other.plan_id


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        ("aaaaaa-bbbbbb-cccccc", "aaaaaa-bbbbbb-dddddd", "the metrics changed since plan aaaaaa-bbbbbb-cccccc was made"),
        ("aaaaaa-bbbbbb-cccccc", "eeeeee-dddddd-cccccc", "the data and the config changed since plan aaaaaa-bbbbbb-cccccc was made"),
        ("7c1e90", "aaaaaa-bbbbbb-cccccc", "'7c1e90' is no plan id"),
    ],
)
def test_another_plan_says_what_differs(expected: str, actual: str, said: str) -> None:
    assert plan_difference(expected, actual) == said


def test_an_expected_plan_is_the_same_or_a_problem() -> None:
    made = plan(FOUR, "code_output_length")
    assert check_expected(made, made.plan_id) is made
    assert check_expected(made, None) is made
    assert codes(check_expected(made, "aaaaaa-bbbbbb-cccccc")) == ["other_plan"]


def test_a_library_that_is_not_installed_is_told_before_a_row_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    named = plan([{"id": "a", "output": "text"}], "code_language_match")
    assert [str(problem) for problem in named.problems] == [
        "code_language_match: it needs py3langid, which is not installed; python -m pip install 'measurand[language]'"
    ]
    by_flag = plan([{"id": "a", "input": "q", "output": "text"}], "category:relevance & code-based")
    assert [(left.metric, left.missing) for left in by_flag.left_out] == [("code_language_match", ("extra language",))]
