"""What starting costs. The figures are those of the contract; benchmarks/startup.py prints them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BANNED = (
    "asyncio", "httpx2", "importlib.metadata", "inspect_ai", "jsonschema", "numpy", "pandas", "phonenumbers", "polars", "py3langid", "pyarrow", "pydantic", "rapidfuzz", "regex", "rich", "sacrebleu",
    "scipy", "sqlalchemy", "tomli",
)  # fmt: skip
ENTRY = "from measurand.cli import main\nassert main({words!r}) == 0\nimport sys\nprint(*sys.modules, file=sys.stderr)"
BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "startup.py"


def loaded(code: str) -> set[str]:
    """The modules that a process has loaded at its end."""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(process.stderr.split())


def test_import_loads_nothing_but_itself() -> None:
    modules = loaded("import measurand, sys\nprint(*sys.modules, file=sys.stderr)")
    assert not modules & set(BANNED)
    assert not [name for name in modules if name.startswith("measurand.") or name in ("attr", "click")]


def test_the_registry_loads_the_shelves_alone() -> None:
    modules = loaded("import measurand, sys\nassert len(measurand.registry) > 40\nprint(*sys.modules, file=sys.stderr)")
    assert not modules & {*BANNED, "click"}


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["--help"],
        ["list"],
        ["list", "--json"],
        ["list", "--category", "rag", "--format", "csv"],
        ["list", "--search", "word", "--format", "markdown"],
        ["list", "--help"],
        ["run", "--help"],
        ["categories"],
        ["show", "code_token_f1"],
        ["show", "code_tool_call_f1", "--json"],
    ],
)
def test_what_only_lists_loads_click_attrs_and_the_shelves(words: list[str]) -> None:
    modules = loaded(ENTRY.format(words=words))
    assert not modules & set(BANNED)
    assert not [name for name in modules if name.startswith(("measurand.run", "measurand.data", "measurand.config", "measurand.stats"))]
    if words == ["--version"]:
        assert not modules & {"click", "attr"}
    if "--help" in words:
        assert not [name for name in modules if name.startswith("measurand.catalogue")]


def test_the_requests_of_a_judged_metric_are_shown_without_what_sends_them() -> None:
    modules = loaded(ENTRY.format(words=["show", "llm_faithfulness"]))
    assert "measurand.judge" in modules
    assert not modules & set(BANNED)
    assert not [name for name in modules if name.startswith(("measurand.run", "measurand.data", "measurand.config", "measurand.stats"))]


def test_show_loads_what_its_example_needs_and_no_more() -> None:
    modules = loaded(ENTRY.format(words=["show", "code_levenshtein"]))
    assert "rapidfuzz" in modules
    assert not modules & set(BANNED) - {"rapidfuzz"}


@pytest.mark.skipif(sys.platform == "win32", reason="the figures are those of POSIX processes")
def test_what_starting_costs(tmp_path: Path) -> None:
    """At most 6 × (--version) and 9 × (list) the CPU of `python -c pass`, and 30 MB: measured by the benchmark, from a small process."""
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode beside it
    said = []
    for _ in range(3):  # a machine with other work to do is given further chances
        ran = subprocess.run([sys.executable, str(BENCHMARK), "--rounds", "7", "--assert"], capture_output=True, text=True, env=environ)
        if ran.returncode == 0:
            return
        said.append(ran.stdout + ran.stderr)
    pytest.fail("\n".join(said))
