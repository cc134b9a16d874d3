"""The words of `[run] metrics` and what they come to."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from measurand.core.taxonomy import MetricCategory
from measurand.index import registry

from .planning import FOUR, codes, plan  # noqa: TID252  # tests are imported by path, there is no package to name

PASSAGES = ({"id": "p", "input": "q", "contexts": ["x", "y"], "reference_contexts": ["y"], "output": "a", "expected": "a"},)


def names(*words: str, tables: Mapping[str, object] | None = None) -> list[str]:
    made = plan(PASSAGES, *words, tables=tables)
    assert made.ok, made.problems
    return [one.name for one in made.instances]


def sentence(*words: str) -> str:
    (problem,) = plan(PASSAGES, *words).problems
    return str(problem)


def test_a_metric_chosen_by_name_and_by_category_is_measured_once_in_the_place_it_first_had() -> None:
    found = names("code_token_f1", "category:correctness & code-based & !rag", "code_exact_match", "code_token_f1")
    assert found[0] == "code_token_f1"
    assert sorted(found) == sorted(set(found))
    assert "code_exact_match" in found


def test_chosen_by_name_counts_even_after_the_category() -> None:
    made = plan(PASSAGES, "category:rag & code-based", "code_context_recall")
    assert next(one for one in made.instances if one.name == "code_context_recall").named


def test_flags_are_all_needed_and_an_exclamation_mark_excludes() -> None:
    made = plan(PASSAGES, "category:rag & code-based & !requires-ground-truth")
    offered = [*(one.metric for one in made.instances), *(registry[one.metric] for one in made.left_out)]
    wanted = registry.query(all_of=MetricCategory.RAG | MetricCategory.CodeBased, without=MetricCategory.RequiresGroundTruth)
    assert {one.name for one in offered} == {one.name for one in wanted}
    assert all(MetricCategory.RAG in one.categories and MetricCategory.RequiresGroundTruth not in one.categories for one in offered)


def test_options_beside_a_name_are_part_of_the_name_results_are_filed_under() -> None:
    assert names("code_context_recall(k=5)", "code_context_recall(k=10)", "code_context_recall") == [
        "code_context_recall(k=5)",
        "code_context_recall(k=10)",
        "code_context_recall",
    ]


def test_options_of_a_table_are_in_the_signature_and_not_in_the_name() -> None:
    made = plan(PASSAGES, "code_context_recall", "code_context_recall(k=10)", tables={"metrics": {"code_context_recall": {"k": 3}}})
    assert [(one.name, one.options["k"]) for one in made.instances] == [("code_context_recall", 3), ("code_context_recall(k=10)", 10)]
    assert "opt:k=3" in made.instances[0].signature


def test_an_instance_has_its_own_name_threshold_and_options() -> None:
    tables = {"metrics": {"house.strict_f1": {"use": "code_token_f1", "threshold": 0.95}, "house.at_two": {"use": "code_context_recall", "k": 2}}}
    made = plan(PASSAGES, "house.strict_f1", "code_token_f1", "house.at_two", "house.at_two(k=1)", tables=tables)
    found = [(one.name, one.metric.name, one.threshold, one.options.get("k")) for one in made.instances]
    assert found == [
        ("house.strict_f1", "code_token_f1", 0.95, None),
        ("code_token_f1", "code_token_f1", None, None),
        ("house.at_two", "code_context_recall", None, 2),
        ("house.at_two(k=1)", "code_context_recall", None, 1),
    ]


def test_a_suite_of_the_config_may_hold_categories_and_other_suites() -> None:
    tables = {"suites": {"mine": ["code_token_f1", "suite:more"], "more": ["code_exact_match", "category:rag & code-based"]}}
    assert {"code_token_f1", "code_exact_match", "code_context_recall"} <= set(names("suite:mine", tables=tables))


def test_an_alias_is_filed_under_the_metric_it_means() -> None:
    assert names("outcome.f1_token") == ["code_token_f1"]


def test_a_bare_quantity_is_its_code_metric_where_every_row_can_feed_it() -> None:
    assert names("context_recall") == ["code_context_recall"]


def test_a_bare_quantity_that_some_row_cannot_feed_is_ambiguous() -> None:
    made = plan(FOUR, "token_f1", on_missing="skip")
    assert codes(made) == ["ambiguous_metric"]
    assert "code_token_f1" in made.problems[0].hint


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("code_token_f2", "--metric: no metric is called 'code_token_f2'; did you mean code_token_f1 or"),
        ("category:ragg", "--metric: no category is called 'ragg'; did you mean RAG?"),
        ("category:!rag", "--metric: 'category:!rag' only excludes; name at least one flag to include"),
        ("suite:textt", "--metric: no suite is called 'textt'; did you mean text?"),
        ("code_rouge_l(", "--metric: 'code_rouge_l(' has no closing bracket; write code_rouge_l(option=value)"),
        ("code_rouge_l(k)", "--metric: the options of 'code_rouge_l(k)' cannot be read; write them as in TOML: code_rouge_l(k=5, mode=\"f1\")"),
        ("code_context_recall(q=2)", "--metric: code_context_recall has no option 'q'; it takes k, min_overlap"),
        ("./evil.py:run", "--metric: './evil.py:run' names a Python file, and a config never runs code; load it with the explicit flag --load FILE.py"),
        ("evil.py", "--metric: 'evil.py' names a Python file"),
    ],
)
def test_a_word_that_cannot_be_read_says_what_to_write(word: str, told: str) -> None:
    assert sentence(word).startswith(told)


def test_every_wrong_word_is_told_at_once() -> None:
    assert sorted(codes(plan(FOUR, "nope_a", "category:ragg", "suite:nope", "code_rouge_l("))) == [
        "bad_selection",
        "unknown_category",
        "unknown_metric",
        "unknown_suite",
    ]


def test_what_a_category_offers_and_no_row_can_feed_is_left_out_with_what_it_lacks() -> None:
    made = plan(PASSAGES, "category:correctness & code-based")
    left = {one.metric: one.missing for one in made.left_out}
    assert left["code_tool_call_f1"] == ("tool_calls", "expected_tool_calls")
    assert left["code_regex_match"] == ("option pattern",)
    assert not {one.name for one in made.instances} & set(left)


def test_a_named_metric_that_is_measured_is_not_also_left_out() -> None:
    made = plan(PASSAGES, "category:correctness & code-based", 'code_regex_match(pattern="a")')
    assert "code_regex_match" not in {one.metric for one in made.left_out}
    assert 'code_regex_match(pattern="a")' in [one.name for one in made.instances]
