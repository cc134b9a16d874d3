"""Commands in this process, in a folder of their own: as a user types them, without the cost of a start."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from measurand.cli.main import main
from measurand.report.schemas import SCHEMAS


def valid(document: Any, schema: str) -> Any:
    """The document, when it is what `metrics schema NAME` says."""
    import jsonschema

    jsonschema.validate(document, SCHEMAS[schema][1]())
    return document


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON Lines on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def sentence(self) -> str:
        """All that was said on stderr, one line."""
        return " ".join(line.strip() for line in self.err.splitlines())


class Here:
    """The folder, and what is typed in it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(folder)
        for name in ("METRICS_CONFINE", "METRICS_ALLOW_HOSTS", "METRICS_ALLOW_KEYS", "METRICS_NO_PLUGINS"):
            monkeypatch.delenv(name, raising=False)

    def __call__(self, *words: str, **environ: str) -> Ran:
        with self._monkeypatch.context() as now:
            for name, value in environ.items():
                now.setenv(name, value)
            now.setattr(sys, "argv", ["metrics", *words])
            self._capsys.readouterr()
            code = main()
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def rows(self, name: str, rows: Iterable[Mapping[str, Any]]) -> str:
        """A file of JSON Lines."""
        (self.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return name

    def text(self, name: str, text: str) -> str:
        """A file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name


ROWS = (
    {"id": "a", "input": "q1", "output": "Paris", "expected": "paris", "lang": "en", "tags": ["x"]},
    {"id": "b", "input": "q2", "output": "Rome, Italy", "expected": ["Rome", "Roma"], "lang": "de", "tags": ["y"]},
    {"id": "c", "input": "q3", "output": "", "expected": "z", "lang": "en", "tags": ["x", "y"]},
    {"id": "d", "input": "q4", "output": "q", "lang": "fr"},
)
"""Four rows; the last one has no `expected`."""

CONFIG = """
project = "p"
[data]
path = "rows.jsonl"
[run]
metrics = ["code_token_f1", "code_output_length"]
on_missing = "skip"
"""


def house(here: Here) -> Here:
    """With rows and a config."""
    here.rows("rows.jsonl", ROWS)
    here.text("metrics.toml", CONFIG)
    return here
