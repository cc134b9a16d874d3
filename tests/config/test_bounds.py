from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.config import Bounds, Settings, check_bounds, confined, load

Write = Callable[..., Path]
Read = Callable[..., Settings]
Refused = Callable[..., list[str]]

HOSTS = "METRICS_ALLOW_HOSTS"


def _model(*lines: str, provider: str = "openai") -> str:
    return "\n".join([f'[models.j]\nprovider = "{provider}"\nmodel = "m"', *lines, ""])


@pytest.mark.parametrize(
    ("rules", "url", "allowed"),
    [
        ("api.openai.com", "https://api.openai.com/v1", True),
        ("API.OpenAI.com", "https://api.openai.COM./v1", True),
        ("a.example, b.example", "http://b.example", True),
        ("a.example", "https://a.example.evil.example", False),
        ("a.example", "https://b.a.example", False),
        ("*.a.example", "https://b.a.example", True),
        ("*.a.example", "https://a.example", False),
        ("*.a.example", "https://evila.example", False),
        ("a.example:8443", "https://a.example:8443/v1", True),
        ("a.example:8443", "https://a.example/v1", False),
        ("a.example:443", "https://a.example/v1", True),
        ("a.example", "https://a.example:1/v1", True),
        ("::1", "http://[::1]:8080/v1", True),
        ("[::1]:8080", "http://[::1]:8080/v1", True),
        ("[::1]:8081", "http://[::1]:8080/v1", False),
        ("[::1]", "http://[::1]:8080/v1", True),
        ("", "https://a.example", False),
    ],
)
def test_hosts(rules: str, url: str, allowed: bool) -> None:
    assert Bounds.from_environ({HOSTS: rules}).allows_host(url) is allowed


def test_without_bounds_everything_goes() -> None:
    bounds = Bounds.from_environ({})

    assert bounds == Bounds()
    assert bounds.describe() == []
    assert bounds.allows_host("https://a.example")
    assert bounds.allows_key("ANY")


@pytest.mark.parametrize(("value", "on"), [("1", True), ("true", True), ("yes", True), ("0", False), ("", False), ("false", False), ("No", False)])
def test_switches(value: str, on: bool) -> None:
    bounds = Bounds.from_environ({"METRICS_CONFINE": value, "METRICS_NO_PLUGINS": value})

    assert (bounds.confine, bounds.no_plugins) == (on, on)


def test_what_is_in_force_is_said() -> None:
    environ = {HOSTS: "a.example b.example:1", "METRICS_ALLOW_KEYS": "", "METRICS_CONFINE": "1", "METRICS_NO_PLUGINS": "1"}

    assert Bounds.from_environ(environ).describe() == [
        "METRICS_ALLOW_HOSTS: requests go only to a.example, b.example:1",
        "METRICS_ALLOW_KEYS: only these variables are read: none",
        "METRICS_CONFINE: paths stay in the working directory, the store is SQLite",
        "METRICS_NO_PLUGINS: no plugin is imported",
    ]


def test_hosts_written_and_hosts_of_providers(refused: Refused, read: Read) -> None:
    text = _model('base_url = "https://evil.example:1/v1"') + '[models.k]\nprovider = "anthropic"\nmodel = "m"\n[models.l]\nprovider = "acme"\nmodel = "m"\n'

    assert refused(text, **{HOSTS: "api.openai.com"}) == [
        "metrics.toml:4: [models.j] base_url: the host evil.example:1 is not allowed; METRICS_ALLOW_HOSTS allows api.openai.com",
        "metrics.toml:5: [models.k] base_url: the host api.anthropic.com is not allowed; METRICS_ALLOW_HOSTS allows api.openai.com",
        "metrics.toml:8: [models.l]: its host is not known; METRICS_ALLOW_HOSTS is set: write base_url",
    ]
    assert read(_model(), **{HOSTS: "api.openai.com"}).models["j"].address() == "https://api.openai.com/v1"
    assert read('[embeddings.e]\nprovider = "local"\nmodel = "m"\n', **{HOSTS: ""}).embeddings["e"].address() is None


def test_a_proxy_and_a_store_are_hosts_too(refused: Refused) -> None:
    assert refused(_model('proxy = "http://evil.example:3128"'), **{HOSTS: "api.openai.com"}) == [
        "metrics.toml:4: [models.j] proxy: the host evil.example:3128 is not allowed; METRICS_ALLOW_HOSTS allows api.openai.com"
    ]
    assert refused('[run]\nstore = "postgresql://db.example/x"\n', **{HOSTS: "api.openai.com"}) == [
        "metrics.toml:2: [run] store: the host db.example is not allowed; METRICS_ALLOW_HOSTS allows api.openai.com"
    ]


def test_variables(refused: Refused, read: Read) -> None:
    text = _model('api_key_env = "AWS_SECRET_ACCESS_KEY"', 'headers_env = { X = "HOME" }') + '[run]\nstore_env = "DB"\n'

    assert refused(text, METRICS_ALLOW_KEYS="JUDGE_KEY,OTHER") == [
        "metrics.toml:4: [models.j] api_key_env: the variable AWS_SECRET_ACCESS_KEY may not be read; METRICS_ALLOW_KEYS allows JUDGE_KEY, OTHER",
        "metrics.toml:5: [models.j] headers_env.X: the variable HOME may not be read; METRICS_ALLOW_KEYS allows JUDGE_KEY, OTHER",
        "metrics.toml:7: [run] store_env: the variable DB may not be read; METRICS_ALLOW_KEYS allows JUDGE_KEY, OTHER",
    ]
    assert read(_model('api_key_env = "JUDGE_KEY"'), METRICS_ALLOW_KEYS="JUDGE_KEY").models["j"].api_key_env == "JUDGE_KEY"


def test_providers_of_plugins(refused: Refused) -> None:
    assert refused(_model(provider="acme"), METRICS_NO_PLUGINS="1") == [
        "metrics.toml:2: [models.j] provider: 'acme' is a plugin's provider; METRICS_NO_PLUGINS is set; built in: openai, azure, anthropic, systemone"
    ]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[data]\npath = "../rows.jsonl"', "[data] path"),
        ('[data]\npath = ["in.jsonl", "/etc/passwd"]', "[data] path"),
        ('[data]\npath = "*/../../rows.jsonl"', "[data] path"),
        ('[data]\npath = "*.jsonl"', "[data] path"),
        ('[data]\npath = "~/rows.jsonl"', "[data] path"),
        ('[anchors]\ndata = "../a.jsonl"', "[anchors] data"),
        ('[run]\nstore = "sqlite:////tmp/x.db"', "[run] store"),
        ('[run]\nstore = "sqlite:///link/x.db"', "[run] store"),
        (_model('ca_file = "link/ca.pem"'), "[models.j] ca_file"),
        ('[embeddings.e]\nprovider = "local"\nmodel = "../weights"', "[embeddings.e] model"),
    ],
)
def test_confined_paths(write: Write, monkeypatch: pytest.MonkeyPatch, text: str, key: str) -> None:
    path = write(f"{text}\n", "work/metrics.toml")
    Path("out").mkdir()
    Path("out/rows.jsonl").write_text("{}")
    Path("work/link").symlink_to(Path("out").resolve())
    Path("work/in.jsonl").write_text("{}")
    Path("work/sly.jsonl").symlink_to(Path("out/rows.jsonl").resolve())
    monkeypatch.chdir("work")
    settings = load(Path(path.name), environ={})

    (problem,) = check_bounds(settings, Bounds(confine=True), Path.cwd())

    assert key in problem.where
    assert "leads out of the working directory" in problem.message
    assert "METRICS_CONFINE is set" in problem.hint


def test_confined_stores_are_sqlite(refused: Refused) -> None:
    assert refused('[run]\nstore = "postgresql://h/db"\n', METRICS_CONFINE="1") == [
        'metrics.toml:2: [run] store: is not SQLite; METRICS_CONFINE is set: write store = "sqlite:///….db"'
    ]
    assert refused('[run]\nstore_env = "DB"\n', METRICS_CONFINE="1") == [
        "metrics.toml:2: [run] store_env: may name another store than SQLite; METRICS_CONFINE is set: write store"
    ]


def test_what_lies_inside_may_be_read(read: Read) -> None:
    settings = read('[data]\npath = ["a/*.jsonl", "-", "run:latest"]\n[run]\nstore = "sqlite:///deep/../store.db"\n', METRICS_CONFINE="1")

    assert settings.data.path == ("a/*.jsonl", "-", "run:latest")


def test_a_path_given_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("{}")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    assert confined("in.jsonl", tmp_path) is None
    assert confined(tmp_path / "new" / "file", tmp_path) is None
    refused = confined("../x.jsonl", tmp_path, "--data")
    assert str(refused) == "--data: '../x.jsonl' leads out of the working directory; METRICS_CONFINE is set: name a file inside it"
    assert str(confined("loop", tmp_path)) == "'loop' cannot be followed; METRICS_CONFINE is set: name a file in the working directory"
