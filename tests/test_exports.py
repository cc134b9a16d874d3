"""The names that `from measurand import …` offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import measurand

REFERENCE: Final = Path(__file__).resolve().parent.parent / "docs" / "pages" / "reference" / "python.md"


def documentation(thing: Any) -> str:
    """What `help` says of a thing itself, not of what it is an instance of."""
    own = getattr(thing, "__doc__", None) or ""
    return "" if not isinstance(thing, type) and own == type(thing).__doc__ else own


def test_all_is_sorted_and_complete() -> None:
    assert measurand.__all__ == sorted(set(measurand.__all__))
    assert set(measurand._HOMES) | {"metric"} == set(measurand.__all__)
    assert set(measurand.__all__) <= set(dir(measurand))


@pytest.mark.parametrize("name", measurand.__all__)
def test_every_name_can_be_imported_and_says_what_it_is(name: str) -> None:
    thing = getattr(measurand, name)
    assert thing is getattr(measurand, name)
    if name not in ("registry", "same"):  # values: what they are stands in the reference
        assert documentation(thing).strip()


def test_the_names_are_those_that_type_checkers_see() -> None:
    source = Path(measurand.__file__).read_text(encoding="utf-8")
    shown = source.partition("if TYPE_CHECKING:")[2].partition("\n\n")[0]
    names = {word.strip(" ,()") for line in shown.splitlines() if " import " in line for word in line.partition(" import ")[2].split(",")}
    assert names == set(measurand.__all__)


def test_a_star_import_gives_exactly_these() -> None:
    space: dict[str, Any] = {}
    exec("from measurand import *", space)
    assert set(space) - {"__builtins__"} == set(measurand.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'measurand' has no attribute 'evalute'"):
        measurand.evalute  # noqa: B018


@pytest.mark.parametrize("name", ["evaluate", "metric", "registry", "score"])
def test_a_name_loads_only_what_it_needs(name: str) -> None:
    code = f"import sys; from measurand import {name}; print(*sorted(set(sys.modules) & {{'numpy', 'scipy', 'pydantic', 'sqlalchemy', 'sacrebleu', 'rich'}}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_the_reference_names_what_it_promises() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    for name in ("evaluate", "aevaluate", "score", "registry", "MetricCategory", "metric"):
        assert f"{name}" in text
