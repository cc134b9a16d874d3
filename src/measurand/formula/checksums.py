"""Check digits: whether a number is one that its issuer can have given out."""

from __future__ import annotations

from typing import Final

_VERHOEFF_PRODUCT: Final = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678", "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_VERHOEFF_TURNS: Final = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip
_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B: every second digit from the right doubled (minus 9 above 9); the sum is divisible by 10."""
    numbers = [int(digit) for digit in reversed(digits)]
    return (sum(numbers[::2]) + sum(_DOUBLED[one] for one in numbers[1::2])) % 10 == 0


def mod_97(account: str) -> bool:
    """ISO 13616 (IBAN), by ISO/IEC 7064 MOD 97-10: four characters moved to the end, letters as 10 to 35, the remainder by 97 is 1."""
    return int("".join(str(int(character, 36)) for character in account[4:] + account[:4])) % 97 == 1


def mod_11_2(number: str) -> bool:
    """ISO/IEC 7064 MOD 11-2: the last character is 0 to 9 or X for 10."""
    total = 0
    for digit in number[:-1]:
        total = (total + int(digit)) * 2 % 11
    return (total + (10 if number[-1] in "xX" else int(number[-1]))) % 11 == 1


def mod_11_10(digits: str) -> bool:
    """ISO/IEC 7064 MOD 11,10."""
    product = 10
    for digit in digits[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (int(digits[-1]) + product) % 10 == 1


def verhoeff(digits: str) -> bool:
    """Verhoeff 1969: multiplication in the dihedral group of order ten, with a permutation for each place from the right."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        turned = int(_VERHOEFF_TURNS[place % 8][int(digit)])
        check = int(_VERHOEFF_PRODUCT[check][turned])
    return check == 0


def weighted(digits: str, weights: tuple[int, ...]) -> int:
    """The sum of the digits, each times the weight of its place; what has no weight does not count."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))
