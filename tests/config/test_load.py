from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from measurand.config import ConfigError, Settings, from_mapping, load

Write = Callable[..., Path]
Read = Callable[..., Settings]
Refused = Callable[..., list[str]]

# Every table and key of the reference page, with those that stand in its comments.
WHOLE = """
project = "support-bot"
[data]
path = ["examples/agent/records.jsonl", "more/*.csv.gz"]
on_bad_row = "skip"
format = "jsonl"
encoding = "cp1252"
delimiter = ";"
id = "order"
max_row_bytes = 1000
max_field_chars = 1000
[data.columns]
input = "Customer question"
contexts = { from = "Docs", split = "\\n" }
"metadata.tier" = "customer_tier"
[models.judge]
provider = "openai"
model = "gpt-5.4-mini"
base_url = "http://127.0.0.1:8080/v1"
api_key_env = "OPENAI_API_KEY"
headers = { X-Team = "search" }
headers_env = { X-Gateway-Key = "GATEWAY_KEY" }
query = { api-version = "2" }
extra_body = { cache_prompt = false, prompt_cache_key = "a" }
ca_file = "ca.pem"
client_cert_file = "client.pem"
client_key_file = "client.key"
proxy = "none"
temperature = 0
p = "auto"
max_output_tokens = 512
timeout_seconds = 60
deadline_seconds = 100.5
max_retries = 0
max_concurrency = 16
requests_per_minute = 100
tokens_per_minute = 100
max_input_tokens = 8000
prefix_cache = true
identity = "corp-gw"
family = "gpt"
price = { input = 0.25, output = 2.0 }
[embeddings.local]
provider = "local"
model = "use-multilingual"
[run]
metrics = ["code_token_f1", "code_context_recall(k=5)", "suite:agent", "category:rag & code-based & !safety"]
judge = ["judge"]
min_judges = 1
embedding = "local"
draws = 1
ask = "together"
explain = "failed"
mode = "replay"
on_missing = "skip"
store = "sqlite:///.metrics/store.db"
content = "masked"
budget_usd = 2
budget_calls = 10
budget_tokens = 0
max_error_rate = 0
slices = ["tags", "metadata.lang"]
subject_family = "claude"
allow_self_judging = true
[metrics.llm_faithfulness]
threshold = 0.8
judge = "judge"
embedding = "local"
draws = 3
ask = "separately"
on_missing = "stop"
explain = "all"
own_option = ["a", 1, true]
[metrics."house.strict_f1"]
use = "code_token_f1"
threshold = 0.95
[[questions]]
name = "acme.formal_register"
ask = "Is `output` written in a formal register?"
categories = ["Fluency"]
claims = "output"
fold = "share"
direction = "lower"
threshold = 0.5
judge = "judge"
draws = 2
description = "Formal."
example = { output = "Dear Sir" }
[[questions]]
name = "acme.depth"
ask = "How deep is `output`?"
type = "scale"
levels = ["not at all", "very"]
each = "contexts"
[[questions]]
name = "acme.tone"
ask = "Which tone has `output`?"
type = "choice"
options = { polite = { means = "please", score = 1.0 }, na = { means = "no answer", score = "na" } }
[suites]
mine = ["code_token_f1", "category:retrieval"]
[ragas]
model = "judge"
embedding = "local"
timeout_seconds = 60
strict_tool_order = false
[anchors]
data = "anchors.jsonl"
tolerance = 0.05
[gate]
alpha = 0.1
fdr_q = 0.1
power = 0.9
inconclusive = "warn"
unpaired = "refuse"
policy = "base"
correction = "holm"
population = "suite"
min_kappa = 0.6
tripwires = ["code_pii_leak"]
[gate.metrics.code_token_f1]
margin = 0.03
min = 0.7
max = 1
rule = "point"
min_pass_rate = 0.9
min_kappa = 0.7
direction = "higher"
missing = "ignore"
worst = 0.5
confirm = 2
aggregate = "corpus"
slices = ["tags"]
[gate.metrics."house.strict_f1"]
margin_ratio = 0.1
scale = "log"
"""


def test_every_key_of_the_reference_is_read(read: Read) -> None:
    settings = read(WHOLE)

    assert settings.project == "support-bot"
    assert settings.data.columns == {
        "input": {"from": "Customer question"},
        "contexts": {"from": "Docs", "split": "\n"},
        "metadata.tier": {"from": "customer_tier"},
    }
    assert settings.models["judge"].temperature == 0
    assert settings.models["judge"].price is not None
    assert settings.models["judge"].price.output == 2.0
    assert settings.run.metrics[1] == "code_context_recall(k=5)"
    assert settings.metric("llm_faithfulness").options == {"own_option": ["a", 1, True]}
    assert settings.metric("house.strict_f1").use == "code_token_f1"
    assert settings.questions[2].options["na"].score == "na"
    assert settings.suites["mine"] == ("code_token_f1", "category:retrieval")
    assert settings.gate is not None
    assert settings.gate.metrics["house.strict_f1"].scale == "log"


def test_an_empty_file_is_all_defaults(read: Read) -> None:
    settings = read("")

    assert settings.project == Path.cwd().name
    assert settings.data.on_bad_row == "stop"
    assert (settings.run.mode, settings.run.on_missing, settings.run.content) == ("cache", "stop", "full")
    assert (settings.run.draws, settings.run.ask, settings.run.explain, settings.run.max_error_rate) == (1, "separately", "off", 0.05)
    assert settings.run.store == "sqlite:///.metrics/store.db"
    assert settings.gate is None
    assert settings.metric("code_token_f1").options == {}


def test_the_defaults_of_tables_that_are_only_begun(read: Read) -> None:
    settings = read('[gate]\n[anchors]\ndata = "a.jsonl"\n[ragas]\n[models.m]\nprovider = "openai"\nmodel = "x"\n')

    gate, anchors, ragas, model = settings.gate, settings.anchors, settings.ragas, settings.models["m"]
    assert gate is not None
    assert (gate.alpha, gate.fdr_q, gate.power, gate.inconclusive, gate.unpaired, gate.correction) == (0.05, 0.05, 0.8, "fail", "added", "bh")
    assert anchors is not None
    assert anchors.tolerance == 0.03
    assert ragas is not None
    assert (ragas.timeout_seconds, ragas.strict_tool_order) == (60, True)
    assert (model.timeout_seconds, model.max_concurrency, model.p, model.temperature, model.max_output_tokens) == (60, 16, "auto", None, None)


def test_all_problems_at_once_in_the_order_of_the_file(refused: Refused) -> None:
    text = """[run]
metrics = ["code_token_f1",
  7]
mod = "live"
judge = "juge"
draws = "2"
[models.judge]
provider = "openai"
[asert]
type = "equals"
"""
    assert refused(text) == [
        "metrics.toml:3: [run] metrics: is 7; write a text in quotes",
        "metrics.toml:4: [run] mod: unknown key mod; did you mean mode?",
        "metrics.toml:5: [run] judge: there is no [models.juge]; did you mean judge?",
        "metrics.toml:6: [run] draws: is '2'; write a whole number, without quotes",
        "metrics.toml:7: [models.judge]: model is missing; write model = …",
        f"metrics.toml:9: [asert]: unknown key asert; allowed: {', '.join(Settings.model_fields)}",
    ]


def test_a_key_in_the_wrong_table_is_told_where_it_belongs(refused: Refused) -> None:
    assert refused('[gate]\nproject = "x"\n') == [
        "metrics.toml:2: [gate] project: unknown key project; it is a key of the top of the file, above the first [table]"
    ]
    assert refused("[run]\nmargin = 0.1\n") == ["metrics.toml:2: [run] margin: unknown key margin; it is a key of [gate.metrics.NAME]"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = 1\nb = [1,\n x", "metrics.toml:3:2: invalid value"),
        ("[run]\nmode = live\n", 'metrics.toml:2:8: invalid value; a text stands in quotes: mode = "…"'),
        ("[run]\nx = True\n", "metrics.toml:2:5: invalid value; true and false are small, and a key without value is left out"),
        ("run:\n  mode: live\n", "metrics.toml:1:4: expected '=' after a key in a key/value pair; this is TOML: key = value, and tables begin with [name]"),
        (b"a = 1\nb = 'caf\xe9'\n", "metrics.toml:2:9: the byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("a = 1".encode("utf-16"), "metrics.toml:1: is UTF-16; save it as UTF-8"),
        ("a = " + "1" * 5000, "metrics.toml: holds a number of more than 4300 digits; write a smaller one"),
        ("[run]\na = " + "[" * 50 + "]" * 50, "metrics.toml:2: is nested more than 32 levels deep; no key of a config goes that deep"),
        ("a = " + "[" * 100_000, "metrics.toml: TOML inline arrays/tables are nested more than the allowed 400 levels; at most 32 levels"),
        (b"a" * 1_000_001, "metrics.toml: is larger than 1 MB; a config is a few KB; data goes into a file that [data] path names"),
    ],
)
def test_what_is_no_toml_is_told_with_its_line(refused: Refused, text: str | bytes, sentence: str) -> None:
    assert refused(text) == [sentence]


def test_a_byte_order_mark_and_windows_line_ends_are_read(write: Write) -> None:
    settings = load(write(b"\xef\xbb\xbfproject = 'x'\r\n[run]\r\ndraws = 2\r\n"), environ={})

    assert (settings.project, settings.run.draws, settings.where(("run", "draws"))) == ("x", 2, "metrics.toml:3: [run] draws")


def test_files_that_cannot_be_read(write: Write) -> None:
    write("", "folder/metrics.toml")
    Path("loop.toml").symlink_to("loop.toml")

    for path, sentence in (
        ("none.toml", "none.toml: there is no such file; write one with `metrics init`, or name another with -c FILE"),
        ("folder", "folder: is a directory; name the file in it: folder/metrics.toml"),
        ("/dev/zero", "/dev/zero: is larger than 1 MB; a config is a few KB; data goes into a file that [data] path names"),
        ("loop.toml", "loop.toml: cannot be read: Too many levels of symbolic links"),
        ("a\0b", "a\\x00b: cannot be read: embedded null byte"),
    ):
        with pytest.raises(ConfigError) as caught:
            load(Path(path), environ={})
        assert str(caught.value) == sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"k{index} = 1" for index in range(90_000)),
        "[models]\n" + "\n".join(f"k{index}.x = 1" for index in range(60_000)),
        "[run]\njudge = [" + ",".join(f'"x{index}"' for index in range(80_000)) + "]",
        "[suites]\n" + "\n".join(f's{index} = ["suite:s{index + 1}"]' for index in range(30_000)),
    ],
    ids=["keys", "tables", "names", "suites"],
)
def test_huge_files_are_refused_soon(refused: Refused, text: str) -> None:
    began = time.process_time()

    assert refused(text) == ["metrics.toml: has more than 20000 keys and items; data goes into a file that [data] path names"]
    assert time.process_time() - began < 5


def test_thousands_of_problems_are_cut(refused: Refused) -> None:
    sentences = refused(
        "[models]\n" + "\n".join(f"y{at}.x = 1" for at in range(2000)) + "\n[run]\njudge = [" + ",".join(f'"x{at}"' for at in range(5000)) + "]"
    )

    assert len(sentences) == 51
    assert sentences[-1].startswith("and at least ")


def test_control_characters_are_shown_escaped(refused: Refused) -> None:
    (sentence,) = refused('[run]\nmode = "\\u001b[31m\\u202e"\n')

    assert sentence == "metrics.toml:2: [run] mode: is '\\x1b[31m\\u202e'; allowed: cache, live, replay"


def test_a_mapping_is_read_like_a_file(tmp_path: Path) -> None:
    settings = from_mapping({"data": {"path": tmp_path / "a.jsonl"}, "run": {"metrics": ("code_token_f1",), "draws": 2}}, tmp_path, environ={})

    assert settings.data.path == (str(tmp_path / "a.jsonl"),)
    assert settings.run.metrics == ("code_token_f1",)
    assert settings.base == tmp_path
    assert settings.file is None


def test_what_is_wrong_with_a_mapping_has_its_key(tmp_path: Path) -> None:
    cyclic: dict[str, object] = {}
    cyclic["a"] = cyclic
    with pytest.raises(ConfigError) as caught:
        from_mapping({"run": {"draws": 0, 5: 1}, "data": {"path": {1}}, "models": cyclic}, tmp_path, environ={}, source="config")

    assert [str(problem) for problem in caught.value.problems] == [
        "config: run: has a key that is a Python int; keys are texts",
        "config: data.path: is a Python set; a text, a number, true or false, a list or a table",
        "config: models.a.a.a …: is nested more than 32 levels deep; no key of a config goes that deep",
        "config: [models.a]: provider is missing; write provider = …",
        "config: [models.a]: model is missing; write model = …",
        "config: [models.a] a: unknown key a; allowed: " + ", ".join(_runtime_keys()),
        "config: [run] draws: is 0; allowed: a number at least 1",
    ]


def _runtime_keys() -> list[str]:
    from measurand.config import ModelSettings

    return list(ModelSettings.model_fields)


EVAL_RAGAS = """
[models.ragas_judge]
provider = "openai"
model = "gpt-5.4-mini"
[embeddings.ragas_embedding]
provider = "openai"
model = "text-embedding-3-small"
[eval.ragas]
model = "ragas_judge"
embedding = "ragas_embedding"
timeout_seconds = 60
strict_tool_order = true
"""


def test_eval_ragas_is_the_same_table(read: Read) -> None:
    settings = read(EVAL_RAGAS)

    assert settings.ragas is not None
    assert settings.ragas.model == "ragas_judge"
    assert settings.where(("ragas", "model")) == "metrics.toml:9: [eval.ragas] model"
    assert settings.effective()["ragas"]["embedding"] == "ragas_embedding"


def test_what_is_wrong_in_eval_ragas_is_shown_as_written(refused: Refused) -> None:
    text = EVAL_RAGAS.replace('"ragas_judge"\nemb', '"nobody"\nemb').replace("strict_tool_order", "strict_order")

    assert refused(text) == [
        "metrics.toml:9: [eval.ragas] model: there is no [models.nobody]; there are: ragas_judge",
        "metrics.toml:12: [eval.ragas] strict_order: unknown key strict_order; did you mean strict_tool_order?",
    ]
    assert refused("[eval.ragas]\n[ragas]\n") == [
        "metrics.toml:1: [eval] ragas: is the same table as metrics.toml:2: [ragas]; keep one of [ragas] and [eval.ragas]"
    ]
    assert refused("[eval]\nother = 1\n") == ["metrics.toml:2: [eval] other: unknown key other; allowed: ragas"]
