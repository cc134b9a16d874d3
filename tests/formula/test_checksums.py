"""Check digits: published examples, and what each is made to notice."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest

from measurand.formula.checksums import luhn, mod_11_2, mod_11_10, mod_97, verhoeff

PUBLISHED = [
    (luhn, "79927398713"),  # the usual worked example of ISO/IEC 7812-1
    (luhn, "4111111111111111"),
    (luhn, "378282246310005"),
    (mod_97, "GB82WEST12345698765432"),  # ISO 13616's worked example
    (mod_97, "NO9386011117947"),
    (mod_97, "MT84MALT011000012345MTLCAST001S"),
    (mod_11_2, "11010519491231002X"),  # GB 11643-1999
    (mod_11_2, "079X"),  # ISO/IEC 7064
    (mod_11_2, "07940"),
    (mod_11_10, "86095742719"),  # Bundeszentralamt für Steuern
    (verhoeff, "2363"),
    (verhoeff, "123451"),
]


@pytest.mark.parametrize(("holds", "number"), PUBLISHED)
def test_published_numbers_hold(holds: Callable[[str], bool], number: str) -> None:
    assert holds(number)


@pytest.mark.parametrize(("holds", "number"), PUBLISHED)
def test_every_wrong_digit_is_noticed(holds: Callable[[str], bool], number: str) -> None:
    for at, one in enumerate(number):
        if one.isdigit():
            assert not any(holds(number[:at] + digit + number[at + 1 :]) for digit in "0123456789" if digit != one)


@pytest.mark.parametrize(("holds", "length"), [(verhoeff, 12), (mod_11_2, 10)])
def test_every_swap_of_neighbours_is_noticed(holds: Callable[[str], bool], length: int) -> None:
    random = Random(5)
    seen = 0
    while seen < 40:
        number = "".join(random.choices("0123456789", k=length))
        if not holds(number):
            continue
        seen += 1
        for at, (one, after) in enumerate(pairwise(number)):
            if one != after:
                assert not holds(number[:at] + after + one + number[at + 2 :])


def test_one_in_ten_numbers_holds() -> None:
    assert sum(luhn(f"{number:04}") for number in range(10_000)) == 1_000
    assert sum(verhoeff(f"{number:04}") for number in range(10_000)) == 1_000
