from __future__ import annotations

import math

import pytest
from tests.judge.replies import token, tokenized

from measurand.core.exchange import Completion, Token
from measurand.judge import Unreadable
from measurand.judge.logprobs import distribution, read_list, read_single

YES_NO = {"yes": "yes", "no": "no"}
LEVELS = {str(level): str(level) for level in range(10)}


def test_variants_of_an_answer_are_one() -> None:
    found = distribution(token("Yes", {"Yes": 0.5, " yes": 0.1, "**YES": 0.05, "yes.": 0.05, "ｙｅｓ": 0.02, "No": 0.2, " NO": 0.05, "The": 0.03}), YES_NO)
    assert found.mass == pytest.approx(0.97)
    assert found.probabilities == pytest.approx({"yes": 0.72 / 0.97, "no": 0.25 / 0.97})
    assert found.flags == ()


@pytest.mark.parametrize("other", ["Not", "None", "nothing", "yeah", "Yesterday", "n", "y", "maybe", ""])
def test_words_that_begin_alike_are_no_answer(other: str) -> None:
    found = distribution(token("yes", {"yes": 0.6, other: 0.4}), YES_NO)
    assert found.mass == pytest.approx(0.6)
    assert found.probabilities == {"yes": 1.0, "no": 0.0}


def test_an_answer_that_is_not_listed_is_0_and_flagged() -> None:
    found = distribution(token("No", {"No": 0.93, " no": 0.03, "NO": 0.01, "The": 0.01}), YES_NO)
    assert found.probabilities == {"yes": 0.0, "no": 1.0}
    assert found.flags == ("absent_answer",)
    assert found.mass == pytest.approx(0.97)


def test_nothing_is_flagged_when_hardly_anything_is_left() -> None:
    assert distribution(token("No", {"No": 0.9996, "The": 0.0002}), YES_NO).flags == ()
    assert distribution(token("No", {"No": 1.0}), YES_NO).flags == ()


def test_little_mass_is_flagged_and_hardly_any_is_no_verdict() -> None:
    assert distribution(token("yes", {"yes": 0.3, "no": 0.1, "The": 0.6}), YES_NO).flags == ("low_mass",)
    assert distribution(token("yes", {"yes": 0.06, "no": 0.05, "The": 0.89}), YES_NO).probabilities["yes"] == pytest.approx(0.06 / 0.11)
    with pytest.raises(Unreadable, match="only 9 % of its probability lies on the answers yes, no"):
        distribution(token("The", {"The": 0.91, "yes": 0.06, "no": 0.03}), YES_NO)


def test_the_token_itself_counts_where_the_list_leaves_it_out() -> None:
    found = distribution(Token("yes", math.log(0.7), (("no", math.log(0.2)), ("The", math.log(0.1)))), YES_NO)
    assert found.probabilities == pytest.approx({"yes": 7 / 9, "no": 2 / 9})


@pytest.mark.parametrize("odd", [float("nan"), float("-inf"), 5.0, -1e9])
def test_odd_logprobs_have_no_mass(odd: float) -> None:
    assert distribution(Token("yes", math.log(0.7), (("no", odd), ("yes", math.log(0.7)))), YES_NO).probabilities == {"yes": 1.0, "no": 0.0}
    with pytest.raises(Unreadable):
        distribution(Token("yes", odd, ()), YES_NO)


@pytest.mark.parametrize("odd", [float("nan"), float("-inf"), -9999.0])
def test_an_odd_logprob_of_the_token_itself_never_turns_the_answer_round(odd: float) -> None:
    listed = Token("yes", odd, (("yes", math.log(0.6)), ("no", math.log(0.4))))
    assert distribution(listed, YES_NO).probabilities == pytest.approx({"yes": 0.6, "no": 0.4})
    with pytest.raises(Unreadable, match="without a probability"):
        distribution(Token("yes", odd, (("no", math.log(0.4)),)), YES_NO)


def test_a_level_counts_at_its_token() -> None:
    found = read_single(tokenized("7", [{"7": 0.6, "8": 0.3, "10": 0.1}], at=r"\d"), LEVELS)
    assert found.probabilities["7"] == pytest.approx(0.6 / 0.9)
    assert found.probabilities["8"] == pytest.approx(0.3 / 0.9)
    assert sum(found.probabilities.values()) == pytest.approx(1)


def test_two_digits_are_never_read_as_the_first() -> None:
    with pytest.raises(Unreadable, match="0 to 9"):
        read_single(Completion("10", tokens=(token("1", {"1": 0.98, "9": 0.02}), token("0"))), LEVELS)


@pytest.mark.parametrize("text", ["yes", " Yes", "\nYes", "**Yes**", "Yes.", "Answer: yes", "<think>no</think>\nyes", "\n\n# yes", "yes, because"])
def test_the_first_token_of_the_answer_is_found(text: str) -> None:
    tops = [{"no": 1.0}] * text.count("no") + [{"Yes": 0.5, "yes": 0.25, "no": 0.25}]
    found = read_single(tokenized(text, tops, at="yes|no"), YES_NO)
    assert found.probabilities["yes"] == pytest.approx(0.75)


@pytest.mark.parametrize("text", ["yes", "\nYes", "Yes, it", "No.\n\nThe", "**Yes**\n"])
def test_a_single_answer_may_be_cut_once_it_is_whole(text: str) -> None:
    assert read_single(tokenized(text, finish="length"), YES_NO).mass == pytest.approx(1)


@pytest.mark.parametrize("text", ["The claim is", "<think>The claim", "Yes and", "Not su", "  "])
def test_a_cut_reply_without_an_answer_names_the_limit(text: str) -> None:
    with pytest.raises(Unreadable, match=r"token limit|reasoning"):
        read_single(tokenized(text, finish="length"), YES_NO)


@pytest.mark.parametrize("tokens", [None, ()])
def test_a_reply_without_tokens_says_so(tokens: tuple[Token, ...] | None) -> None:
    with pytest.raises(Unreadable, match="without the log-probabilities"):
        read_single(Completion("yes", tokens=tokens), YES_NO)


# ---------------------------------------------------------------- lists

LIKELY = [{"yes": 0.9, "no": 0.1}, {" yes": 0.2, " no": 0.8}, {"Yes": 0.6, "No": 0.3, "The": 0.1}]


@pytest.mark.parametrize(
    "text",
    [
        "1. yes\n2. no\n3. yes",
        "1. Yes.\n2. No.\n3. YES\n",
        "1) yes\n2) no\n3) yes",
        "1: yes\n2: no\n3: yes",
        "[1] yes\n[2] no\n[3] yes",
        "**1.** yes\n**2.** no\n**3.** yes",
        "- 1. **yes**\n- 2. **no**\n- 3. **yes**",
        "Sure! Here is the result:\n\n1. yes\n2. no\n3. yes\n\nLet me know if you need more.",
        "<think>\nmaybe 1.\n1. no\n</think>\n1. yes\n2. no\n3. yes",
        "1. yes, because the first passage says so\n2. no: it is in none\n3. yes - see 2",
        "\n\n1.   yes\n\n2.\tno\n\n3. yes",
    ],
)
def test_every_numbered_line_has_its_own_p(text: str) -> None:
    tops = [{"no": 1.0}] * text.partition("</think>")[0].count("no") * ("think" in text) + LIKELY
    found = read_list(tokenized(text, tops), YES_NO, 3)
    assert [one.probabilities["yes"] for one in found] == pytest.approx([0.9, 0.2, 0.6 / 0.9])
    assert [round(one.mass, 6) for one in found] == [1, 1, 0.9]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("1. yes\n2. no", "it has 2 numbered lines; 3 were asked for, one for each item"),
        ("1. yes\n2. no\n3. yes\n4. yes", "it has 4 numbered lines; 3 were asked for, one for each item"),
        ("1. yes\n3. no\n2. yes", "its lines are not numbered from 1 on; 3 were asked for, one for each item"),
        ("0. yes\n1. no\n2. yes", "its lines are not numbered from 1 on; 3 were asked for, one for each item"),
        ("1. yes\n2. yes\n2. no", "its lines are not numbered from 1 on; 3 were asked for, one for each item"),
        ("yes\nno\nyes", "it has 0 numbered lines; 3 were asked for, one for each item"),
        ('{"verdicts": ["yes", "no", "yes"]}', "it has 0 numbered lines; 3 were asked for, one for each item"),
        ("1. yes\n2. not sure\n3. no", "it is none of the answers yes, no"),
        ("1. yes\n2. None of it\n3. no", "it is none of the answers yes, no"),
    ],
)
def test_another_shape_is_no_list(text: str, wrong: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_list(tokenized(text), YES_NO, 3)
    assert str(caught.value) == wrong


def test_ten_items_and_more_keep_their_numbers() -> None:
    text = "\n".join(f"{number}. {'yes' if number % 2 else 'no'}" for number in range(1, 13))
    found = read_list(tokenized(text), YES_NO, 12)
    assert [one.probabilities["yes"] for one in found] == [1.0, 0.0] * 6


def test_levels_after_numbers_are_levels() -> None:
    found = read_list(tokenized("1. 4\n2. 0", [{"1": 1}, {"4": 0.5, "3": 0.5}, {"2": 1}, {"0": 1.0}], at=r"\d"), LEVELS, 2)
    assert found[0].probabilities["3"] == pytest.approx(0.5)
    assert found[1].probabilities["0"] == pytest.approx(1)


def test_a_token_that_holds_the_number_too_is_read() -> None:
    reply = Completion("1. yes\n2. no", tokens=(token("1. yes", {"1. yes": 0.7, "1. no": 0.3}), token("\n"), token("2. no", {"2. no": 0.6, "2. yes": 0.4})))
    assert [one.probabilities["yes"] for one in read_list(reply, YES_NO, 2)] == pytest.approx([0.7, 0.4])
