from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.config import ConfigError, Settings, from_mapping, load

Write = Callable[..., Path]
Read = Callable[..., Settings]

TEXT = """
[data]
path = "rows.jsonl"
[data.columns]
contexts = { from = "Docs", split = "," }
[models.judge]
provider = "openai"
model = "m"
base_url = "http://h/v1"
api_key_env = "JUDGE_KEY"
headers = { X-Team = "search" }
headers_env = { Authorization = "TOKEN" }
query = { api-version = "1" }
extra_body = { seed = 1 }
max_concurrency = 3
[run]
metrics = [
  "code_token_f1",
  "code_chrf",
]
judge = "judge"
mode = "live"
budget_usd = 1.0
[metrics.code_json_match]
key = "name"
[[questions]]
name = "acme.tone"
ask = "Which tone has `output`?"
type = "choice"
options = { polite = { means = "please", score = 1 }, na = { means = "none", score = "na" } }
[gate]
[gate.metrics.code_token_f1]
margin = 0.03
"""


def test_where_a_key_stands(read: Read) -> None:
    settings = read(TEXT)

    assert settings.where(("run", "metrics")) == "metrics.toml:17: [run] metrics"
    assert settings.where(("run", "metrics", 1)) == "metrics.toml:19: [run] metrics"
    assert settings.where(("models", "judge")) == "metrics.toml:6: [models.judge]"
    assert settings.where(("models", "judge", "headers", "X-Team")) == "metrics.toml:11: [models.judge] headers.X-Team"
    assert settings.where(("data", "columns", "contexts", "split")) == "metrics.toml:5: [data.columns] contexts.split"
    assert settings.where(("questions", 0, "ask")) == "metrics.toml:28: [[questions]] acme.tone ask"
    assert settings.where(("gate", "metrics", "code_token_f1", "margin")) == "metrics.toml:33: [gate.metrics.code_token_f1] margin"


def test_a_key_left_out_stands_where_its_table_does(read: Read) -> None:
    assert read(TEXT).where(("run", "store")) == "metrics.toml:16: [run] store"
    assert read("").where(("run", "metrics")) == "metrics.toml: [run] metrics"
    assert Settings.default().where(("run", "metrics")) == "[run] metrics"


def test_the_defaults_without_a_file(tmp_path: Path) -> None:
    settings = Settings.default(tmp_path / "my-project")

    assert settings.project == "my-project"
    assert settings.base == tmp_path / "my-project"
    assert Settings.default(tmp_path, project="other").project == "other"
    assert Settings.default(Path("/")).project == "project"
    assert settings.store_url({}) == f"sqlite:///{tmp_path}/my-project/.metrics/store.db"


def test_the_project_is_called_after_the_folder_of_the_file(write: Write) -> None:
    assert load(write("", "support-bot/metrics.toml"), environ={}).project == "support-bot"


def test_the_effective_config_is_json_without_secrets_and_reads_back(read: Read, tmp_path: Path) -> None:
    settings = read(TEXT)
    effective = settings.effective()

    assert json.loads(json.dumps(effective, allow_nan=False)) == effective
    assert effective["models"]["judge"]["headers"] == {"X-Team": "<redacted>"}
    assert effective["models"]["judge"]["headers_env"] == {"Authorization": "TOKEN"}
    assert effective["models"]["judge"]["api_key_env"] == "JUDGE_KEY"
    assert effective["metrics"]["code_json_match"] == {"key": "name"}
    assert effective["run"]["on_missing"] == "stop"
    assert effective["data"]["columns"] == {"contexts": {"from": "Docs", "split": ","}}
    again = from_mapping(effective, tmp_path, environ={})
    assert again.effective() == effective
    assert again.gate == settings.gate


def test_no_machine_path_enters_the_effective_config(read: Read, tmp_path: Path) -> None:
    assert str(tmp_path) not in json.dumps(read(TEXT).effective())


@pytest.mark.parametrize(
    "override",
    [
        'run.mode="replay"',
        "run.budget_usd=5",
        "run.budget_calls=5",
        "run.budget_tokens=5",
        "models.judge.max_concurrency=9",
        "models.judge.tokens_per_minute=9",
    ],
)
def test_a_plan_does_not_depend_on_speed_budget_or_mode(read: Read, override: str) -> None:
    changed = read(TEXT, override)

    assert changed.plan_relevant() == read(TEXT).plan_relevant()
    assert changed.effective() != read(TEXT).effective()


@pytest.mark.parametrize("override", ["run.draws=2", 'run.metrics=["code_chrf"]', 'models.judge.model="n"', "metrics.code_chrf.threshold=0.1", 'project="x"'])
def test_a_plan_depends_on_everything_else(read: Read, override: str) -> None:
    assert read(TEXT, override).plan_relevant() != read(TEXT).plan_relevant()


def test_the_store(read: Read, tmp_path: Path) -> None:
    assert read("").store_url({}) == f"sqlite:///{tmp_path}/.metrics/store.db"
    assert read('[run]\nstore = "sqlite:////var/x.db"\n').store_url({}) == "sqlite:////var/x.db"
    assert read('[run]\nstore = "sqlite://"\n').store_url({}) == "sqlite://"
    assert read('[run]\nstore = "postgresql://h/db"\n').store_url({}) == "postgresql://h/db"


def test_the_store_from_a_variable(read: Read, tmp_path: Path) -> None:
    settings = read('[run]\nstore_env = "DB"\n')
    (tmp_path / "url").write_text("postgresql://u:p@h/db\n")

    assert settings.store_url({"DB": "postgresql://u:p@h/db"}) == "postgresql://u:p@h/db"
    assert settings.store_url({"DB_FILE": str(tmp_path / "url")}) == "postgresql://u:p@h/db"
    with pytest.raises(ConfigError) as unset:
        settings.store_url({})
    assert str(unset.value) == "metrics.toml:2: [run] store_env: the variable DB (store_env) is not set; set DB to the store's URL"
    with pytest.raises(ConfigError) as unreadable:
        settings.store_url({"DB_FILE": str(tmp_path / "none")})
    assert str(unreadable.value) == "metrics.toml:2: [run] store_env: the file that DB_FILE names cannot be read: No such file or directory"


def test_data_paths_are_relative_to_the_file(write: Write, tmp_path: Path) -> None:
    settings = load(write('[data]\npath = ["a/*.jsonl", "/abs.csv", "-", "run:latest"]\n', "team/metrics.toml"), environ={})

    assert settings.data_paths() == (f"{tmp_path}/team/a/*.jsonl", "/abs.csv", "-", "run:latest")
