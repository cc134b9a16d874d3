"""Whole runs against a real model behind a real server. What it answers is chance; what is looked at is structure, ranges, determinism, errors, and resuming."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.local_model import LocalModel

from measurand.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.local_model]

ROWS = [
    {"id": "a", "input": "Where is the Nile?", "output": "The Nile is in Africa.", "expected": "In Africa.", "contexts": ["The Nile is a river in Africa."]},
    {"id": "b", "input": "Is tea hot?", "output": "Tea is served cold with ice.", "expected": "Yes.", "contexts": ["Tea is served hot."]},
    {"id": "c", "input": "Who wrote Emma?", "output": "", "expected": "Jane Austen.", "contexts": ["Emma is a novel by Jane Austen."]},
]


@pytest.fixture(scope="module")
def server() -> Iterator[LocalModel]:
    with LocalModel(ctx=4096) as running:
        yield running


class Judged:
    """A folder with three rows and a config that asks the server."""

    def __init__(self, folder: Path, server: LocalModel, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.server = server
        self._capsys = capsys
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def config(self, metrics: list[str], run: str = "", judge: str = "") -> None:
        (self.folder / "metrics.toml").write_text(
            f'[data]\npath = "rows.jsonl"\n[models.judge]\nprovider = "openai"\nmodel = "smollm2"\nbase_url = "{self.server.base_url}"\ntemperature = 0.0\n'
            f"max_output_tokens = 120\nmax_concurrency = 2\nmax_retries = 1\nextra_body = {{ cache_prompt = false }}\n{judge}\n"
            f'[run]\njudge = "judge"\nmetrics = {json.dumps(metrics)}\nmax_error_rate = 1.0\n{run}\n'
        )

    def __call__(self, *words: str) -> tuple[int, str]:
        self._capsys.readouterr()
        code = main([*words])
        return code, self._capsys.readouterr().out

    def results(self) -> list[Any]:
        return [json.loads(line) for line in self("results", "latest", "--json")[1].splitlines()]


@pytest.fixture
def judged(tmp_path: Path, server: LocalModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Judged:
    monkeypatch.chdir(tmp_path)
    return Judged(tmp_path, server, capsys)


EVERY = ["llm_faithfulness", "llm_answer_relevance", "llm_context_precision", "llm_context_recall", "llm_agent_goal", "llm_task_completion"]


@pytest.mark.parametrize("way", ["auto", "sampled"])
def test_every_metric_runs_from_end_to_end(judged: Judged, way: str) -> None:
    judged.config(EVERY, judge=f'p = "{way}"')
    code, out = judged("run", "--json")
    assert code == 0, out
    for one in judged.results():
        assert (one["score"] is None) is (one["status"] != "ok")
        assert one["score"] is None or 0 <= one["score"] <= 1
        assert one["status"] == "ok" or one["error"]["message"]
        if one["probabilities"]:
            assert sum(one["probabilities"].values()) == pytest.approx(1)
    assert Counter(one["status"] for one in judged.results())["ok"] >= 6
    document = json.loads(out)
    assert document["usage"]["unreported_calls"] == 0
    assert document["usage"]["input_tokens"] > 500


def test_together(judged: Judged) -> None:
    judged.config(EVERY, run='ask = "together"', judge='p = "sampled"')
    code, out = judged("run", "--json")
    assert code == 0, out
    assert {one["metric"] for one in judged.results()} == set(EVERY)


def test_the_same_bits_again(judged: Judged) -> None:
    judged.config(["llm_answer_relevance", "llm_agent_goal"], judge="")
    toml = judged.folder / "metrics.toml"
    toml.write_text(toml.read_text().replace("max_concurrency = 2", "max_concurrency = 1"))  # what shares a batch shares its rounding
    assert judged("run", "--json")[0] == 0
    first = [(one["metric"], one["sample_id"], one["score"], one["probabilities"]) for one in judged.results()]
    assert judged("run", "--json", "--mode", "live")[0] == 0
    assert [(one["metric"], one["sample_id"], one["score"], one["probabilities"]) for one in judged.results()] == first


def test_a_server_that_dies_ends_the_run_and_the_same_command_goes_on(judged: Judged, tmp_path: Path) -> None:
    with LocalModel() as mortal:
        judged.server = mortal
        judged.config(["llm_answer_relevance"], judge='p = "sampled"\nidentity = "smollm2"')
        assert judged("run", "--json", "--limit", "1")[0] == 0
        mortal.kill()
        judged.config(["llm_answer_relevance"], judge='p = "sampled"\nidentity = "smollm2"', run="")
        (tmp_path / "metrics.toml").write_text((tmp_path / "metrics.toml").read_text().replace("max_error_rate = 1.0", ""))
        code, out = judged("run", "--json")
        assert code == 3
        broken = json.loads(out)
        assert broken["status"] == "incomplete"
        mortal.start()
        code, out = judged("run", "--json")
        ended = json.loads(out)
        assert (code, ended["run_id"], ended["metrics"][0]["errors"]) == (0, broken["run_id"], 0)
        assert ended["usage"]["cached_calls"] == 1
