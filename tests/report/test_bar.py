"""How far a run is, in a line."""

from __future__ import annotations

import sys

import pytest

from measurand.report.bar import EVERY_S, FIRST_S, Pace, _Lines, clock, progress_bar, told
from measurand.run.progress import Progress


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("progress", "left", "line"),
    [
        (Progress(143, 2, 716, 85, 0.08), 48.2, "143/200 rows · 716 calls (85 recorded) · 2 errors · $0.08 · 0:48 left"),
        (Progress(1, 1, 1, 0, 0.0), None, "1/200 rows · 1 call · 1 error · $0"),
        (Progress(3, 0, 9, 9, 0.0), 1.0, "3/200 rows · 9 calls (9 recorded) · 0:01 left"),  # nothing was paid for
        (Progress(3, 0, 9, 0, None), None, "3/200 rows · 9 calls"),  # no price is known
        (Progress(0, 0), None, "0/200 rows"),
    ],
)
def test_what_is_told(progress: Progress, left: float | None, line: str) -> None:
    assert told(progress, 200, left) == line


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0:00"), (48.2, "0:48"), (725.0, "12:05"), (3750.0, "1:02:30")])
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_what_is_left_goes_by_the_rows_of_this_attempt() -> None:
    now = Clock()
    pace = Pace(1_000, now)
    assert pace.left_s(600) is None  # 600 rows were stored before: they took no time now
    now.now += 10
    assert pace.left_s(700) == pytest.approx(30)
    assert pace.left_s(1_000) is None


def test_lines_come_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = Clock()
    lines = _Lines(10, now)
    lines(Progress(1, 0, 1))
    now.now += FIRST_S
    lines(Progress(2, 0, 2))
    lines(Progress(3, 0, 3))
    now.now += EVERY_S
    lines(Progress(4, 0, 4))
    assert capsys.readouterr().err.splitlines() == ["2/10 rows · 2 calls · $0 · 0:24 left", "4/10 rows · 4 calls · $0 · 0:26 left"]


def test_without_a_terminal_only_a_run_that_asks_says_how_far_it_is() -> None:
    with progress_bar(10, shown=False, plain=True) as report:
        assert report is None
    with progress_bar(10, shown=False, plain=False, asks=True) as report:
        assert report is None
    with progress_bar(10, shown=False, plain=True, asks=True) as report:
        assert report is not None


@pytest.mark.parametrize("asks", [True, False])
def test_the_bar_of_a_terminal(asks: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar(4, shown=True, asks=asks, color="never") as report:
        assert report is not None
        report(Progress(2, 1, 3, 1, 0.5))
        report(Progress(4, 1, 6, 1, 0.5))
    said = capsys.readouterr().err
    assert ("6 calls (1 recorded)" in said) == asks
    assert "1 error" in said
