from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The war ended in 1945. It cost $3.5 million. See example.org.", ["The war ended in 1945.", "It cost $3.5 million.", "See example.org."]),
        ("Is it? Yes! He left… Then she came.", ["Is it?", "Yes!", "He left…", "Then she came."]),
        ("He left… and came back.", ["He left… and came back."]),
        ('"Really." He left. (So he said.) Good.', ['"Really."', "He left.", "(So he said.)", "Good."]),
        ("Dr. J. Smith met Prof. Lee vs. Mr. Wu.", ["Dr. J. Smith met Prof. Lee vs. Mr. Wu."]),
        ("See Fig. 2 and No. 5. The answer is no. Next.", ["See Fig. 2 and No. 5.", "The answer is no.", "Next."]),
        ("Fruit, e.g. Apples, is sold. It is.", ["Fruit, e.g. Apples, is sold.", "It is."]),
        ("He left at 5 p.m. The talk went on.", ["He left at 5 p.m.", "The talk went on."]),
        ("The U.S. Army came. It left.", ["The U.S. Army came.", "It left."]),
        ("今天下雨。我们回家！你呢？", ["今天下雨。", "我们回家！", "你呢？"]),
        ("「行く。」と言った。終わり。", ["「行く。」", "と言った。", "終わり。"]),
        ("यह एक है। दूसरा है॥", ["यह एक है।", "दूसरा है॥"]),
        ("هل هذا صحيح؟ نعم هو صحيح. انتهى۔", ["هل هذا صحيح؟", "نعم هو صحيح.", "انتهى۔"]),
        ("1. First point. It goes on.\n2. Second", ["1. First point.", "It goes on.", "2. Second"]),
        ("- one thing\n- two things. And more", ["- one thing", "- two things.", "And more"]),
        ("A heading\n\nA paragraph that\nis wrapped. Ends.", ["A heading", "A paragraph that\nis wrapped.", "Ends."]),
        ("One. --- Two.", ["One.", "--- Two."]),
        ("One. ---", ["One. ---"]),
        ("No full stop", ["No full stop"]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_a_text_is_cut_where_its_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet=st.sampled_from("aB1.!?… \n\"')。！؟।-*é漢") | st.characters(), max_size=80))
def test_nothing_is_lost_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text", ["." * 50_000, ". " * 50_000, '"' * 50_000, "\n" * 50_000, "1. " * 30_000, "A.B." * 20_000, "。" * 50_000, " " * 100_000 + "x"]
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    sentences(text)
    assert time.process_time() - began < 2.0
