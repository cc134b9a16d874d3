from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from measurand import score
from measurand.cli.main import main
from measurand.core.fields import FIELDS
from measurand.report.schemas import SCHEMAS

Printed = pytest.CaptureFixture[str]


def printed(capsys: Printed, *words: str, code: int = 0) -> Any:
    """The JSON that a command prints."""
    assert main(words) == code
    return json.loads(capsys.readouterr().out)


def check(name: str, value: Any) -> None:
    jsonschema.Draft202012Validator(SCHEMAS[name][1]()).validate(value)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "rows.jsonl"
    data = [
        {"id": f"r{index}", "output": "a b", "expected": "a c", "tool_calls": [{"name": "x", "arguments": {}}], "tags": ["t"], "team": "red", "reward": index}
        for index in range(4)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in data))
    return file


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name][1]())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("list", ["list", "--json"]),
        ("categories", ["categories", "--json"]),
        ("show", ["show", "code_tool_call_f1", "--json"]),
        ("show", ["show", "code_regex_match", "--json"]),
    ],
)
def test_what_is_printed_is_as_its_schema_says(name: str, words: list[str], capsys: Printed) -> None:
    check(name, printed(capsys, *words))


def test_results_are_as_the_schema_says() -> None:
    check("result", score("code_token_f1", output="a b", expected=["a c", "b"]).to_dict())
    check("result", score("code_token_f1", output="a b").to_dict())
    check("result", score("code_token_f1", output={"a": 1}, expected="a").to_dict())


def test_a_result_with_another_key_is_not() -> None:
    result = {**score("code_token_f1", output="a b", expected="a").to_dict(), "more": 1}
    with pytest.raises(jsonschema.ValidationError, match="'more' was unexpected"):
        check("result", result)


def test_problems_are_as_the_schema_says(capsys: Printed) -> None:
    check("problems", printed(capsys, "show", "nope", "--json", code=2))


def test_a_plan_and_a_run_are_as_the_schemas_say(rows: Path, capsys: Printed) -> None:
    words = ["--data", rows.name, "--metric", "code_token_f1", "--metric", "code_exact_match", "--metric", "code_task_reward", "--json"]
    check("check", printed(capsys, "check", *words))
    check("check", printed(capsys, "check", *words, "--metric", "code_nope", code=2))
    check("run", printed(capsys, "run", *words, "--by", "tags"))


def test_a_record_schema_names_every_field_and_takes_real_rows(rows: Path) -> None:
    schema = SCHEMAS["record"][1]()
    assert list(schema["properties"]) == list(FIELDS)
    for line in rows.read_text().splitlines():
        check("record", json.loads(line))
    check(
        "record",
        {"contexts": ["a", {"id": "d1", "text": "b", "score": 0.5}], "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}], "more": 1},
    )
    check("record", {"tool_calls": [{"function": {"name": "x", "arguments": "{}"}}, "y"], "output": None, "expected": {"any_of": [1, 2]}})
    with pytest.raises(jsonschema.ValidationError):
        check("record", {"messages": [{"content": "no role"}]})


@pytest.mark.parametrize("folder", ["agent", "rag"])
def test_the_shipped_records_are_as_the_schema_says(folder: str) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMAS["record"][1]())
    file = Path(__file__).parents[2] / "examples" / folder / "records.jsonl"
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            validator.validate(json.loads(line))
