"""Python's door, as a user of a script or a notebook meets it."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pandas
import polars
import pytest

import measurand
from measurand import MetricCategory, RunResult, aevaluate, evaluate, metric, registry, score
from measurand.core.errors import ProblemsError, RunIncompleteError, UsageError

ROWS: Final[list[dict[str, Any]]] = [
    {"input": "Capital of France?", "output": "Paris, France", "expected": "paris", "lang": "fr"},
    {"input": "Capital of Italy?", "output": "Rome", "expected": "rome", "lang": "it"},
]
F1: Final = [pytest.approx(2 / 3), 1.0]


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    kept = registry.snapshot
    yield
    registry._snapshot = kept


def scores(run: RunResult, name: str | None = None) -> list[float | None]:
    return [result.score for result in run.results(name)]


def refused(call: Callable[[], object]) -> list[str]:
    with pytest.raises(ProblemsError) as error:
        call()
    return [str(problem) for problem in error.value.problems]


# ---------------------------------------------------------------- score


def test_score_takes_a_name_an_alias_a_quantity_or_what_was_declared() -> None:
    for one in ("code_token_f1", "outcome.f1_token", "token_f1", registry["code_token_f1"]):
        result = score(one, output="Paris, France", expected="paris")
        assert result.metric == "code_token_f1"
        assert result.score == pytest.approx(2 / 3)


def test_score_never_raises_for_what_a_row_lacks_or_holds() -> None:
    assert score("code_token_f1", output="x").status == "not_applicable"
    unreadable = score("code_token_f1", output={"a": 1}, expected="x")
    assert (unreadable.status, unreadable.error and unreadable.error.code) == ("error", "invalid_field")


def test_a_field_that_is_not_there_goes_before_one_that_cannot_be_read() -> None:
    assert score("code_token_f1", output={"a": 1}).status == "not_applicable"


def test_options_name_the_result_and_a_threshold_decides_what_passes() -> None:
    result = score("code_hit_rate", options={"k": 1}, threshold=0.5, contexts=["a b"], reference_contexts=["c d"])
    assert (result.metric, result.score, result.passed) == ("code_hit_rate(k=1)", 0.0, False)


@pytest.mark.parametrize(
    ("call", "sentences"),
    [
        (lambda: score("code_tokn_f1", output="x"), ["score: no metric is called 'code_tokn_f1'; did you mean code_token_f1"]),
        (lambda: score("code_token_f1", outptu="x"), ["score: 'outptu' is no field of a record; did you mean output?"]),
        (lambda: score("code_token_f1", response="x"), ["score: 'response' is no field of a record; a column of this name is read as output; write output=…"]),
        (lambda: score("code_mrr", options={"q": 1}), ["score: code_mrr has no option 'q'; it takes k, min_overlap"]),
        (lambda: score("code_mrr", options={"k": 0, "min_overlap": 2}), ["k = 0 is not a whole number from 1", "min_overlap = 2 is not a number from 0 to 1"]),
        (lambda: score("code_mrr", options={"k": True}), ["k = True is not a whole number from 1"]),
        (lambda: score("code_regex_match", output="x"), ["score: code_regex_match needs the option 'pattern', which has no default"]),
        (lambda: score("code_exact_match", threshold=float("nan")), ["score: code_exact_match: the threshold nan is no number"]),
        (lambda: score("code_exact_match", threshold="0.5"), ["score: code_exact_match: the threshold '0.5' is no number"]),  # type: ignore[arg-type]
        (lambda: score(len), ['is no metric; decorate it: @metric("house.name")']),  # type: ignore[arg-type]
        (lambda: score(5), ["score: 5 is no metric; a name"]),  # type: ignore[arg-type]
        (
            lambda: score("token_f1", output="x"),
            ["'token_f1' names a quantity, and no metric that needs no model can measure it on this data; write code_token_f1"],
        ),
    ],
)
def test_what_cannot_be_scored_is_said(call: Callable[[], object], sentences: list[str]) -> None:
    said = refused(call)
    assert len(said) == len(sentences)
    for sentence, expected in zip(said, sentences, strict=True):
        assert expected in sentence


def test_a_result_shows_what_there_is_to_see() -> None:
    assert repr(score("code_exact_match", output="a", expected="b")) == "MetricResult(metric='code_exact_match', score=0.0, status='ok', passed=False)"


# ---------------------------------------------------------------- evaluate: data


@pytest.mark.parametrize("make", [list, tuple, iter, pandas.DataFrame, polars.DataFrame, polars.LazyFrame], ids=lambda make: make.__name__)
def test_rows_in_any_form(make: Callable[[list[dict[str, Any]]], Any]) -> None:
    assert scores(evaluate(make(ROWS), "code_token_f1")) == F1


def test_a_path_and_an_earlier_run(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    run = evaluate(path, ["code_token_f1"])
    assert scores(run) == scores(evaluate(str(path), ["code_token_f1"])) == F1
    again = evaluate(run, ["code_exact_match"])
    assert scores(again) == [0.0, 0.0]
    assert again.summary().to_dict()["dataset"]["path"] == f"run:{run.run_id}"


def test_an_earlier_run_is_read_by_the_columns_it_was_read_by() -> None:
    run = evaluate([{"Q": "a", "A": "b", "Gold": "b"}], "code_exact_match", columns={"output": "A", "expected": "Gold"})
    assert scores(evaluate(run, "code_token_f1")) == [1.0]


def test_a_run_that_kept_no_texts_cannot_be_scored_again() -> None:
    for content in ("none", "masked"):
        run = evaluate(ROWS, "code_exact_match", config={"run": {"content": content}})
        with pytest.raises(UsageError) as error:
            evaluate(run, "code_token_f1")
        assert str(error.value) == f'run {run.run_id}: the run was kept without its texts; only runs with content = "full" keep their rows'


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"a": 1}, "data: dict is no dataset; a path, a list of paths, rows as mappings, or a pandas or polars frame"),
        (5, "data: int is no dataset"),
        ([], "0 rows: the dataset is empty"),
        ([1], "the row is int, not an object"),
        ("nowhere.jsonl", "nowhere.jsonl: there is no such file"),
        (None, 'no data is named; write path = "rows.jsonl" under [data], or give data'),
    ],
)
def test_what_is_no_data_is_said(data: Any, sentence: str) -> None:
    said = refused(lambda: evaluate(data, "code_exact_match"))
    assert sentence in said[0]


# ---------------------------------------------------------------- evaluate: metrics and settings


def test_metrics_by_name_with_options_by_suite_and_as_declared() -> None:
    run = evaluate(ROWS, ['code_output_length(unit="words")', "code_output_length", registry["code_token_f1"], "suite:text"])
    assert scores(run, 'code_output_length(unit="words")') == [2.0, 1.0]
    assert scores(run, "code_output_length") == [13.0, 4.0]
    assert {"code_token_f1", "code_chrf"} <= {result.metric for result in run.results()}


def test_config_as_a_path_and_as_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "metrics.toml"
    path.write_text('[run]\nmetrics = ["code_token_f1"]\n[metrics.code_token_f1]\nthreshold = 0.9\n', encoding="utf-8")
    for config in (path, str(path), {"run": {"metrics": ["code_token_f1"]}, "metrics": {"code_token_f1": {"threshold": 0.9}}}):
        assert [result.passed for result in evaluate(ROWS, config=config).results()] == [False, True]


def test_models_embeddings_and_mode_go_over_the_config(tmp_path: Path) -> None:
    path = tmp_path / "metrics.toml"
    path.write_text('[run]\njudge = "judge"\n[models.judge]\nprovider = "openai"\nmodel = "old"\n[models.other]\nprovider = "openai"\nmodel = "other"\n')
    judge = {"provider": "openai", "model": 'new "quoted" é', "price": {"input": 1, "output": 2.5}, "headers": {"X-Team": "search"}}
    run = evaluate(ROWS, "code_exact_match", config=path, models={"judge": judge}, embeddings={"small": {"provider": "local", "model": "m"}}, mode="replay")
    config = run.summary().info.config
    assert config["models"]["judge"]["model"] == 'new "quoted" é'
    assert config["models"]["judge"]["price"] == {"input": 1.0, "output": 2.5}
    assert config["models"]["other"]["model"] == "other"
    assert config["embeddings"]["small"]["model"] == "m"
    assert config["run"]["mode"] == "replay"


def test_where_limit_columns_slices_and_name() -> None:
    assert scores(evaluate(ROWS, "code_token_f1", where={"lang": "it"})) == [1.0]
    assert scores(evaluate(ROWS, "code_token_f1", limit=1)) == F1[:1]
    run = evaluate(
        [{**row, "answer text": row.pop("output")} for row in map(dict, ROWS)], "code_token_f1", columns={"output": "answer text"}, slices="lang", name="n"
    )
    summary = run.summary().to_dict()
    assert summary["name"] == "n"
    assert [(part["value"], part["mean"]) for part in summary["metrics"][0]["slices"]] == [("fr", F1[0]), ("it", 1.0)]


def test_a_missing_field_stops_or_is_counted() -> None:
    rows = [{"input": "a", "output": "x", "expected": None}, {"input": "b", "output": "y", "expected": "y"}]
    assert refused(lambda: evaluate(rows, ["code_exact_match", "code_output_length"])) == [
        'the rows: code_exact_match needs expected; 1 of 2 rows lack it (row 1); add it, or run with on_missing="skip" to leave those cells out, counted'
    ]
    run = evaluate(rows, ["code_exact_match", "code_output_length"], on_missing="skip")
    assert scores(run, "code_exact_match") == [None, 1.0]
    assert run.summary().to_dict()["metrics"][0]["not_applicable"] == 1


def test_without_a_store_nothing_is_written_and_with_one_the_run_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(ROWS, "code_exact_match")
    assert list(tmp_path.iterdir()) == []
    run = evaluate(ROWS, "code_exact_match", store=f"sqlite:///{tmp_path}/kept.db")
    assert scores(run) == [0.0, 0.0]
    assert (tmp_path / "kept.db").exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"metrics": ["code_tokn_f1"]}, "metrics: no metric is called 'code_tokn_f1'; did you mean code_token_f1"),
        ({"metrics": [len]}, 'metrics: <built-in function len> is no metric; decorate it: @metric("house.name")'),
        ({"metrics": []}, 'no metrics are named; write metrics = ["code_token_f1"] under [run], or give metrics=["NAME"]'),
        ({"columns": {"outptu": "A"}}, "column outptu: 'outptu' is no field of a record; did you mean output?"),
        ({"columns": {"output": "A"}}, "column output: no column is called 'A'; the data has input, output, expected, lang"),
        ({"where": {"lng": "fr"}}, 'where={"lng": "fr"}: nothing in the data is called \'lng\'; did you mean lang?'),
        ({"where": {"lang": "xx"}}, 'none of 2 meets where={"lang": "xx"}'),
        ({"limit": 0}, "limit=0 leaves none of 2; give a limit from 1"),
        ({"slices": "lng"}, "slices: the rows have nothing called 'lng' to slice by"),
        ({"on_missing": "ignore"}, "on_missing: is 'ignore'; allowed: stop, skip"),
        ({"on_missing": 'skip" x'}, "on_missing: is 'skip\" x'; did you mean skip? allowed: stop, skip"),
        ({"mode": "offline"}, "mode: is 'offline'; allowed: cache, live, replay"),
        ({"config": {"run": {"metrcs": []}}}, "config: [run] metrcs: unknown key metrcs; did you mean metrics?"),
        ({"config": "nowhere.toml"}, "nowhere.toml: there is no such file"),
        ({"models": {"judge": {"provider": "openai"}}}, "models.judge"),
        ({"store": "mysql://x"}, "no store can be kept in 'mysql'"),
    ],
)
def test_what_cannot_be_evaluated_is_said_in_the_words_of_python(given: dict[str, Any], sentence: str) -> None:
    said = refused(lambda: evaluate(ROWS, **{"metrics": ["code_exact_match"], **given}))
    assert any(sentence in one for one in said), said
    assert not any("--" in one for one in said if "metrics" not in given), said


def test_a_run_that_ends_incomplete_says_so() -> None:
    with pytest.raises(RunIncompleteError, match=r"2 of 2 results are errors .* `run` of this error holds them") as error:
        evaluate([{"output": {"a": 1}, "expected": "x"}, {"output": {"a": 2}, "expected": "y"}], "code_exact_match")
    assert [result.error.code for result in error.value.run.results()] == ["invalid_field", "invalid_field"]


# ---------------------------------------------------------------- what comes back


def test_a_summary_frames_and_a_repr() -> None:
    run = evaluate(ROWS, ["code_token_f1", "code_exact_match"])
    assert [one["name"] for one in run.summary().to_dict()["metrics"]] == ["code_token_f1", "code_exact_match"]
    for frame in (run.frame("pandas"), run.frame("polars"), run.frame()):
        assert frame.shape == (4, 18)
        assert list(frame["metric"]) == ["code_token_f1", "code_exact_match"] * 2
    assert repr(run).splitlines()[1].split()[:3] == ["code_token_f1", "2", "0.833"]
    assert list(run.rows()) == ROWS
    with pytest.raises(UsageError, match="'panda' is no frame library that is known here; pandas or polars"):
        run.frame("panda")
    with pytest.raises(UsageError, match="code_mrr"):
        list(run.results("code_mrr"))


def test_inside_a_running_event_loop() -> None:
    async def cells() -> tuple[list[float | None], list[float | None], float | None, float | None]:
        here = evaluate(ROWS, "code_token_f1")
        there, other = await asyncio.gather(aevaluate(ROWS, "code_token_f1"), aevaluate(ROWS, metrics="code_exact_match"))
        alone = await registry["code_token_f1"].evaluate(ROWS[1])
        return scores(here), scores(there), scores(other)[0], alone.score

    assert asyncio.run(cells()) == (F1, F1, 0.0, 1.0)


def test_aevaluate_is_evaluate_awaited() -> None:
    assert inspect.signature(aevaluate) == inspect.signature(evaluate)
    assert inspect.iscoroutinefunction(aevaluate)
    assert aevaluate.__name__ == "aevaluate"


# ---------------------------------------------------------------- one's own metrics

CELL: Final = '''
from measurand import MetricCategory, metric

@metric("acme.polite", categories=MetricCategory.Fluency)
def polite(output: str) -> bool:
    """The answer says please or thank you."""
    return "please" in output.lower() or "thank" in output.lower()
'''


def test_a_cell_declares_and_a_re_run_cell_replaces() -> None:
    notebook: dict[str, Any] = {"__name__": "__main__"}
    exec(CELL, notebook)  # this is what a notebook does
    first = notebook["polite"]
    assert (score("acme.polite", output="Thank you").score, first("no")) == (1.0, False)
    assert "acme.polite" in {one.name for one in registry.by_category(MetricCategory.Fluency)}
    exec(CELL.replace('"thank"', '"danke"'), notebook)
    assert score("acme.polite", output="Thank you").score == 0.0
    assert registry["acme.polite"].version != first.version
    assert scores(evaluate([{"output": "Danke!"}], ["acme.polite", "code_output_length"], config={"data": {"id": "order"}}), "acme.polite") == [1.0]


def test_the_version_of_a_cell_follows_its_defaults_and_not_its_place_in_memory() -> None:
    source = "from measurand import metric\n@metric('acme.k')\ndef f(output: str, *, k: int = 1) -> float:\n    'D.'\n    return min(1.0, sum(map(lambda c: 1 / k, output)))"
    versions = []
    for text in (source, "\n" + source, source.replace("k: int = 1", "k: int = 2"), source.replace("1 / k", "2 / k")):
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(text, space)
        versions.append(space["f"].version)
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3


@pytest.mark.parametrize("decorate", ["@metric('acme.m')", "@metric(first='acme.m')", "@metric('acme.m', categories=None)"])
def test_forms_of_the_decorator(decorate: str) -> None:
    space: dict[str, Any] = {"metric": metric, "__name__": "__main__"}
    exec(f"{decorate}\ndef f(output: str) -> bool:\n    'D.'\n    return True", space)
    assert registry["acme.m"] is space["f"]


def test_a_judged_metric_in_a_cell_without_the_future_import() -> None:
    space: dict[str, Any] = {"__name__": "__main__"}
    source = "from measurand import *\n@metric('acme.j')\ndef f(output: str) -> Steps[Judge | Embedder, float | None]:\n    'D.'\n    verdict = yield Ask('Is `output` kind?')\n    return verdict.value"
    exec(source, space)
    assert (space["f"].judge, space["f"].embedder, space["f"].type) == (True, True, "proportion")
    assert "asks a judge" in refused(lambda: evaluate(ROWS, "acme.j"))[0]


def test_help_and_inspect_see_the_formula() -> None:
    assert str(inspect.signature(registry["code_regex_match"])) == str(inspect.signature(registry["code_regex_match"].function))
    assert repr(registry["code_token_f1"]) == "<metric code_token_f1(output, expected): proportion>"


def test_what_a_metric_keeps_is_json_wherever_it_is_read() -> None:
    space: dict[str, Any] = {"metric": metric, "Score": measurand.Score, "__name__": "__main__"}
    exec(
        "@metric('acme.keeps')\ndef f(output: str) -> Score[float]:\n    'D.'\n    return Score(1.0, details={'a': {1}, 'b': float('nan'), 3: (2, 1j)})", space
    )
    wanted = {"a": [1], "b": None, "3": [2, "1j"]}
    assert score("acme.keeps", output="").to_dict()["details"] == wanted
    run = evaluate([{"output": "x"}], "acme.keeps", config={"data": {"id": "order"}})
    assert next(run.results()).details == wanted


def test_what_an_error_cannot_say_and_a_metric_that_would_leave_are_one_cell() -> None:
    space: dict[str, Any] = {"metric": metric, "__name__": "__main__"}
    exec(
        "class Mute(Exception):\n    def __str__(self):\n        raise self\n"
        "@metric('acme.mute')\ndef f(output: str) -> float:\n    'D.'\n    raise Mute\n"
        "@metric('acme.leaves')\ndef g(output: str) -> float:\n    'D.'\n    raise SystemExit(3)\n"
        "@metric('acme.half')\ndef h(output: str) -> bool:\n    'D.'\n    return 0.5\n",
        space,
    )
    told = {name: score(name, output="x").error for name in ("acme.mute", "acme.leaves", "acme.half")}
    assert {name: error and (error.code, error.message) for name, error in told.items()} == {
        "acme.mute": ("internal", "Mute"),
        "acme.leaves": ("internal", "SystemExit: 3"),
        "acme.half": ("invalid_score", "the metric returned 0.5, and a binary metric is 0 or 1"),
    }
