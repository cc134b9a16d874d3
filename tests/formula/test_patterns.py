from __future__ import annotations

import pytest

from measurand.core.errors import CellTimeoutError, InvalidFieldError
from measurand.formula.patterns import found, written_out


def test_patterns_of_the_regex_package() -> None:
    assert found(r"\p{Cyrillic}", "да")
    assert not found("b", "abc", whole=True)
    assert found("ABC", "abc", whole=True, ignore_case=True)


@pytest.mark.parametrize(
    ("pattern", "size"), [("abc", 3), ("(ab){3}c{2,}", 8), ("a{0,60000}", 1), (r"[0-9a-f]{8}-\d{4}", 13), ("(a{1000}){1000}", 1_000_000), ("[{5}]", 1)]
)
def test_the_size_of_a_pattern_with_its_repeats_written_out(pattern: str, size: int) -> None:
    assert written_out(pattern) == size


@pytest.mark.parametrize("pattern", ["(a{1000}){1000}", "a{1000000000}", "[a-z]{10000}" * 3, "a" * 10_001, "a{99999999999999999999}"])
def test_a_pattern_that_would_fill_the_memory_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidFieldError, match="is too large") as raised:
        found(pattern, "a", field="output_schema")
    assert raised.value.field == "output_schema"


@pytest.mark.parametrize("pattern", ["(", "(" * 4000 + ")" * 4000, "[a"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidFieldError, match="no regular expression"):
        found(pattern, "a")


def test_a_match_is_interrupted() -> None:
    with pytest.raises(CellTimeoutError, match=r"took more than 0\.1 s on a text of 61 characters"):
        found("(a|aa)+$", "a" * 60 + "!")
