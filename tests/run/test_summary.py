"""From stored results to the numbers that are printed."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from measurand.core.metric import metric
from measurand.core.taxonomy import MetricCategory
from measurand.index import registry
from measurand.report.summary_text import next_lines, summary_lines
from measurand.run.store import Store
from measurand.run.summary import Summary, summarise

from .planning import FOUR, Rows, known, plan, run  # noqa: TID252  # tests are imported by path, there is no package to name


def summary(store: Store, rows: Rows, *names: str, **options: Any) -> Summary:
    made = plan(rows, *names, **options)
    assert made.ok, made.problems
    return summarise(run(store, made))


def found(store: Store, rows: Rows, *names: str, **options: Any) -> dict[str, Any]:
    (first, *_) = summary(store, rows, *names, **options).to_dict()["metrics"]
    return dict(first)


RIGHT = {"output": "x", "expected": "x"}
WRONG = {"output": "y", "expected": "x"}


def test_the_document_has_the_keys_of_the_contract(file_store: Store) -> None:
    document = summary(file_store, FOUR, "code_output_length", slices=("lang",)).to_dict()
    assert list(document) == ["run_id", "name", "project", "dataset", "metrics", "usage", "estimated", "elapsed_s", "status", "reason"]
    assert list(document["dataset"]) == ["path", "rows", "fingerprint", "filtered"]
    assert list(document["usage"]) == ["calls", "cached_calls", "unreported_calls", "input_tokens", "output_tokens", "cost_usd"]
    assert list(document["estimated"]) == ["calls", "input_tokens", "output_tokens", "cost_usd"]
    (one,) = document["metrics"]
    assert list(one) == [
        "name", "signature", "n", "rows_scored", "mean", "std_error", "ci_low", "ci_high", "interval", "errors", "not_applicable", "pass_rate", "clustered",
        "statistics", "slices",
    ]  # fmt: skip
    assert list(one["statistics"][0]) == ["name", "value", "ci_low", "ci_high", "interval", "n"]
    assert list(one["slices"][0]) == ["by", "value", "n", "mean", "ci_low", "ci_high", "errors", "not_applicable"]
    json.dumps(document, allow_nan=False)


def test_wilson_of_three_in_four(file_store: Store) -> None:
    one = found(file_store, [{"id": str(at), **(WRONG if at == 1 else RIGHT)} for at in range(4)], "code_exact_match")
    # Wilson: (p + z²/2n ± z·sqrt(p(1−p)/n + z²/4n²)) / (1 + z²/n), by hand for p = 3/4, n = 4
    z = 1.959963984540054
    centre, half = 0.75 + z * z / 8, z * math.sqrt(0.75 * 0.25 / 4 + z * z / 64)
    assert one["mean"] == 0.75
    assert one["ci_low"] == pytest.approx((centre - half) / (1 + z * z / 4))
    assert one["ci_high"] == pytest.approx((centre + half) / (1 + z * z / 4))
    assert one["pass_rate"] == {"value": 0.75, "ci_low": one["ci_low"], "ci_high": one["ci_high"], "n": 4}


def test_repeats_of_a_task_are_no_rows_of_their_own(file_store: Store) -> None:
    rows = [{"id": f"{task}-{trial}", "task": f"t{task}", **(WRONG if task == 1 else RIGHT)} for task in range(4) for trial in range(10)]
    one = found(file_store, rows, "code_exact_match")
    assert (one["n"], one["rows_scored"], one["mean"]) == (4, 40, 0.75)
    assert one["std_error"] == pytest.approx(0.25)  # stdev(1, 0, 1, 1) / sqrt(4)


def test_rows_in_clusters_are_not_independent(file_store: Store) -> None:
    rows = [{"id": str(at), "cluster": "A" if at < 4 else "B", **(RIGHT if at < 4 else WRONG)} for at in range(8)]
    one = found(file_store, rows, "code_exact_match")
    assert one["clustered"]["n_clusters"] == 2
    assert one["std_error"] > one["clustered"]["naive_std_error"]
    assert "few clusters" in one["interval"]


def test_errors_and_what_does_not_apply_are_counted_and_never_zero(file_store: Store) -> None:
    rows: Rows = [{"id": "a", **RIGHT}, {"id": "b", "output": {"no": "text"}, "expected": "x"}, {"id": "c", "output": "x"}]
    one = found(file_store, rows, "code_exact_match", on_missing="skip", tables={"run": {"max_error_rate": 1.0}})
    assert (one["mean"], one["rows_scored"], one["errors"], one["not_applicable"]) == (1.0, 1, 1, 1)


def test_nothing_scored_has_no_mean(file_store: Store) -> None:
    rows = [{"id": "a", "output": {"no": "text"}, "expected": "x"}]
    told = summary(file_store, rows, "code_exact_match", tables={"run": {"max_error_rate": 1.0}})
    one = told.to_dict()["metrics"][0]
    assert (one["mean"], one["ci_low"], one["n"], one["pass_rate"]) == (None, None, 0, None)
    lines = summary_lines(told)
    assert [line for line in lines if "nothing scored" in line] == ["code_exact_match: nothing scored"]


def test_slices_by_tags_by_column_and_by_number(file_store: Store) -> None:
    rows = [{"id": str(at), **(RIGHT if at % 2 else WRONG), "tags": ["odd" if at % 2 else "even", "all"], "n": at % 2} for at in range(6)]
    one = found(file_store, rows, "code_exact_match", slices=("tags", "n", "status"))
    assert [(part["by"], part["value"], part["n"], part["mean"]) for part in one["slices"]] == [
        ("tags", "all", 6, 0.5),
        ("tags", "even", 3, 0.0),
        ("tags", "odd", 3, 1.0),
        ("n", "0", 3, 0.0),
        ("n", "1", 3, 1.0),
    ]


def test_what_is_another_in_every_row_is_no_slice(file_store: Store) -> None:
    rows = [{"id": str(at), **RIGHT, "name": f"n{at}"} for at in range(201)]
    told = summary(file_store, rows, "code_exact_match", slices=("name",))
    assert told.slices_left_out == ("name",)
    assert "name has a value of its own in nearly every row: not a slice" in summary_lines(told)


def test_a_metric_that_nothing_declares_any_more_is_still_summarised(file_store: Store) -> None:
    @metric("test.forgotten", categories=MetricCategory.Correctness, status="deprecated")
    def half(output: str) -> float:
        """Half."""
        return 0.5

    with known(half) as name:
        stored = run(file_store, plan([{"id": "a", "output": "x"}, {"id": "b", "output": "y"}], name))
    assert registry.get(name) is None
    assert summarise(stored).to_dict()["metrics"][0]["mean"] == 0.5


# ---------------------------------------------------------------- in words


def wide_run(store: Store) -> Summary:
    rows = [{"id": str(at), "output": "x" * at, "expected": "x", "lang": "a language with quite a long name" if at % 2 else "de"} for at in range(40)]
    names = ("code_token_f1", "code_rouge_l", "code_output_length", "code_exact_match", "house.a_rather_long_name_of_theirs")
    tables = {"metrics": {names[-1]: {"use": "code_token_f1", "threshold": 0.5}}}
    return summary(store, rows, *names, slices=("lang",), tables=tables, name="a name of a run that is long enough to need a line of its own")


def test_everything_fits_eighty_columns(file_store: Store) -> None:
    told = wide_run(file_store)
    assert max(map(len, [*summary_lines(told), *next_lines(told)])) <= 80


def test_a_slice_table_names_each_metric_once(file_store: Store) -> None:
    lines = summary_lines(wide_run(file_store))
    start = next(at for at, line in enumerate(lines) if line.startswith("BY lang"))
    table = lines[start : lines.index("", start)]
    assert [line.split()[0] for line in table[1:]] == [
        word for name in ("code_token_f1", "code_rouge_l", "code_output_length", "code_exact_match", "house.a_rather_long_name_of_theirs")
        for word in (name, "a", "de")
    ]  # fmt: skip
    assert all(line.startswith("  ") == (line.split()[0] in ("a", "de")) for line in table[1:])


def test_a_pass_rate_is_told_with_its_interval(file_store: Store) -> None:
    rows = [{"id": str(at), **(RIGHT if at else WRONG)} for at in range(4)]
    told = summary(file_store, rows, "code_token_f1", tables={"metrics": {"code_token_f1": {"threshold": 0.8}}})
    note = next(line for line in summary_lines(told) if line.startswith("code_token_f1: "))
    assert note.startswith("code_token_f1: 75 % (30 % – 95 %) pass at 0.8")


def test_what_to_type_next_is_what_works(file_store: Store) -> None:
    told = summary(file_store, [{"id": str(at), **(RIGHT if at else WRONG)} for at in range(4)], "code_exact_match")
    run_id = told.info.run_id
    assert next_lines(told) == [f"run {run_id}. Rows that fail: metrics results latest --failed", "As a table: metrics export latest -o results.csv"]
    assert next_lines(told, config="'my file.toml'", found_done=2)[:2] == [
        "continued: 2 rows had been stored before",
        f"run {run_id}. Rows that fail: metrics results latest --failed -c 'my file.toml'",
    ]


def test_an_incomplete_run_is_named_by_its_id_and_says_why(file_store: Store) -> None:
    told = summary(file_store, [{"id": "a", "output": {"no": "text"}, "expected": "x"}], "code_exact_match")
    text = " ".join(line.strip() for line in summary_lines(told))
    assert "INCOMPLETE: 1 of 1 results are errors (100.0 %), more than max_error_rate = 0.05" in text
    assert f"Errors: metrics results {told.info.run_id} --errors" in "\n".join(next_lines(told))


def test_hostile_names_and_values_are_shown_as_symbols(file_store: Store) -> None:
    rows = [{"id": "a", "output": "x", "lang": "\x1b[31mred\u202e"}]
    told = summary(file_store, rows, "code_output_length", slices=("lang",), name="\x1b]0;owned\x07")
    text = "\n".join([*summary_lines(told), *next_lines(told)])
    assert not any(bad in text for bad in ("\x1b", "\x07", "\u202e"))
    assert "␛[31mred<U+202E>" in text


def test_left_out_rows_are_told(file_store: Store) -> None:
    told = summary(file_store, FOUR, "code_output_length", where=(("lang", "en"),))
    assert "2 rows left out by --where or --limit" in summary_lines(told)
