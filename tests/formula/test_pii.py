"""Personal data: what is found, what is taken for something else, and how long hostile text takes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha1, sha256
from random import Random
from uuid import UUID

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.formula.phones import phones
from measurand.formula.pii import KINDS, is_known, known_data, personal_data


def found(text: str, region: str | None = None) -> list[str]:
    return [text[one.start : one.end] for one in personal_data(text, KINDS, region)]


# ---------------------------------------------------------------- what programs write


def _digits(random: Random, count: int) -> str:
    return "".join(random.choices("0123456789", k=count))


def _isbn(random: Random) -> str:
    body = "978" + _digits(random, 9)
    return f"{body[:3]}-{body[3]}-{body[4:6]}-{body[6:]}-{-sum(int(one) * (1, 3)[at % 2] for at, one in enumerate(body)) % 10}"


def _day(random: Random) -> str:
    form = random.choice(
        ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%m/%d/%Y %I:%M", "%Y%m%d", "%Y%m%dT%H%M%SZ", "%d %m %Y", "%Y-%m-%dT%H:%M:%S.123456Z", "%Y%m%d-%H%M%S"]
    )
    return datetime.fromtimestamp(random.randint(10**9, 2 * 10**9), UTC).strftime(form)


ORDINARY: dict[str, Callable[[Random], str]] = {
    "seconds": lambda r: f"created_at {r.randint(10**9, 2 * 10**9)}",
    "milliseconds": lambda r: f"ts={r.randint(10**12, 2 * 10**12)}",
    "microseconds": lambda r: f"at {r.randint(10**15, 2 * 10**15)}",
    "nanoseconds": lambda r: f"time: {r.randint(10**18, 2 * 10**18)}",
    "order": lambda r: f"{r.choice(['Order', 'Order #', 'order no.', 'Invoice', 'Ticket', 'order id:'])} {_digits(r, r.randint(6, 18))}",
    "dashed order": lambda r: f"Order {_digits(r, 3)}-{_digits(r, 7)}-{_digits(r, 7)}",
    "git hash": lambda r: f"commit {sha1(_digits(r, 9).encode(), usedforsecurity=False).hexdigest()}",
    "digest": lambda r: f"sha256:{sha256(_digits(r, 9).encode()).hexdigest()}",
    "version": lambda r: r.choice(["version ", "v", "build ", "release "]) + ".".join(str(r.randint(0, 255)) for _ in range(r.randint(2, 5))),
    "uuid": lambda r: f"id {UUID(int=r.getrandbits(128))}",
    "isbn": lambda r: r.choice(["ISBN ", "ISBN: ", "ISBN-13 ", "the book "]) + _isbn(r),
    "price": lambda r: r.choice(
        [f"${r.randint(1, 10**7):,}.{_digits(r, 2)}", f"{r.randint(1000, 10**8):,} kr".replace(",", " "), f"EUR {r.randint(1000, 10**9):,}"]
    ),
    "day": _day,
    "coordinates": lambda r: f"{r.uniform(-90, 90):.6f}, {r.uniform(-180, 180):.6f}",
    "barcode": lambda r: f"barcode {_digits(r, 13)}",
    "network": lambda r: f"{r.randint(1, 223)}.{r.randint(0, 255)}.{r.randint(0, 255)}.0/{r.randint(8, 30)}",
    "mac": lambda r: ":".join(f"{r.randint(0, 255):02x}" for _ in range(6)),
}


@pytest.mark.parametrize("region", [None, "US", "DE"])
@pytest.mark.parametrize("kind", ORDINARY)
def test_what_programs_write_is_no_personal_data(kind: str, region: str | None) -> None:
    random = Random(kind)
    texts = [ORDINARY[kind](random) for _ in range(300)]
    assert [text for text in texts if found(text, region)] == []


# ---------------------------------------------------------------- what people write


def test_every_region_is_found_with_its_country_code() -> None:
    missed = []
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        number = phonenumbers.example_number(region)
        assert number is not None
        for form in (phonenumbers.PhoneNumberFormat.E164, phonenumbers.PhoneNumberFormat.INTERNATIONAL):
            written = phonenumbers.format_number(number, form)
            if found(f"You can reach her on {written} after five.") != [written]:
                missed.append(written)
    assert missed == []


def test_most_regions_are_found_as_they_write() -> None:
    """Not those of fewer than seven digits, and not those written in one run, which could be anything."""
    seen = missed = 0
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        number = phonenumbers.example_number(region)
        assert number is not None
        written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
        if not written.isdigit() and sum(map(str.isdigit, written)) >= 7:
            seen += 1
            text = f"You can reach her on {written} after five."
            missed += [text[one.start : one.end] for one in phones(text, region)] != [written]
    assert seen > 200
    assert missed <= 0.03 * seen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<ana.b+c@mail.example.co.uk>, bo_2@a-b.example.", ["ana.b+c@mail.example.co.uk", "bo_2@a-b.example"]),
        ("'ana@example.org'; mailto:bo@example.org?subject=x", ["ana@example.org", "bo@example.org"]),
        ("müller@bücher.de and почта@пример.рф", ["müller@bücher.de", "почта@пример.рф"]),
        ("a..b@example.org a.@example.org @example.org ana@example ana@-x.org ana@x.1", []),
        ("https://u:pw@host.org/x ssh://git@host.org/x git@host.org:x/y.git pkg@1.2.3 icon@2x.png", []),
        ("x" * 65 + "@example.org", []),
        ("4111-1111-1111-1111; 6011 1111 1111 1117", ["4111-1111-1111-1111", "6011 1111 1111 1117"]),
        ("4111 11 1111 11 1111 11; 1234 5678 9012 3452; 41111111111111110", []),
        ("DE89 3704 0044 0532 0130 00.", ["DE89 3704 0044 0532 0130 00"]),
        ("DE8937040044053201300; XX89370400440532013000; DE89370400440532013000X", []),
        ("000-12-3456 666-12-3456 912-34-5678 123-00-4567 123-45-0000", []),
        ("host 1.2.3.4, see 1.2.3.4", ["1.2.3.4"]),
        ("256.1.1.1 01.2.3.44 224.0.0.1 172.20.1.1 169.254.1.1 100.64.0.1 255.255.255.0", []),
        ("[2001:4860:4860::8888]:443 and std::vector, 12:30:45, ::1, fe80::1", ["2001:4860:4860::8888"]),
        ("call (000) 000-0000", []),
    ],
)
def test_forms(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("email", "Ana@Example.org", "I am ana@example.org."),
        ("phone", "+46 8 123 456 78", "08-123 456 78"),
        ("card", "4111 1111 1111 1111", "it is 4111-1111-1111-1111"),
        ("iban", "GB29 NWBK 6016 1331 9268 19", "gb29nwbk60161331926819"),
        ("national_id.us_ssn", "219-09-9999", "219 09 9999"),
        ("ip", "203.0.113.7", "from 203.0.113.7"),
    ],
)
def test_what_was_said_is_known_in_any_form(kind: str, value: str, said: str) -> None:
    assert is_known(kind, value, known_data(said, KINDS))
    assert not is_known(kind, value, known_data("I said nothing of it.", KINDS))


# ---------------------------------------------------------------- any text

PIECES = st.sampled_from(["ana@example.org", "4111 1111 1111 1111", "+49 30 901820", "GB29NWBK60161331926819", "219-09-9999", "203.0.113.7"])
WORDS = st.sampled_from(["the", "quick", "fox", "pays", "in", "Lund", "and", "waits", "ß", "京都"])


@given(st.one_of(st.text(max_size=80), st.text(st.sampled_from("0123456789 -+().@a:/x\u200b１é請"), max_size=80)))
def test_any_text_gives_spans_inside_it_in_order(text: str) -> None:
    for region in (None, "US", "IN"):
        spans = [(one.start, one.end) for one in personal_data(text, KINDS, region)]
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(one[1] <= after[0] for one, after in itertools.pairwise(spans))


@given(st.lists(WORDS, max_size=8), PIECES, st.lists(WORDS, max_size=8))
def test_offsets_point_at_what_was_found_among_any_words(before: list[str], piece: str, after: list[str]) -> None:
    assert found(" ".join([*before, piece, *after])) == [piece]


@given(st.lists(WORDS, max_size=40))
def test_words_alone_hold_nothing(words: list[str]) -> None:
    assert found(" ".join(words)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["a@", "a.b@c.de ", "1 ", "12 34-", "+1 ", "4111 1111 1111 1112 ", "GB29 ", "1.2.3.4 ", "2001:", "a", "\u200b", "123-45-6789 ", "((1"]
)
def test_a_megabyte_takes_a_second_or_so(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    personal_data(text, KINDS)
    assert time.process_time() - start < 4  # 1 s and less where nothing else runs
