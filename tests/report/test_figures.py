from __future__ import annotations

import pytest

from measurand.report.figures import compact, counted, duration, interval, number, percent, signed, thousands, usd


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.741, "0.741"), (-0.1284, "−0.128"), (0.0, "0.000"), (1.0, "1.000"), (7, "7"), (12480, "12 480"), (-3, "−3"), (0.00002, "2.0e-05"),
        (-0.0001, "−1.0e-04"), (0.0005, "0.001"), (1234.5, "1 234"), (-1234567.0, "−1 234 567"), (2e20, "2.000e+20"), (float("inf"), "∞"), (float("-inf"), "−∞"),
    ],
)  # fmt: skip
def test_number(value: float | None, text: str) -> None:
    assert number(value) == text


def test_differences_and_intervals() -> None:
    assert (signed(0.004), signed(-0.128), signed(0.0), signed(None)) == ("+0.004", "−0.128", "0.000", "–")
    assert interval(0.652, 0.83) == "0.652 – 0.830"
    assert interval(0, 1) == "0.000 – 1.000"
    assert interval(None, 0.5) == "–"


def test_shares_counts_and_money() -> None:
    assert (percent(0.18), percent(0.1234, 1), percent(-0.05), percent(None)) == ("18 %", "12.3 %", "−5 %", "–")
    assert (thousands(999), thousands(1000), thousands(None)) == ("999", "1 000", "–")
    assert (compact(950), compact(1200), compact(214_321), compact(9_960), compact(2_500_000), compact(None)) == ("950", "1.2k", "214k", "10k", "2.5M", "–")
    assert (usd(None), usd(0), usd(0.05), usd(12.3), usd(0.0004)) == ("–", "0", "0.05", "12.30", "0.0004")
    assert (counted(1, "row"), counted(1200, "row"), counted(0, "entry", "entries")) == ("1 row", "1 200 rows", "0 entries")


def test_durations() -> None:
    assert [duration(one) for one in (0.84, 42.0, 180.0, 7500.0)] == ["0.8 s", "42 s", "3 min", "2 h 05 min"]
