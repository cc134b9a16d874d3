from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.config.references import reference_problems
from measurand.config.tree import grow

Refused = Callable[..., list[str]]

MODELS = '[models.small]\nprovider = "openai"\nmodel = "m"\n[embeddings.local]\nprovider = "local"\nmodel = "m"\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[run]\njudge = "smal"', "[run] judge: there is no [models.smal]; did you mean small?"),
        ('[run]\njudge = ["small", "big"]', "[run] judge: there is no [models.big]; there are: small"),
        ('[run]\nembedding = "small"', "[run] embedding: there is no [embeddings.small]; there are: local"),
        ('[metrics.m]\njudge = "big"', "[metrics.m] judge: there is no [models.big]; there are: small"),
        ('[metrics.m]\nembedding = "big"', "[metrics.m] embedding: there is no [embeddings.big]; there are: local"),
        ('[[questions]]\nname = "a.b"\nask = "?"\njudge = "big"', "[[questions]] a.b judge: there is no [models.big]; there are: small"),
        ('[ragas]\nmodel = "big"', "[ragas] model: there is no [models.big]; there are: small"),
        (
            '[metrics.strict]\nuse = "code_token_f1"',
            (
                "[metrics.strict]: use makes it an instance, and names without a dot are the built-in metrics'; an instance has a dotted, quoted name: "
                '[metrics."house.strict"]'
            ),
        ),
        (
            "[metrics.house.strict]\nthreshold = 1",
            '[metrics.house] strict: is a table, and an option takes none; an instance\'s dotted name is quoted: [metrics."house.strict"]',
        ),
        ('[suites]\na = ["suite:a"]', "[suites] a: the suite contains itself: a → a; take one of these out"),
    ],
)
def test_names_that_do_not_agree(refused: Refused, text: str, sentence: str) -> None:
    (found,) = refused(f"{MODELS}{text}\n")

    assert found.partition(": ")[2] == sentence


def test_the_item_of_a_list_has_its_own_line(refused: Refused) -> None:
    (found,) = refused('[run]\njudge = [\n  "x",\n]\n')

    assert found == "metrics.toml:3: [run] judge: there is no [models.x]; write a table [models.x]"


def test_two_questions_of_one_name(refused: Refused) -> None:
    assert refused('[[questions]]\nname = "a.b"\nask = "?"\n[[questions]]\nname = "a.b"\nask = "!"\n') == [
        "metrics.toml:5: [[questions]] a.b name: another question has this name: metrics.toml:2: [[questions]] a.b name; give each its own"
    ]


NAMES = st.sampled_from("abcdef")


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=3), max_size=6))
def test_suites_are_refused_exactly_when_one_contains_itself(suites: dict[str, list[str]]) -> None:
    root = grow({"suites": {name: [f"suite:{one}" for one in members] for name, members in suites.items()}}, "", {}).root

    assert bool(reference_problems(root)) == any(name in _reached(name, suites) for name in suites)


def _reached(start: str, suites: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    pending = list(suites.get(start, ()))
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += suites.get(name, ())
    return found
