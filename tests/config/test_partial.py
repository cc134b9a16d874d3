"""A config with something wrong in it still gives what is right, so that the rest can be checked in the same go."""

from __future__ import annotations

from pathlib import Path

import pytest

from measurand.config import ConfigError, load

WRONG = """
project = "p"
[data]
path = "rows.jsonl"
[run]
metrics = ["code_token_f1"]
on_mising = "skip"
draws = "many"
[models.a]
provider = "openai"
[models.b]
provider = "openai"
model = "m"
"""


def partial_of(path: Path, text: str, **environ: str) -> ConfigError:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load(path, environ=environ)
    return refused.value


def test_what_is_right_is_kept_and_what_is_wrong_is_left_out(tmp_path: Path) -> None:
    error = partial_of(tmp_path / "metrics.toml", WRONG)
    assert [problem.code for problem in error.problems] == ["unknown_key", "invalid_value", "missing_key"]
    kept = error.partial
    assert kept.run.metrics == ("code_token_f1",)
    assert kept.run.draws == 1
    assert list(kept.models) == ["b"]


def test_nothing_is_kept_of_a_config_that_reaches_too_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = partial_of(tmp_path / "metrics.toml", WRONG.replace("rows.jsonl", "../rows.jsonl"), METRICS_CONFINE="1")
    assert error.partial is None
    assert any("rows.jsonl" in str(problem) for problem in error.problems)


def test_nothing_is_kept_of_what_is_no_toml(tmp_path: Path) -> None:
    assert partial_of(tmp_path / "metrics.toml", "metrics = [").partial is None
