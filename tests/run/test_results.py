"""A run's results as the results of the contract, and in words."""

from __future__ import annotations

import json

import pytest

from measurand.core.errors import UsageError
from measurand.core.result import RESULT_KEYS
from measurand.report.results_text import results_lines, row_lines
from measurand.run.results import FLAT_COLUMNS, flat_row, stored_results
from measurand.run.store import Store, StoredRun
from measurand.run.stream import score_stream

from .planning import FOUR, plan, run, settings  # noqa: TID252  # tests are imported by path, there is no package to name

NAMES = ("code_exact_match", "code_token_f1", "code_output_length")


@pytest.fixture
def stored(file_store: Store) -> StoredRun:
    return run(file_store, plan(FOUR, *NAMES, on_missing="skip", tables={"metrics": {"code_token_f1": {"threshold": 0.5}}}))


def test_stored_results_are_those_of_scoring_the_same_rows(stored: StoredRun) -> None:
    scored = score_stream(settings({"metrics": {"code_token_f1": {"threshold": 0.5}}}), NAMES, FOUR, {})
    assert [one.to_dict() for one in stored_results(stored)] == [one.to_dict() for one in scored]


def test_each_has_exactly_the_keys_of_the_contract(stored: StoredRun) -> None:
    for one in stored_results(stored):
        assert tuple(one.to_dict()) == RESULT_KEYS
        json.dumps(one.to_dict(), allow_nan=False)


def test_failed_errors_and_what_does_not_apply(stored: StoredRun) -> None:
    def ids(*verdicts: str) -> list[tuple[str | None, str]]:
        return [(one.sample_id, one.metric) for one in stored_results(stored, status=verdicts)]  # type: ignore[arg-type]  # words of the store

    assert ids("failed") == [("a", "code_exact_match"), ("b", "code_exact_match"), ("c", "code_exact_match"), ("c", "code_token_f1")]
    assert ids("not_applicable") == [("d", "code_exact_match"), ("d", "code_token_f1")]
    assert ids("error") == []
    assert ids("failed", "not_applicable") == sorted(ids("failed") + ids("not_applicable"))


def test_one_metric_lowest_first_and_no_more_than_asked(stored: StoredRun) -> None:
    found = [one.score for one in stored_results(stored, metric="code_output_length", by_score=True)]
    assert found == sorted(found, key=lambda score: score or 0) == [0.0, 1.0, 5.0, 11.0]
    assert len(list(stored_results(stored, limit=2))) == 2


def test_an_unknown_metric_names_the_nearest(stored: StoredRun) -> None:
    with pytest.raises(UsageError, match="did you mean code_token_f1"):
        list(stored_results(stored, metric="code_token_f2"))


def test_flat_rows_have_the_columns_of_a_table(stored: StoredRun) -> None:
    rows = [flat_row(one) for one in stored_results(stored)]
    assert all(tuple(row) == FLAT_COLUMNS for row in rows)
    last = rows[-2]
    assert (last["sample_id"], last["metric"], last["score"], last["error_code"], last["error_message"]) == (
        "d", "code_token_f1", None, "missing_field", "the row has no expected",
    )  # fmt: skip


# ---------------------------------------------------------------- in words


def test_a_table_and_what_to_type_next(stored: StoredRun) -> None:
    lines = list(results_lines(stored_results(stored, metric="code_token_f1"), stored, "latest", filtered=True))
    assert lines == [
        "ROW  METRIC         SCORE  STATUS          PASSED  WHY",
        "a    code_token_f1  1.000  ok              yes",
        "b    code_token_f1  0.667  ok              yes",
        "c    code_token_f1  0.000  ok              no",
        "d    code_token_f1      –  not applicable          the row has no expected",
        "4 results. One row in full: metrics results latest --id a",
    ]


def test_the_next_command_can_be_typed_as_it_is(stored: StoredRun) -> None:
    last = list(results_lines(stored_results(stored, limit=1), stored, "a name", filtered=True, config="my.toml"))[-1]
    assert last == "1 result. One row in full: metrics results 'a name' --id a -c my.toml"


@pytest.mark.parametrize(("filtered", "told"), [(True, "no such results"), (False, "run {id} has no results")])
def test_nothing_is_told(stored: StoredRun, filtered: bool, told: str) -> None:
    assert list(results_lines([], stored, "latest", filtered=filtered)) == [told.format(id=stored.info.run_id)]


def test_a_row_in_full(stored: StoredRun) -> None:
    lines = row_lines(stored.row("b"), list(stored_results(stored, sample_id="b", metric="code_token_f1")))
    assert lines == [
        "row b · task b · trial 0",
        "",
        "id: b",
        "input: q2",
        "output: Rome, Italy",
        'expected: ["Rome", "Roma"]',
        "lang: de",
        "",
        "code_token_f1  0.667, passed",
        "  reference: 0",
        f"  {next(iter(stored_results(stored, metric='code_token_f1'))).signature}",
    ]


def test_hostile_texts_are_shown_as_symbols(file_store: Store) -> None:
    rows = [{"id": "\x1b[2J", "output": "\x1b]0;owned\x07ok\rFAKE PASS", "note": "abc\u202etxt.exe", "expected": "x"}]
    hostile = run(file_store, plan(rows, "code_exact_match"))
    text = "\n".join(
        [*results_lines(stored_results(hostile), hostile, "latest", filtered=False), *row_lines(hostile.row("\x1b[2J"), list(stored_results(hostile)))]
    )
    assert not any(bad in text for bad in ("\x1b", "\x07", "\r", "\u202e"))
    assert "output: ␛]0;owned␇ok␍FAKE PASS" in text
    assert hostile.row("\x1b[2J").row["output"] == rows[0]["output"]


def test_a_row_whose_texts_are_not_kept_says_so(file_store: Store) -> None:
    bare = run(file_store, plan(FOUR, "code_output_length", tables={"run": {"content": "none"}}))
    assert "the store keeps no texts of this run ([run] content)" in row_lines(bare.row("a"), [])
