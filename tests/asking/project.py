"""A folder in which `metrics` is run against the mock server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from tests.servers.mock import MockServer

from measurand.cli import main

RAG: Final = ("llm_faithfulness", "llm_answer_relevance", "llm_context_precision", "llm_context_recall")
KEY: Final = "sk-judge-of-tests-0123456789"


class Ran(NamedTuple):
    """How the command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document it printed."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The documents it printed, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def rag_row(number: int, passages: int = 4) -> dict[str, Any]:
    """A question with an answer, an expected answer of two sentences, and retrieved passages."""
    return {
        "id": f"r{number}",
        "input": f"Question {number}: how long do refunds take, and what do they cost?",
        "output": f"Refund {number} takes five days. It is free of charge.",
        "expected": f"Refund {number} takes five days. It costs nothing.",
        "contexts": [f"Passage {number}-{at}: refunds are paid within five days and are free of charge." for at in range(passages)],
    }


class Project:
    """Rows, a config with one judge and one embedding model, and the command in this process or in one of its own."""

    def __init__(self, folder: Path, mock: MockServer, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.mock = mock
        self._capsys = capsys
        self.rows([rag_row(number) for number in range(5)])
        self.config()

    def rows(self, rows: list[dict[str, Any]]) -> None:
        """Writes rows.jsonl."""
        (self.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def config(self, *, metrics: tuple[str, ...] = RAG, judge: str = "", embedding: str = "", run: str = "", rest: str = "") -> None:
        """Writes metrics.toml; `judge`, `embedding` and `run` are further lines of their tables."""
        (self.folder / "metrics.toml").write_text(
            f'project = "p"\n[data]\npath = "rows.jsonl"\n'
            f'[models.judge]\nprovider = "openai"\nmodel = "mock"\nbase_url = "{self.mock.base_url}"\napi_key_env = "JUDGE_KEY"\n{judge}\n'
            f'[embeddings.near]\nprovider = "openai"\nmodel = "mock-embed"\nbase_url = "{self.mock.base_url}"\napi_key_env = "JUDGE_KEY"\n{embedding}\n'
            f'[run]\nmetrics = {json.dumps(metrics)}\njudge = "judge"\nembedding = "near"\n{run}\n{rest}\n',
            encoding="utf-8",
        )

    def __call__(self, *words: str) -> Ran:
        """Runs the command in this process."""
        self._capsys.readouterr()
        code = main(list(words))
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def start(self, *words: str, **environ: str) -> subprocess.Popen[str]:
        """Starts the command as a process."""
        return subprocess.Popen(
            [sys.executable, "-m", "measurand", *words],
            cwd=self.folder,
            env={**os.environ, "JUDGE_KEY": KEY, "PYTHONIOENCODING": "utf-8", **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, code: int = 0) -> Any:
        """`metrics run --json`; its document."""
        ran = self("run", "--json", *words)
        assert ran.code == code, ran.err or ran.out
        return ran.json

    def results(self, *words: str) -> list[Any]:
        """`metrics results latest --json`."""
        return self("results", *(words or ("latest",)), "--json").lines

    @property
    def chats(self) -> int:
        """Chat requests that the mock saw, the probe not counted."""
        return sum(not is_probe(body) for body in self.mock.bodies())


def is_probe(body: dict[str, Any]) -> bool:
    """Whether a request asks what the model can do."""
    from measurand.judge import probe

    return bool(body["messages"][-1]["content"] == probe().request.messages[-1].content)
