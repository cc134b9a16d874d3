"""What the four questions of retrieval cost on rows of four passages. A row has about 530 tokens, 1 545 where it is shown in five requests."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judge.replies import tokenized

from measurand import registry
from measurand.core.exchange import Completion, ModelRequest
from measurand.core.judged import Question
from measurand.core.request import Ask, Request, Split
from measurand.formula.sentences import sentences
from measurand.judge import Row, Ways, asked, together

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data" / "rag_rows.jsonl").read_text(encoding="utf-8").splitlines()]
LOGPROBS = Ways("logprobs", "logprobs")
SAMPLED = Ways("sampled", "sampled")


@pytest.fixture(scope="module")
def tokens() -> Callable[[str], int]:
    bpe_openai = pytest.importorskip("bpe_openai")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it opens its tables by a function that Python 3.11 discourages
        encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


def worded(name: str) -> str:
    question: Question = registry[name].judged
    return question.wording(frozenset(ROWS[0]))


def questions(fields: dict[str, Any]) -> list[Request[Any]]:
    """Faithfulness in two steps, relevance of the answer, precision and recall of the passages."""
    return [
        Split(fields["output"]),
        Ask(worded("llm_faithfulness"), over=sentences(fields["output"])),
        Ask(worded("llm_answer_relevance")),
        Ask(worded("llm_context_precision"), over=fields["contexts"]),
        Ask(worded("llm_context_recall"), over=sentences(fields["expected"])),
    ]


def sent(request: ModelRequest, tokens: Callable[[str], int]) -> int:
    schema = 0 if request.schema is None else tokens(json.dumps(request.schema, separators=(",", ":")))
    return sum(tokens(message.content) + 4 for message in request.messages) + 3 + schema


def in_five(fields: dict[str, Any], ways: Ways) -> list[ModelRequest]:
    row = Row(fields)
    return [part.request for one in questions(fields) for part in asked(one, row, ways, count=len).parts]


def in_three(fields: dict[str, Any]) -> list[ModelRequest]:
    row = Row(fields)
    claims, grounded, relevance, useful, recalled = questions(fields)
    return [together(wave, row).request for wave in ([claims, relevance], [useful, recalled], [grounded])]


def mean(values: list[int]) -> float:
    return sum(values) / len(values)


def test_four_metrics_are_five_requests_of_2100_tokens(tokens: Callable[[str], int]) -> None:
    assert all(len(in_five(fields, LOGPROBS)) == 5 for fields in ROWS)
    assert mean([sum(sent(one, tokens) for one in in_five(fields, LOGPROBS)) for fields in ROWS]) <= 2_100


def test_what_is_not_the_row_is_at_most_110_tokens_a_request(tokens: Callable[[str], int]) -> None:
    for fields in ROWS:
        context, question, output, expected = (tokens(text) for text in ("\n".join(fields["contexts"]), fields["input"], fields["output"], fields["expected"]))
        row = 3 * context + 3 * output + 2 * expected + 2 * question
        assert sum(sent(one, tokens) for one in in_five(fields, LOGPROBS)) - row <= 5 * 110
        assert sum(sent(one, tokens) for one in in_five(fields, SAMPLED)) - row <= 5 * 135


def test_asked_together_they_are_three_requests_of_1560_tokens(tokens: Callable[[str], int]) -> None:
    assert mean([sum(sent(one, tokens) for one in in_three(fields)) for fields in ROWS]) <= 1_560


def test_a_reply_by_log_probabilities_is_short() -> None:
    for fields in ROWS:
        row = Row(fields)
        parts = [part for one in questions(fields)[1:] for part in asked(one, row, LOGPROBS, count=len).parts]
        assert sum(part.output_tokens for part in parts) <= 45


def test_rendering_and_reading_take_a_third_of_a_millisecond() -> None:
    fields = ROWS[0]
    replies = [tokenized("\n".join(f"{number}. yes" for number in range(1, n + 1)) if n else "yes") for n in (4, 0, 4, 2)]
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        for _ in range(20):
            row = Row(fields)
            first, *others = questions(fields)
            asked(first, row, LOGPROBS, count=len).parts[0].read(Completion('{"claims": ["a", "b", "c", "d"]}'))
            for one, reply in zip(others, replies, strict=True):
                asked(one, row, LOGPROBS, count=len).parts[0].read(reply)
        best = min(best, (time.process_time() - began) / 100)
    print(f"{best * 1e3:.3f} ms a call")
    assert best <= 0.001  # 0.0003 on a quiet machine
