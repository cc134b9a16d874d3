from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.config import ConfigError, load

Write = Callable[..., Path]

BASE = """
project = "base"
[data]
path = ["rows.jsonl", "-"]
[models.judge]
provider = "openai"
model = "a"
ca_file = "ca.pem"
headers = { X-One = "1" }
[run]
metrics = ["code_token_f1", "code_chrf"]
draws = 2
[anchors]
data = "anchors.jsonl"
[[questions]]
name = "acme.a"
ask = "base a?"
draws = 5
[[questions]]
name = "acme.b"
ask = "base b?"
[eval.ragas]
timeout_seconds = 7
"""
TOP = """
extends = "shared/base.toml"
[models.judge]
model = "b"
headers = { X-Two = "2" }
[run]
metrics = ["code_bleu"]
mode = "live"
[[questions]]
name = "acme.b"
ask = "top b?"
[[questions]]
name = "acme.c"
ask = "top c?"
[ragas]
strict_tool_order = false
"""


def test_tables_merge_questions_merge_by_name_and_the_rest_is_replaced(write: Write) -> None:
    write(BASE, "shared/base.toml")
    settings = load(write(TOP), environ={})

    assert settings.project == "base"
    assert settings.run.metrics == ("code_bleu",)
    assert (settings.run.draws, settings.run.mode) == (2, "live")
    assert settings.models["judge"].model == "b"
    assert settings.models["judge"].headers == {"X-One": "1", "X-Two": "2"}
    assert [(question.name, question.ask, question.draws) for question in settings.questions] == [
        ("acme.a", "base a?", 5),
        ("acme.b", "top b?", None),
        ("acme.c", "top c?", None),
    ]
    assert settings.ragas is not None
    assert (settings.ragas.timeout_seconds, settings.ragas.strict_tool_order) == (7, False)
    assert [str(file) for file in settings.files] == ["metrics.toml", "shared/base.toml"]
    assert "extends" not in settings.effective()


def test_paths_stay_relative_to_the_file_they_come_from(write: Write) -> None:
    write(BASE, "shared/base.toml")
    settings = load(write(TOP), environ={})

    assert settings.data.path == ("shared/rows.jsonl", "-")
    assert settings.models["judge"].ca_file == "shared/ca.pem"
    assert settings.anchors is not None
    assert settings.anchors.data == "shared/anchors.jsonl"
    assert settings.data_paths() == (str(Path.cwd() / "shared/rows.jsonl"), "-")
    assert settings.run.store == "sqlite:///.metrics/store.db"


def test_a_store_of_the_base_lies_beside_the_base(write: Write) -> None:
    write('[run]\nstore = "sqlite:///s/store.db"\n', "base.toml")
    settings = load(write('extends = "../base.toml"\n', "team/metrics.toml"), environ={})

    assert settings.run.store == "sqlite:///../s/store.db"
    assert settings.store_url({}) == f"sqlite:///{Path.cwd()}/team/../s/store.db"


def test_problems_name_the_file_they_come_from(write: Write) -> None:
    write("[run]\ndraws = 0\njudge = 'nobody'\n", "shared/base.toml")
    with pytest.raises(ConfigError) as caught:
        load(write('extends = "shared/base.toml"\n[run]\nmode = "lve"\n'), environ={})

    assert [str(problem) for problem in caught.value.problems] == [
        "shared/base.toml:2: [run] draws: is 0; allowed: a number at least 1",
        "shared/base.toml:3: [run] judge: there is no [models.nobody]; write a table [models.nobody]",
        "metrics.toml:3: [run] mode: is 'lve'; did you mean live? allowed: cache, live, replay",
    ]


def test_three_deep_and_no_deeper(write: Write) -> None:
    for name, above in (("a", "b"), ("b", "c"), ("c", "d")):
        write(f'extends = "{above}.toml"\n', f"{name}.toml")
    write("[run]\ndraws = 7\n", "d.toml")

    assert load(Path("a.toml"), environ={}).run.draws == 7
    with pytest.raises(ConfigError) as caught:
        load(write('extends = "a.toml"\n'), environ={})
    assert str(caught.value) == "c.toml:1: extends: goes more than 3 deep: metrics.toml → a.toml → b.toml → c.toml → d.toml; merge two of them"


@pytest.mark.parametrize(
    ("extends", "sentence"),
    [
        ("metrics.toml", "metrics.toml:1: extends: the files extend each other: metrics.toml → metrics.toml; take one extends out"),
        ("none.toml", "metrics.toml:1: extends: there is no file none.toml; the path is relative to the file it stands in"),
        ("https://h.example/base.toml", 'metrics.toml:1: extends: is no local path; a file beside this one, e.g. "../base.toml"'),
    ],
)
def test_what_cannot_be_extended(write: Write, extends: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(f'extends = "{extends}"\n'), environ={})
    assert str(caught.value) == sentence


def test_a_cycle_through_a_link_is_found(write: Write) -> None:
    path = write('extends = "link.toml"\n')
    Path("link.toml").symlink_to(path)
    with pytest.raises(ConfigError, match="the files extend each other"):
        load(path, environ={})


def test_confined_configs_extend_only_what_lies_inside(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("[run]\ndraws = 2\n", "outside/base.toml")
    write("[run]\ndraws = 3\n", "inside/base.toml")
    Path("inside/link.toml").symlink_to(tmp_path / "outside/base.toml")
    monkeypatch.chdir("inside")

    assert load(write('extends = "base.toml"\n'), environ={"METRICS_CONFINE": "1"}).run.draws == 3
    for extends in ("../outside/base.toml", "link.toml"):
        path = write(f'extends = "{extends}"\n')
        assert load(path, environ={}).run.draws == 2
        with pytest.raises(ConfigError, match=r"metrics.toml:1: extends: '.*' leads out of the working directory; METRICS_CONFINE is set"):
            load(path, environ={"METRICS_CONFINE": "1"})
