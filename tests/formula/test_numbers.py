from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.numbers import Number, final_numbers, reference_numbers, same_number


def _read(text: str) -> list[str]:
    return [str(number) for number in final_numbers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It comes to 58!", "58"),
        ("Result: [58]", "58"),
        ("Is it 58?", "58"),
        ("48.", "48"),
        ("$48", "48"),
        ("-$48.50", "-48.5"),
        ("USD 5", "5"),
        ("No.42", "42"),
        ("**42**", "42"),
        ("10-7", "7"),
        ("5 - 3", "3"),
        ("pages 3–7", "7"),
        ("- 7 items", "7"),
        ("x = -7", "-7"),
        ("= - 7", "-7"),
        ("(-7)", "-7"),
        ("f(x)-7", "7"),
        ("是-7", "-7"),
        ("answer: –7", "-7"),
        ("−7", "-7"),
        ("58-year-old", "58"),
        (".5", "0.5"),
        ("12,5", "12.5"),
        ("0,125", "0.125"),
        ("1,250", "1250"),
        ("1,00,000", "100000"),
        ("1.234.567", "1234567"),
        ("1.234,56", "1234.56"),
        ("1'000'000", "1000000"),
        ("1_000", "1000"),
        ("1,2,3", "3"),
        ("1e3", "1000"),
        ("1.5E-3", "0.0015"),
        ("5 × 10⁻³", "0.005"),
        ("10³", "1000"),
        ("2^10", "1024"),
        ("1/4", "0.25"),
        ("1 / 4", "0.25"),
        ("-1 1/2", "-1.5"),
        ("1½ cups", "1.5"),
        ("35 %", "35%"),
        ("35 per cent", "35%"),
        ("5‰", "5‰"),
        ("٥٨", "58"),
        ("５８", "58"),
        ("58个", "58"),
        ("$15,\\!000", "15000"),
        ("15{,}000", "15000"),
        ("x = \\frac{1}{2}", "0.5"),
        ("-\\dfrac12", "-0.5"),
        ("\\boxed{74^\\circ}", "74"),
        ("The answer is $$42$$", "42"),
        ("The answer is 3 + 4 = 7.", "7"),
        ("The answer is 42. I checked 3 times.", "42"),
        ("Antwort: 42 (in 3 Schritten)", "42"),
        ("答案：42（共3步）", "42"),
        ("#### 18", "18"),
        ("2024 350 people", "350"),
    ],
)
def test_the_final_number(text: str, expected: str) -> None:
    assert _read(text)[0] == expected


@pytest.mark.parametrize(
    "text",
    [
        "58abc",
        "x2",
        "GPT-4",
        "COVID-19",
        "5th",
        "v2.4.1",
        "192.168.1.1",
        "2024-03-05",
        "03/04/2024",
        "10:30",
        "1/0",
        "1e999999999",
        "8\\sqrt{6}",
        "x_{2}",
        "1" * 500,
        "",
        "none",
    ],
)
def test_what_is_no_number(text: str) -> None:
    assert _read(text) == []


@pytest.mark.parametrize(
    ("text", "expected"), [("10 500", ["500", "10500"]), ("10 000", ["10000"]), ("1 234 567", ["567", "234567", "1234567"]), ("10\u202f500", ["10500"])]
)
def test_readings_of_grouped_digits(text: str, expected: list[str]) -> None:
    assert _read(text) == expected


@pytest.mark.parametrize("text", ["2**(1/4)", "8\\sqrt{6}", "\\{3, 2, 1\\}", "x^2 - x^2", "3x+5", "8 - 3", "forty-two"])
def test_a_formula_or_a_list_is_no_reference(text: str) -> None:
    assert reference_numbers(text) == ()


@pytest.mark.parametrize(("text", "value"), [("The total is **96**.", 96), ("2 + 3 = 5", 5), ("10 500", 10500), ("16 - 3 = 13\n#### 13", 13), ("* 42", 42)])
def test_a_reference_may_be_a_sentence(text: str, value: int) -> None:
    assert reference_numbers(text)[0].value == value


def _same(given_: Number, wanted: Number, *, abs_tolerance: float = 0.0, rel_tolerance: float = 0.0, percent: str = "strict") -> bool:
    return same_number(given_, wanted, abs_tolerance=abs_tolerance, rel_tolerance=rel_tolerance, percent=percent)


def test_a_percent_sign_is_kept() -> None:
    per_cent, share, plain = Number(Fraction(35), 100), Number(Fraction(35, 100)), Number(Fraction(35))
    assert _same(per_cent, per_cent)
    assert _same(per_cent, share)
    assert _same(share, per_cent)
    assert not _same(per_cent, plain)
    assert _same(per_cent, plain, percent="either")
    assert not _same(share, plain, percent="either")


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**6))
def test_whole_numbers_are_compared_exactly_and_within_a_tolerance(value: int, off: int) -> None:
    one, other = Number(Fraction(value)), Number(Fraction(value + off))
    assert not _same(one, other)
    assert _same(one, other, abs_tolerance=off)
    assert not _same(one, other, abs_tolerance=off - 0.5)


@given(st.integers(-(10**12), 10**12))
def test_a_number_is_read_back_from_the_ways_it_is_written(value: int) -> None:
    for text in (str(value), f"{value:,}", f"It is {value}.", f"**{value:,}**", f"\\boxed{{{value}}}", f"{value}.00"):
        assert final_numbers(text)[0].value == value, text


@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert all(isinstance(number.value, Fraction) for number in (*final_numbers(text), *reference_numbers(text)))


@given(st.text(alphabet="0123456789 .,-–/:%^e×()[]{}\\=#½ \u00a0a", max_size=40))
def test_no_mixture_of_digits_and_signs_raises(text: str) -> None:
    assert all(isinstance(number.value, Fraction) for number in (*final_numbers(text), *reference_numbers(text)))
