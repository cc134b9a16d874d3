from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.drive import UndeclaredInstrumentError, drive, requests_made, scripted, stand_in
from measurand.core.errors import CellError
from measurand.core.request import Ask, Choice, Embed, Option, Prefer, Request, Scale, Split, Verdict, Write

BOTH = frozenset({"judge", "embedder"})
FORM = Choice({"good": Option("good", 1.0), "bad": Option("bad", 0.0), "na": Option("does not apply", None)})


def steps(*requests: Any) -> Generator[Request[Any], Any, list[Any]]:
    replies = []
    for request in requests:
        reply = yield request
        replies.append(reply)
    return replies


def test_a_plan_answers_every_kind_of_request_once_well_and_once_badly() -> None:
    made = (Ask("q"), Ask("q", over=["a", "b"]), Ask("q", Scale(("0", "1", "2"))), Ask("q", FORM), Split("One. Two."), Write("w", 2), Prefer("a", "b", "q"))
    no, noes, worst, bad, claims, texts, first = drive(steps(*made), stand_in(0.0), BOTH)
    assert (no.value, [one.value for one in noes], worst.value, bad.value, first.value) == (0.0, [0.0, 0.0], 0.0, 0.0, 0.0)
    assert (claims, len(texts)) == (["One.", "Two."], 2)
    assert [one.value for one in drive(steps(*made[:1], *made[2:4]), stand_in(1.0), BOTH)] == [1.0, 1.0, 1.0]
    assert drive(steps(Embed(["a", "b"])), stand_in(1.0), BOTH) == [[[1.0], [1.0]]]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Refunds take 3.5 days. Are they free? Yes!", ["Refunds take 3.5 days.", "Are they free?", "Yes!"]),
        ("五日かかります。無料です。", ["五日かかります。", "無料です。"]),
        ("- one\n- two\n\n", ["- one", "- two"]),
        (" \n ", []),
    ],
)
def test_a_plan_takes_the_sentences_of_a_text_for_its_claims(text: str, claims: list[str]) -> None:
    assert stand_in(1.0)(Split(text)) == claims


@given(st.text("ab .!?。\n", max_size=60), st.integers(0, 5))
def test_nothing_of_the_text_is_lost_and_no_more_is_given_than_allowed(text: str, most: int) -> None:
    claims = stand_in(1.0)(Split(text))
    assert "".join("".join(claims).split()) == "".join(text.split())
    assert stand_in(1.0)(Split(text, most)) == claims[:most]


def test_requests_up_to_where_a_metric_ends_count() -> None:
    def ends() -> Generator[Request[Any], Any, float]:
        yield Ask("q")
        raise CellError("not defined")

    assert requests_made(ends(), BOTH) == [Ask("q")]
    assert requests_made(steps(), BOTH) == []


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [(Embed(["a"]), "the metric asked the embedder, which its return annotation does not name"), ("q", "a metric yields requests .* not str")],
)
def test_who_was_not_declared_is_not_asked(request_: Any, sentence: str) -> None:
    with pytest.raises(UndeclaredInstrumentError, match=sentence):
        drive(steps(request_), scripted([Verdict.yes(1.0)]), frozenset({"judge"}))


def test_too_few_scripted_replies_are_an_error() -> None:
    with pytest.raises(CellError, match="no reply left for Ask"):
        drive(steps(Ask("q"), Ask("q")), scripted([Verdict.yes(1.0)]), BOTH)
