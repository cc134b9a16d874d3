"""How long is waited: what a server says, as far as it makes sense, else a random time that grows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.runtime.patience import PATIENCE, Patience, retry_after


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("2", 2.0),
        ("1.5", 1.5),
        (" 3 ", 3.0),
        ("100000", 100000.0),
        ("0", None),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
    ],
)
def test_seconds_and_what_are_none(said: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": said}) == seconds


def test_milliseconds_go_first() -> None:
    assert retry_after({"retry-after-ms": "250", "retry-after": "7"}) == 0.25
    assert retry_after({"retry-after-ms": "0", "retry-after": "7"}) == 7.0


def test_a_date_counts_from_the_servers_clock_where_it_says_the_time() -> None:
    then = datetime(2020, 1, 1, 12, 0, 0, tzinfo=UTC)  # a server whose clock is years behind
    headers = {"retry-after": format_datetime(then + timedelta(seconds=7), usegmt=True), "date": format_datetime(then, usegmt=True)}
    assert retry_after(headers) == 7.0


def test_a_date_without_the_servers_clock_counts_from_ours_and_a_past_one_is_none() -> None:
    now = datetime.now(UTC)
    ahead = retry_after({"retry-after": format_datetime(now + timedelta(seconds=30), usegmt=True)})
    assert ahead is not None
    assert 28 <= ahead <= 30
    assert retry_after({"retry-after": format_datetime(now - timedelta(seconds=30), usegmt=True)}) is None


@given(st.text(max_size=60))
def test_no_header_crashes(text: str) -> None:
    assert (retry_after({"retry-after": text, "date": text}) or 1.0) > 0


@given(st.integers(0, 10_000))
def test_backoff_has_full_jitter_under_a_growing_bound(retry: int) -> None:
    assert 0 <= PATIENCE.backoff(retry) <= min(30.0, 0.5 * 2 ** min(retry, 10))
    assert Patience(uniform=lambda low, high: high).backoff(2) == 2.0
    assert Patience(uniform=lambda low, high: low).backoff(2) == 0.0


@given(st.floats(0.001, 1e6))
def test_what_is_told_is_waited_at_least_up_to_two_minutes_and_a_little_longer(seconds: float) -> None:
    wait = PATIENCE.told(seconds)
    assert min(seconds, 120.0) <= wait <= min(seconds, 120.0) + 1.0
