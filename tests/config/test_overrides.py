from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from measurand.config import ConfigError, Settings, parse_override

Read = Callable[..., Settings]
Refused = Callable[..., list[str]]

QUESTION = '[[questions]]\nname = "acme.polite"\nask = "Is `output` polite?"\n'


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("run.draws=3", ("run", "draws"), 3),
        ('run.mode="live"', ("run", "mode"), "live"),
        ('run.metrics=["a","b"]', ("run", "metrics"), ["a", "b"]),
        ("run . draws = 3", ("run", "draws"), 3),
        ('metrics."house.strict".threshold=0.5', ("metrics", "house.strict", "threshold"), 0.5),
        ('metrics."a=b".threshold=0.5', ("metrics", "a=b", "threshold"), 0.5),
        ("data.columns={input = 'Q'}", ("data", "columns"), {"input": "Q"}),
        ('project="a=b"', ("project",), "a=b"),
    ],
)
def test_a_key_and_a_toml_value(text: str, path: tuple[str, ...], value: object) -> None:
    override = parse_override(text)

    assert (override.path, override.value) == (path, value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("run.mode=live", """--set run.mode: 'live' is no TOML value; a text is quoted: --set 'run.mode="live"'"""),
        ("run.mode=", """--set run.mode: '' is no TOML value; a text is quoted: --set 'run.mode=""'"""),
        ("run.mode", """--set: 'run.mode' has no '='; write SECTION.KEY=VALUE, e.g. --set run.draws=3 or --set 'run.mode="live"'"""),
        ("run mode=1", """--set run mode: 'run mode' is no key; write SECTION.KEY=VALUE, e.g. --set run.draws=3 or --set 'run.mode="live"'"""),
        ('extends="a.toml"', "--set extends: only a file can extend another; write extends in the file"),
    ],
)
def test_what_is_no_override_says_what_to_type(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_override(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("value", ["it's", 'say "hi"', "back\\slash", "$(rm -rf x)", "a b"])
def test_the_quoted_form_survives_the_shell(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_override(f"data.path={value}")
    typed = str(caught.value).partition("a text is quoted: --set ")[2]

    assert parse_override(*shlex.split(typed)).value == value


def test_one_option_sets_one_key() -> None:
    with pytest.raises(ConfigError, match="is no TOML value"):
        parse_override('run.draws=3\nmode="live"')


def test_a_secret_that_was_not_quoted_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_override("models.judge.api_key=sk-SECRET 1")
    assert "SECRET" not in str(caught.value)


def test_overrides_win_over_the_file_and_the_last_wins(read: Read) -> None:
    settings = read("[run]\ndraws = 2\nmode = 'live'\n", "run.draws=3", "run.draws=4")

    assert settings.run.draws == 4
    assert settings.run.mode == "live"
    assert settings.where(("run", "draws")) == "--set run.draws"
    assert settings.where(("run", "mode")) == "metrics.toml:3: [run] mode"


def test_a_question_is_set_by_its_name(read: Read) -> None:
    assert read(QUESTION, 'questions."acme.polite".draws=3').questions[0].draws == 3


def test_wrong_overrides_are_told_beside_the_problems_of_the_file(refused: Refused) -> None:
    sentences = refused("[run]\ndraws = 0\n", "run.mode=live", 'run.ask="togehter"', "run.explain=2020-01-01")

    assert sorted(sentences) == [
        "--set run.ask: is 'togehter'; did you mean together? allowed: separately, together",
        '--set run.explain: is a date or time, which no key takes; quote it: "2020-01-01"',
        """--set run.mode: 'live' is no TOML value; a text is quoted: --set 'run.mode="live"'""",
        "metrics.toml:2: [run] draws: is 0; allowed: a number at least 1",
    ]


def test_a_key_under_a_value_is_refused(refused: Refused) -> None:
    assert refused("[run]\ndraws = 1\n", "run.draws.x=1") == [
        """--set run.draws.x: goes into something that is no table; write SECTION.KEY=VALUE, e.g. --set run.draws=3 or --set 'run.mode="live"'"""
    ]
