from __future__ import annotations

import importlib.util
import math
import sys
import timeit
import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.exchange import ChatMessage, ModelRequest
from measurand.runtime import tokens

EXACT = importlib.util.find_spec("bpe_openai") is not None

# Written for this test, none of it among the texts of the fit.
TEXTS = {
    "English prose": (
        "The library opens at nine on weekdays and at ten on Saturdays. Readers who have lost their card may ask for a new one at the desk, "
        "where a small fee of two pounds is charged; children under twelve pay nothing. Books can be kept for three weeks and renewed twice, "
        "unless somebody else has reserved them in the meantime."
    ),
    "dialogue": (
        "User: I'd like to cancel order #48213, please.\nAgent: I'm sorry to hear that. May I ask why you'd like to cancel it?\n"
        "User: It was meant to arrive on 12 March, and it's already the 19th.\nAgent: I understand. I've cancelled it and refunded $42.90 to your card."
    ),
    "JSON": (
        '{"name": "get_weather", "arguments": {"city": "Lisbon", "unit": "celsius", "days": 3}, "result": {"temperature": [18.5, 19.0, 17.2], '
        '"condition": "partly cloudy", "updated_at": "2024-05-01T09:30:00Z"}}'
    ),
    "Python": (
        "def moving_average(values: list[float], width: int) -> list[float]:\n    total = sum(values[:width])\n    averages = [total / width]\n"
        "    for index in range(width, len(values)):\n        total += values[index] - values[index - width]\n        averages.append(total / width)\n"
        "    return averages\n"
    ),
    "German": (
        "Die Bücherei öffnet werktags um neun und samstags um zehn Uhr. Wer seinen Ausweis verloren hat, bekommt an der Theke gegen eine geringe "
        "Gebühr einen neuen; Kinder unter zwölf Jahren zahlen nichts. Bücher dürfen drei Wochen behalten und zweimal verlängert werden."
    ),
    "French": (
        "La bibliothèque ouvre à neuf heures en semaine et à dix heures le samedi. Les lecteurs qui ont perdu leur carte peuvent en demander une "
        "nouvelle à l'accueil, contre une somme modique ; les enfants de moins de douze ans ne paient rien."
    ),
    "Chinese": (
        "图书馆平日九点开门，周六十点开门。遗失借书证的读者可以在服务台申请新证，需要支付少量费用；十二岁以下的儿童免费。图书可以借阅三周，并且可以续借两次，除非有其他读者预约。"
        "阅览室内请保持安静，不要饮食。"
    ),
    "Japanese": (
        "図書館は平日は九時、土曜日は十時に開きます。カードをなくした方は、受付で新しいカードを申し込むことができます。手数料は二百円ですが、十二歳未満の子どもは無料です。"
        "本は三週間借りることができ、予約がなければ二回まで延長できます。"
    ),
    "Korean": (
        "도서관은 평일에는 아홉 시, 토요일에는 열 시에 문을 엽니다. 회원증을 잃어버린 분은 안내 데스크에서 새 카드를 신청할 수 있으며 약간의 수수료를 내야 합니다. "
        "열두 살 미만의 어린이는 무료입니다. 책은 삼 주 동안 빌릴 수 있고 두 번 연장할 수 있습니다."
    ),
}


@pytest.fixture
def without_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "exact_counter", lambda: None)


@pytest.mark.skipif(not EXACT, reason="compares with the tokenizer of the extra `tokens`")
@pytest.mark.parametrize("kind", TEXTS)
def test_the_rates_are_within_15_percent_of_the_tokenizer(kind: str) -> None:
    exact = tokens.exact_counter()
    assert exact is not None
    assert tokens.by_rates(TEXTS[kind]) == pytest.approx(exact(TEXTS[kind]), rel=0.15)


@pytest.mark.skipif(not EXACT, reason="needs the extra `tokens`")
def test_with_the_extra_counts_are_exact_and_say_so() -> None:
    assert tokens.is_exact()
    assert tokens.estimate("hello world") == 2
    assert tokens.estimate("a<|endoftext|>b") == 9  # a text that spells a special token is text
    assert tokens.estimate("yes " * 300_000) == pytest.approx(300_000, rel=0.01)  # the tokenizer refuses a million characters


def test_without_the_extra_the_rates_decide_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    monkeypatch.setattr(tokens, "exact_counter", tokens.exact_counter.__wrapped__)
    assert not tokens.is_exact()
    assert tokens.estimate(TEXTS["JSON"]) == tokens.by_rates(TEXTS["JSON"])


def test_the_sum_of_the_rates_by_hand(without_tokenizer: None) -> None:
    # Two words of one capital and eight lower-case letters, two spaces, a number of two digits, a full stop.
    expected = 2 * 0.08 + 0.44 + 8 * 0.1 + 2 * (0.38 + 0.1) + 1.1 + 2 * 0.27 + 1.01  # 5.01
    assert tokens.estimate("Paris know 42.") == 6 == math.ceil(expected)


def test_a_request_is_its_messages_their_frames_and_its_schema(without_tokenizer: None) -> None:
    messages = (ChatMessage("system", "Be brief."), ChatMessage("user", "Is it so?"))
    schema = {"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}}
    plain = tokens.estimate_request(ModelRequest(messages))
    assert plain == tokens.estimate("Be brief.") + tokens.estimate("Is it so?") + 2 * 4 + 3
    assert tokens.estimate_request(ModelRequest(messages, schema)) == plain + tokens.estimate(
        '{"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}}'
    )


def test_nothing_has_no_tokens(without_tokenizer: None) -> None:
    assert tokens.estimate("") == 0


@given(st.text(alphabet=st.characters(), max_size=200), st.text(max_size=200))
def test_any_text_has_a_plausible_number_of_tokens(text: str, more: str) -> None:
    """At least one, never more than three a byte; a longer text never has fewer; unpaired surrogates are text too."""
    estimate = tokens.by_rates(text)
    assert bool(text) == (estimate >= 1)
    assert estimate <= 3 * len(text.encode("utf-8", "surrogatepass")) + 1
    assert tokens.by_rates(f"{text} {more}") >= estimate


@pytest.mark.parametrize("text", [TEXTS["English prose"] * 10, TEXTS["Chinese"] * 20], ids=["Latin", "Han"])
def test_an_estimate_is_quick(text: str) -> None:
    def seconds(work: Callable[[], object]) -> float:
        return min(timeit.repeat(work, number=50, repeat=5)) / 50

    per_thousand = seconds(lambda: tokens.by_rates(text)) / len(text) * 1000
    print(f"{per_thousand * 1e6:.1f} µs for 1000 signs")
    assert per_thousand < 100e-6  # 10 to 25 µs on an idle core


def test_loading_the_tokenizer_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokens.exact_counter.__wrapped__()
