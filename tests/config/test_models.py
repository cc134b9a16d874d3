from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.config import ConfigError, Settings, load

Write = Callable[..., Path]
Read = Callable[..., Settings]
Refused = Callable[..., list[str]]

MODEL = '[models.j]\nprovider = "openai"\nmodel = "m"\n'
QUESTION = '[[questions]]\nname = "acme.a"\nask = "?"\n'


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("draws", "true", "write a whole number"),
        ("draws", "1.0", "write a whole number"),
        ("budget_usd", '"2"', "write a number, without quotes"),
        ("budget_usd", "-0.01", "allowed: a number at least 0"),
        ("max_error_rate", "1.01", "allowed: a number at most 1"),
        ("allow_self_judging", '"true"', "write true or false, without quotes"),
        ("allow_self_judging", "1", "write true or false"),
        ("metrics", '"code_token_f1"', "write a list"),
        ("subject_family", '""', "write a text that is not empty"),
        ("store", '"store.db"', 'a URL, e.g. "sqlite:///.metrics/store.db" or "postgresql://host/database"'),
        ("store", '"sqlite://store.db"', 'three slashes and a path without parameters, e.g. "sqlite:///.metrics/store.db"'),
        ("store", '"sqlite:///file:/etc/x?uri=true"', 'three slashes and a path without parameters, e.g. "sqlite:///.metrics/store.db"'),
        ("min_judges", "2", "at most the number of names in judge"),
        ("budget_usd", "nan", "a finite number, or leave the key out"),
        ("budget_usd", "inf", "a finite number, or leave the key out"),
    ],
)
def test_values_of_run(refused: Refused, key: str, value: str, hint: str) -> None:
    (sentence,) = refused(f"[run]\n{key} = {value}\n")

    assert sentence.startswith(("metrics.toml:2: [run] ", "metrics.toml:2: run."))
    assert sentence.endswith(f"; {hint}")


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("base_url", '"ftp://h"', "e.g. http://127.0.0.1:8080/v1"),
        ("base_url", '"http://"', "e.g. http://127.0.0.1:8080/v1"),
        ("base_url", '"h:8080"', "e.g. http://127.0.0.1:8080/v1"),
        ("base_url", '"http://h:99999"', "e.g. http://127.0.0.1:8080/v1"),
        ("base_url", '"http://[::1"', "e.g. http://127.0.0.1:8080/v1"),
        ("base_url", '"http://a\\\\@b"', None),
        ("base_url", '"http://h/v1?x=1"', 'write query = { name = "value" } beside it'),
        ("proxy", '"no"', "e.g. http://127.0.0.1:8080/v1"),
        ("timeout_seconds", "0", "allowed: a number above 0"),
        ("max_retries", "-1", "allowed: a number at least 0"),
        ("temperature", "-1", "allowed: a number at least 0"),
        ("p", '"logprob"', "did you mean logprobs? allowed: auto, logprobs, sampled"),
        ("price", "{ input = 1 }", "write output = …"),
        ("client_key_file", '"k.pem"', "write client_cert_file too"),
        ("temprature", "0", "did you mean temperature?"),
        ("headers", "{ X-Team = 1 }", "write a text in quotes"),
    ],
)
def test_values_of_a_model(refused: Refused, key: str, value: str, hint: str | None) -> None:
    (sentence,) = refused(f"{MODEL}{key} = {value}\n")

    assert sentence.startswith("metrics.toml:4: [models.j] ") or (key == "price" and sentence.startswith("metrics.toml:4: [models.j] price"))
    assert hint is None or sentence.endswith(f"; {hint}")


def test_a_header_is_named_once(refused: Refused) -> None:
    assert refused(f'{MODEL}headers = {{ X-Team = "a" }}\nheaders_env = {{ x-team = "TEAM" }}\n') == [
        "metrics.toml:5: [models.j] headers_env: the header 'x-team' stands in headers and in headers_env; keep one"
    ]


def test_azure_and_systemone_need_an_address(refused: Refused) -> None:
    for provider in ("azure", "systemone"):
        assert refused(f'[models.j]\nprovider = "{provider}"\nmodel = "m"\n') == [
            f"metrics.toml:1: [models.j]: the provider {provider} has no address of its own; write base_url"
        ]


@pytest.mark.parametrize("key", ["temperature = 0", 'p = "auto"', "prefix_cache = true", 'family = "x"'])
def test_what_only_a_judge_has_is_no_key_of_embeddings(refused: Refused, key: str) -> None:
    (sentence,) = refused(f'[embeddings.e]\nprovider = "openai"\nmodel = "m"\n{key}\n')

    assert f"unknown key {key.partition(' ')[0]}; it is a key of [models.NAME]" in sentence


SECRETS = [
    (f'{MODEL}api_key = "sk-SECRET"', 'write api_key_env = "NAME_OF_A_VARIABLE" and set that variable'),
    (f'{MODEL}api_key = "${{MY_KEY}}"', 'write api_key_env = "MY_KEY"'),
    (f'{MODEL}api_key = "${{MY_KEY:-SECRET}}"', 'write api_key_env = "MY_KEY"'),
    (f"{MODEL}api_key = 5", 'write api_key_env = "NAME_OF_A_VARIABLE" and set that variable'),
    (f'{MODEL}headers = {{ Authorization = "Bearer SECRET" }}', "name an environment variable instead, in api_key_env or headers_env"),
    (f'{MODEL}headers = {{ Authorization = "Bearer ${{TOK}} SECRET" }}', 'write headers_env = { Authorization = "TOK" }'),
    (f'{MODEL}headers = "Authorization: SECRET"', "write a table"),
    (f'{MODEL}extra_body = {{ a = [{{ token = "SECRET" }}] }}', "name an environment variable instead, in api_key_env or headers_env"),
    (f'{MODEL}query = {{ token = "SECRET" }}', "name an environment variable instead, in api_key_env or headers_env"),
    (f'{MODEL}base_url = "http://u:SECRET@h/v1?token=SECRET"', "use api_key_env or headers_env, which name an environment variable"),
    (f'{MODEL}base_url = "http://h/v1?token=SECRET"', "use api_key_env or headers_env, which name an environment variable"),
    (f'{MODEL}proxy = "http://p:SECRET@x:1"', "use api_key_env or headers_env, which name an environment variable"),
    (f'{MODEL}api_key_env = "sk-SECRET0123456789"', "put the secret into a variable, e.g. OPENAI_API_KEY, and write that name here"),
    (f'{MODEL}api_key_env = "SECRET with blanks"', "put the secret into a variable, e.g. OPENAI_API_KEY, and write that name here"),
    (f'{MODEL}headers_env = {{ X = "Bearer SECRET" }}', "put the secret into a variable, e.g. OPENAI_API_KEY, and write that name here"),
    ('[run]\nstore = "postgresql://u:SECRET@h/db"', "name a variable that holds the URL: store_env"),
    ('[run]\nstore = "${DB_URL}"', 'write store_env = "DB_URL"'),
    ('[run]\nmode = "http://u:SECRET@h"', "allowed: cache, live, replay"),
    ('[run]\npassword = "SECRET"', 'write api_key_env of its [models.NAME] = "NAME_OF_A_VARIABLE" and set that variable'),
    ('[data]\npath = "${HOME}/x.jsonl"', "write the value itself, or give it when running: --set 'data.path=…'; keys are named by api_key_env"),
]


@pytest.mark.parametrize(("text", "hint"), SECRETS)
def test_secrets_and_variables_are_refused_and_never_repeated(refused: Refused, text: str, hint: str) -> None:
    sentences = refused(text)

    assert any(hint in sentence for sentence in sentences), sentences
    assert "SECRET" not in "\n".join(sentences)


def test_secrets_in_overrides_are_never_repeated(refused: Refused) -> None:
    sentences = refused(
        MODEL, 'models.j.api_key="sk-SECRET"', "models.j.api_key=SECRET", 'models.j.base_url="http://u:SECRET@h"', "models.j.base_url=http://u:SECRET@h"
    )

    assert len(sentences) >= 4
    assert "SECRET" not in "\n".join(sentences)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('[run]\nmetrics = ["./evil.py:run"]\n', "the explicit flag --load FILE.py"),
        ('[run]\nmetrics = ["evil.py"]\n', "the explicit flag --load FILE.py"),
        ('metrics = ["./evil.py:run"]\n', "the explicit flag --load FILE.py"),
        ('load = ["evil.py"]\n', "the explicit flag --load FILE.py"),
        ('[run]\nplugins = ["evil"]\n', "the explicit flag --load FILE.py"),
    ],
)
def test_a_config_cannot_name_code(refused: Refused, text: str, hint: str) -> None:
    (sentence,) = refused(text)

    assert "a config never runs code" in sentence
    assert hint in sentence


def test_a_list_of_metrics_in_the_wrong_place(refused: Refused) -> None:
    assert refused('metrics = ["code_token_f1"]\n') == [
        'metrics.toml:1: metrics: is a list, and [metrics.NAME] are tables; the list of metrics is a key of [run]: metrics = ["NAME"]'
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('question = "Q"', "metrics.toml:2: [data.columns] question: 'question' is no field of a record; write input"),
        ('outptu = "Q"', "metrics.toml:2: [data.columns] outptu: 'outptu' is no field of a record; did you mean output?"),
        (
            'metadata.tier = "Q"',
            (
                'metrics.toml:2: [data.columns] metadata: is a table without from; a column\'s name, or { from = "NAME", split = "\\n" }; '
                'a dotted field is quoted: "metadata.tier" = "NAME"'
            ),
        ),
        ('contexts = { from = "Q", splt = "," }', "metrics.toml:2: [data.columns] contexts.splt: unknown key splt; did you mean split?"),
        ('contexts = { source = "Q" }', None),
        ("input = 5", "metrics.toml:2: [data.columns] input: is 5; write a table"),
    ],
)
def test_columns(refused: Refused, text: str, sentence: str | None) -> None:
    found = refused(f"[data.columns]\n{text}\n")

    assert sentence is None or found == [sentence]


@pytest.mark.parametrize("text", ['delimiter = ";;"', 'encoding = "utf-88"', 'encoding = "base64"', 'id = "hash"', "path = 5", "max_row_bytes = 0"])
def test_values_of_data(refused: Refused, text: str) -> None:
    assert len(refused(f"[data]\n{text}\n")) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('levels = ["a", "b"]', "acme.a levels: belongs to another form of answer (type is 'yes_no'); write type = \"scale\""),
        ('type = "scale"', "acme.a type: a scale needs levels; write levels = …"),
        ('type = "scale"\nlevels = ["a"]', "acme.a levels: is one level; two or more, worst first"),
        ('type = "choice"', "acme.a type: a choice needs options; write options = …"),
        ('type = "choice"\noptions = { a = { means = "a", score = 2 }, b = { means = "b", score = 0 } }', "acme.a options.a.score: is no score of an answer; "),
        ('type = "choice"\noptions = { a = { means = "a", score = "na" }, b = { means = "b", score = "na" } }', "acme.a options: leaves nothing to choose; "),
        ('each = "contexts"\nclaims = "output"', "acme.a claims: stands beside each; keep one of each and claims"),
        ('fold = "mean"', "acme.a fold: is 'mean'; allowed: share, expected_value, average_precision, f_beta, worst"),
        ("categoris = []", "acme.a categoris: unknown key categoris; did you mean categories?"),
    ],
)
def test_questions(refused: Refused, text: str, sentence: str) -> None:
    (found,) = refused(f"{QUESTION}{text}\n")

    assert f"[[questions]] {sentence}" in found


@pytest.mark.parametrize("name", ["formal", "", "a..b", ".a", "a b.c", "a." + "x" * 64])
def test_a_question_has_a_dotted_name(refused: Refused, name: str) -> None:
    (sentence,) = refused(f'[[questions]]\nname = "{name}"\nask = "?"\n')

    assert "name" in sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("margin = 0.1\nmargin_ratio = 0.1", "margin_ratio: stands beside margin; keep one of margin and margin_ratio"),
        ("margin = 0", "margin: is 0; allowed: a number above 0"),
        ("margin_ratio = -0.1", "margin_ratio: is -0.1; allowed: a number above 0"),
        ('margin = 0.1\nscale = "log"', 'scale: is "log" without margin_ratio; write margin_ratio, or leave scale out'),
        ("min = 2\nmax = 1", "min: is 2, above max, which is 1; min is the smaller one"),
        ('rule = "point"', 'rule: is "point" without a limit to compare with; write min, max or min_pass_rate'),
        ('margin = 0.1\nrule = "points"', "rule: is 'points'; did you mean point? allowed: interval, point"),
        ('direction = "none"', "direction: is 'none'; allowed: higher, lower"),
        ("min_pass_rate = 90", "min_pass_rate: is 90; allowed: a number at most 1"),
        ("confirm = 0", "confirm: is 0; allowed: a number at least 1"),
    ],
)
def test_gated_metrics(refused: Refused, text: str, sentence: str) -> None:
    (found,) = refused(f'[gate.metrics."house.f1"]\n{text}\n')

    assert f'[gate.metrics."house.f1"] {sentence}' in found


def test_a_point_rule_on_a_pass_rate(read: Read) -> None:
    gate = read('[gate.metrics.m]\nmin_pass_rate = 0.9\nrule = "point"\n').gate

    assert gate is not None
    assert gate.metrics["m"].min_pass_rate == 0.9


@pytest.mark.parametrize("key", ["alpha", "fdr_q", "power"])
@pytest.mark.parametrize("value", ["0", "1", "5", "nan"])
def test_levels_lie_strictly_between_0_and_1(refused: Refused, key: str, value: str) -> None:
    assert len(refused(f"[gate]\n{key} = {value}\n")) == 1


def test_options_of_a_metric(refused: Refused) -> None:
    assert refused('[metrics.m]\n"no-option" = 1\n') == ["metrics.toml:2: [metrics.m] no-option: is no name of an option; letters, digits and '_'"]
    assert refused("[metrics.m]\ngains = [[1]]\n") == ["metrics.toml:2: [metrics.m] gains: is a list of lists or tables; a list of texts or numbers"]
    assert refused("[metrics.m]\nthreshold = '0.5'\n") == ["metrics.toml:2: [metrics.m] threshold: is '0.5'; write a number, without quotes"]


def test_settings_cannot_be_changed(read: Read) -> None:
    settings = read("")

    with pytest.raises(ValueError, match="frozen"):
        settings.run.draws = 3


def test_project_must_not_be_empty(write: Write) -> None:
    with pytest.raises(ConfigError, match=r"metrics.toml:1: project: is ''; write a text that is not empty"):
        load(write('project = ""\n'), environ={})


def test_values_of_metrics_whose_name_only_sounds_secret_are_shown(refused: Refused) -> None:
    assert refused("[gate.metrics.code_token_f1]\nmargin = 0\n[gate.metrics]\ncode_token_recall = 5\n") == [
        "metrics.toml:2: [gate.metrics.code_token_f1] margin: is 0; allowed: a number above 0",
        "metrics.toml:4: [gate.metrics] code_token_recall: is 5; write a table",
    ]
