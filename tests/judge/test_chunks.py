from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import InvalidFieldError
from measurand.core.exchange import Completion
from measurand.core.request import Ask, Prefer, Scale, Split, Write
from measurand.judge import Asked, Row, Ways, asked
from measurand.judge.chunks import size

MOST = 180
SAMPLED = Ways("sampled", "sampled")
GROUNDED = "Can `output` be inferred from `contexts`?"
PASSAGES = [f"passage{number} " + "word " * 30 for number in range(8)]


def count(text: str) -> int:
    return len(text.split())


def fitted(request: Any, fields: dict[str, Any], most: int | None, draws: int = 1) -> Asked:
    return asked(request, Row(fields), SAMPLED, draws=draws, max_input_tokens=most, count=count)


def shown(found: Asked) -> list[list[str]]:
    return [re.findall(r"passage\d+", part.request.messages[1].content) for part in found.parts]


def test_what_fits_is_one_request() -> None:
    assert len(fitted(Ask(GROUNDED), {"output": "o", "contexts": PASSAGES}, 10_000).parts) == 1
    assert len(fitted(Ask(GROUNDED), {"output": "o", "contexts": PASSAGES}, None).parts) == 1


def test_passages_go_into_as_few_requests_as_hold_them_and_none_is_lost() -> None:
    found = fitted(Ask(GROUNDED), {"output": "o", "contexts": PASSAGES}, MOST)
    assert all(size(part.request, count) <= MOST for part in found.parts)
    assert [name for part in shown(found) for name in part] == [f"passage{number}" for number in range(8)]
    assert len(found.parts) == 3
    assert all(" output\no\n#" in part.request.messages[1].content for part in found.parts)


def test_a_claim_counts_as_supported_where_one_chunk_supports_it() -> None:
    found = fitted(Ask("Can `item` be inferred from `contexts`?", over=["a", "b", "c"]), {"contexts": PASSAGES}, MOST)
    texts = ['{"answers": [true, false, false]}', '{"answers": [false, false, true]}', '{"answers": [false, false, false]}']
    reply = found.combine([part.read(Completion(text)) for part, text in zip(found.parts, texts, strict=True)])
    assert [verdict.value for verdict in reply.value] == [1.0, 0.0, 1.0]
    assert reply.flags == ("chunked",)
    assert reply.draws == ({"draw": 0, "values": [1.0, 0.0, 1.0]},)


def test_the_highest_level_of_all_chunks_counts() -> None:
    found = fitted(Ask("How much of `output` is in `contexts`?", Scale(("none", "some", "all"))), {"output": "o", "contexts": PASSAGES}, MOST, draws=2)
    levels = [0, 1, 0, 2, 0, 0]
    assert [part.request.draw for part in found.parts] == [0, 0, 0, 1, 1, 1]
    reply = found.combine([part.read(Completion(f'{{"answer": "{level}"}}')) for part, level in zip(found.parts, levels, strict=True)])
    assert reply.value.probabilities == {"0": 0.0, "1": 0.5, "2": 0.5}


def test_verdicts_on_the_passages_themselves_follow_one_another() -> None:
    request = Ask("Does `item` help with `expected`?", over=PASSAGES)
    found = fitted(request, {"expected": "e", "contexts": PASSAGES}, MOST)
    sizes = [len(part) for part in shown(found)]
    assert sum(sizes) == 8
    assert f"[{sizes[0]} booleans]" in found.parts[0].request.messages[1].content
    first = 0
    readings = []
    for part, n in zip(found.parts, sizes, strict=True):
        answers = ", ".join('"yes"' if (first + at) % 3 == 0 else '"no"' for at in range(n))
        readings.append(part.read(Completion(f'{{"answers": [{answers}]}}')))
        first += n
    assert [verdict.value for verdict in found.combine(readings).value] == [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]


def test_one_passage_that_does_not_fit_is_named_with_both_sizes() -> None:
    with pytest.raises(InvalidFieldError) as caught:
        fitted(Ask(GROUNDED), {"output": "o", "contexts": ["short", "long " * 300]}, MOST)
    assert caught.value.field == "contexts"
    assert re.fullmatch(
        r"the request has about 3\d\d tokens with contexts\[1\] as its only passage; max_input_tokens allows 180",
        caught.value.message,
    )


@pytest.mark.parametrize(
    ("request_", "fields", "field"),
    [
        (Ask("Is `output` fine for `input`?"), {"output": "long " * 300, "input": "i"}, "output"),
        (Ask("Is `item` fine?", over=["long " * 300]), {"output": "o"}, None),
        (Ask(GROUNDED), {"output": "long " * 300, "contexts": ["a"]}, "contexts"),
        (Split("long " * 300), {"output": "o"}, None),
        (Write("A question for `output`"), {"output": "long " * 300}, None),
        (Prefer("long " * 300, "b", ""), {"output": "o"}, None),
    ],
)
def test_other_texts_are_never_cut(request_: Any, fields: dict[str, Any], field: str | None) -> None:
    with pytest.raises(InvalidFieldError, match="max_input_tokens allows 180") as caught:
        fitted(request_, fields, MOST)
    assert caught.value.field == field


def test_a_run_that_is_more_than_its_parts_is_halved() -> None:
    def greedy(text: str) -> int:
        return count(text) + 40 * max(0, text.count("passage") - 2)

    found = asked(Ask(GROUNDED), Row({"output": "o", "contexts": PASSAGES}), SAMPLED, max_input_tokens=MOST + 60, count=greedy)
    assert [name for part in shown(found) for name in part] == [f"passage{number}" for number in range(8)]
    assert all(size(part.request, greedy) <= MOST + 60 for part in found.parts)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(150, 400))
def test_chunks_are_a_partition_that_fits(lengths: list[int], most: int) -> None:
    contexts = [f"passage{number} " + "w " * length for number, length in enumerate(lengths)]
    found = fitted(Ask(GROUNDED), {"output": "o", "contexts": contexts}, most)
    assert [name for part in shown(found) for name in part] == [f"passage{number}" for number in range(len(lengths))]
    assert all(size(part.request, count) <= most for part in found.parts)
