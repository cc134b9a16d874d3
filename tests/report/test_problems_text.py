from __future__ import annotations

from measurand.core.errors import Problem
from measurand.report.problems_text import problem_lines, problems_json


def test_one_problem_is_one_line() -> None:
    assert problem_lines([Problem("c", "a.toml:3", "no x", "write y")], sent_nothing=True) == ["a.toml:3: no x; write y"]


def test_a_long_hint_stands_below() -> None:
    lines = problem_lines([Problem("c", "a.toml:3", "m" * 60, "h" * 60)], sent_nothing=False)
    assert lines == [f"a.toml:3: {'m' * 60}", f"            {'h' * 60}"]


def test_several_are_counted() -> None:
    problems = [Problem("c", "", "one"), Problem("c", "", "two")]
    assert problem_lines(problems, sent_nothing=True)[-1] == "2 problems, nothing was sent."
    assert problem_lines(problems, sent_nothing=False)[-1] == "2 problems."


def test_hostile_names_are_shown_as_symbols_and_kept_in_json() -> None:
    one = Problem("c", "a", "no column '\x1b[2J'")
    assert problem_lines([one], sent_nothing=False) == ["a: no column '␛[2J'"]
    assert problems_json([one])["problems"][0]["message"] == "no column '\x1b[2J'"
