from __future__ import annotations

from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from measurand.config.locate import MAX_DEPTH, Path, TooDeepError, locate

TEXT = '''\
# a comment with [brackets] = "and quotes"
project = "x"  # another ] }

[data]
path = [
    "a.jsonl", # [not a table]
    'b.jsonl',
]
"quoted key"."with.dot" = 1
[models.judge]
headers = { X-Team = "search", "Y}" = '{' }
note = """
several
lines = "not keys"
[nor.tables]
"""
after = \'\'\'
'quoted' \'\'\'
last = 1979-05-27 07:32:00
[[questions]]
name = "a.b"
[questions.example]
input = "one"
[[questions]]
options.yes.means = "x"
options.yes.score = 1.0
[metrics."house.strict"]
threshold = 0.5
'''


def test_every_form_of_key_has_its_line() -> None:
    lines = locate(TEXT)

    assert lines[("project",)] == 2
    assert lines[("data",)] == 4
    assert lines[("data", "path")] == 5
    assert lines[("data", "path", 0)] == 6
    assert lines[("data", "path", 1)] == 7
    assert lines[("data", "quoted key", "with.dot")] == 9
    assert lines[("models", "judge")] == 10
    assert lines[("models", "judge", "headers", "Y}")] == 11
    assert lines[("models", "judge", "note")] == 12
    assert lines[("models", "judge", "after")] == 17
    assert lines[("models", "judge", "last")] == 19
    assert lines[("questions", 0)] == 20
    assert lines[("questions", 0, "example", "input")] == 23
    assert lines[("questions", 1, "options", "yes", "means")] == 25
    assert lines[("questions", 1, "options", "yes", "score")] == 26
    assert lines[("metrics", "house.strict", "threshold")] == 28


def test_keys_are_exactly_those_that_tomli_reads() -> None:
    assert set(locate(TEXT)) == set(_paths(tomli.loads(TEXT)))


def test_a_table_first_met_through_its_child_gets_the_line_of_its_own_header() -> None:
    assert locate("[a.b]\nx = 1\n[a]\ny = 2\n")[("a",)] == 3


def test_quotes_at_the_end_of_a_multi_line_text_belong_to_it() -> None:
    assert locate('a = """x"""""\nb = 1\n')[("b",)] == 2


@pytest.mark.parametrize("text", [f"a = {'[' * 40}{']' * 40}", f"a = {'{a=' * 40}1{'}' * 40}", ".".join("a" * 40) + " = 1", f"[{'.'.join('a' * 40)}]"])
def test_deep_nesting_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(TooDeepError) as caught:
        locate(f"first = 1\n{text}\n")
    assert caught.value.line == 2


KEYS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=5)
SCALARS = st.integers() | st.booleans() | st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8)


@given(st.lists(st.tuples(KEYS, VALUES), max_size=5, unique_by=lambda pair: pair[0]), st.integers(0, 3))
def test_written_keys_are_found_on_the_line_they_were_written(pairs: list[tuple[str, Any]], gap: int) -> None:
    text = ("# [x]\n" * gap).join(f"{_quoted(key)} = {_written(value)}\n" for key, value in pairs)

    lines = locate(text)

    assert set(lines) == set(_paths(dict(pairs)))
    assert [lines[(key,)] for key, _ in pairs] == [1 + index * (gap + 1) for index in range(len(pairs))]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_written(one) for one in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else _quoted(value)


def _paths(value: Any, path: Path = ()) -> list[Path]:
    assert len(path) <= MAX_DEPTH
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, one in pairs for found in ((*path, key), *_paths(one, (*path, key)))]
