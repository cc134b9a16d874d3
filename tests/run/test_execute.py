"""Blocks of rows become batches of outcomes; what is kept of their texts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from measurand.core.cell import EvaluationContext
from measurand.core.instance import instance
from measurand.core.metric import Score, metric
from measurand.core.opaque import opaque
from measurand.core.taxonomy import MetricCategory
from measurand.index import registry
from measurand.run.execute import BLOCK, Job, ResultBatch, execute, slice_value

from .planning import FOUR, Rows, known, plan  # noqa: TID252  # tests are imported by path, there is no package to name


def batches(rows: Rows, *names: str, slices: tuple[str, ...] = (), content: str = "full") -> list[ResultBatch]:
    made = plan(rows, "code_output_length")
    assert made.dataset is not None
    return list(execute(Job(tuple(instance(registry[name]) for name in names), slices, content), made.dataset.records()))


def test_rows_and_results_in_their_order() -> None:
    (batch,) = batches(FOUR, "code_exact_match", "code_output_length")
    assert [(sample[0], sample[1]) for sample in batch.samples] == [(0, "a"), (1, "b"), (2, "c"), (3, "d")]
    assert [result[:4] for result in batch.results] == [
        (0, 0, 0, 0.0), (0, 1, 0, 5.0),
        (1, 0, 0, 0.0), (1, 1, 0, 11.0),
        (2, 0, 0, 0.0), (2, 1, 0, 0.0),
        (3, 0, 1, None), (3, 1, 0, 1.0),
    ]  # fmt: skip
    assert json.loads(batch.results[6][4]) == {"error": {"code": "missing_field", "message": "the row has no expected", "field": "expected"}}
    assert batch.errors == 0


def test_blocks_of_two_thousand() -> None:
    rows = [{"id": f"r{at}", "output": "x"} for at in range(BLOCK + 3)]
    assert [len(batch.samples) for batch in batches(rows, "code_output_length")] == [BLOCK, 3]


def test_a_metric_that_raises_spoils_its_own_cell_only(raising: str) -> None:
    (batch,) = batches([{"id": f"r{at}", "output": text} for at, text in enumerate(("a", "boom", "c"))], raising, "code_output_length")
    assert [result[2] for result in batch.results] == [0, 0, 2, 0, 0, 0]
    assert json.loads(batch.results[2][4])["error"] == {"code": "internal", "message": "RuntimeError: boom"}
    assert batch.errors == 1


@pytest.fixture
def raising() -> Iterator[str]:
    @metric("test.raising", categories=MetricCategory.Correctness)
    def raises(output: str) -> bool:
        """Raises on one text."""
        if output == "boom":
            raise RuntimeError(output)
        return True

    with known(raises) as name:
        yield name


@pytest.fixture
def nan_keeping() -> Iterator[str]:
    @metric("test.nan", categories=MetricCategory.Correctness)
    def keeps(output: str) -> Score[float]:
        """Keeps what JSON does not have."""
        return Score(0.5, details={"nan": float("nan"), "deep": [{"inf": float("inf"), 3: output}]})

    with known(keeps) as name:
        yield name


def test_what_json_does_not_have_is_null_in_details(nan_keeping: str) -> None:
    (batch,) = batches([{"id": "a", "output": "x"}], nan_keeping)
    assert json.loads(batch.results[0][4]) == {"details": {"nan": None, "deep": [{"inf": None, "3": "x"}]}}


def test_a_score_that_is_no_number_is_an_error_and_no_score() -> None:
    @metric("test.no_number", categories=MetricCategory.Correctness)
    def no_number(output: str) -> float:
        """NaN."""
        return float("nan") if output == "b" else 0.5

    made = plan([{"id": one, "output": one} for one in "abc"], "code_output_length")
    assert made.dataset is not None
    (batch,) = execute(Job((instance(no_number),), (), "full"), made.dataset.records())
    assert [result[2:4] for result in batch.results] == [(0, 0.5), (2, None), (0, 0.5)]
    assert json.loads(batch.results[1][4])["error"]["code"] == "invalid_score"


class Half:
    """A metric that is an object, and awaits."""

    name = "test.half"
    categories = MetricCategory.Correctness
    requires = ("output",)

    async def evaluate(self, context: EvaluationContext) -> float | None:
        await asyncio.sleep(0)
        return None if context.fields["output"] == "b" else len(context.fields["output"]) / 2


def test_a_metric_that_awaits_is_driven_also_within_a_running_loop() -> None:
    made = plan([{"id": one, "output": one} for one in "abc"], "code_output_length")
    assert made.dataset is not None
    job, dataset = Job((instance(opaque(Half())), instance(registry["code_output_length"])), (), "full"), made.dataset

    async def within() -> list[ResultBatch]:
        return list(execute(job, dataset.records()))

    for (batch,) in (list(execute(job, dataset.records())), asyncio.run(within())):
        assert [result[2:4] for result in batch.results] == [(0, 0.5), (0, 1.0), (1, None), (0, 1.0), (0, 0.5), (0, 1.0)]


# ---------------------------------------------------------------- what is kept

TEXTS: Rows = ({"id": "a", "output": "TEXT one", "expected": {"TEXT": 1}, "tags": ["TEXT tag"], "note": "TEXT note", "n": 7},)


def test_full_keeps_the_row_as_it_was_read() -> None:
    ((sample,), _, _) = batches(TEXTS, "code_output_length")[0]
    assert json.loads(sample[8]) == TEXTS[0]
    assert json.loads(sample[6]) == ["TEXT tag"]


def test_masked_keeps_shapes_and_numbers() -> None:
    (batch,) = batches(TEXTS, "code_json_match", "code_exact_match", content="masked")
    (sample,) = batch.samples
    kept = json.loads(sample[8])
    assert list(kept) == list(TEXTS[0])
    assert kept["n"] == 7
    assert kept["output"].startswith("‹8 chars ")
    assert sample[6] is None
    errors = [json.loads(result[4])["error"] for result in batch.results if result[2] == 2]
    assert errors
    assert all(error["message"] == f"{error['code']} (the message is not kept: [run] content)" for error in errors)


def test_none_keeps_no_row_and_no_details() -> None:
    rows = [{"id": "a", "output": "TEXT", "expected": ["TEXT b", "TEXT c"]}]
    (batch,) = batches(rows, "code_token_f1", "code_chrf", content="none")
    assert batch.samples[0][8] is None
    assert "TEXT" not in json.dumps([batch.samples[0][:5], batch.results])
    assert all(result[4] is None or "details" not in json.loads(result[4]) for result in batch.results)


@pytest.mark.parametrize("content", ["full", "masked", "none"])
def test_what_was_asked_to_be_sliced_by_is_kept(content: str) -> None:
    (batch,) = batches(TEXTS, "code_output_length", slices=("tags", "metadata.n"), content=content)
    assert json.loads(batch.samples[0][7]) == {"tags": ["TEXT tag"], "metadata.n": 7}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tags", ["x"]),
        ("metadata.lang", "en"),
        ("lang", "en"),
        ("metadata.deep.er", 3),
        ("metadata.none", None),
        ("metadata.lang.deeper", None),
        ("status", None),
    ],
)
def test_the_value_a_row_is_sliced_by(name: str, value: Any) -> None:
    assert slice_value({"tags": ["x"], "metadata": {"lang": "en", "deep": {"er": 3}}}, name) == value


def test_a_row_without_metadata_has_no_value() -> None:
    assert slice_value({"output": "x"}, "metadata.lang") is None
