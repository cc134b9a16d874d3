"""Numbers as people read them. A value that is not there is –, never 0."""

from __future__ import annotations

from typing import Final

NONE: Final = "–"
_MINUS: Final = "−"


def number(value: float | None, digits: int = 3) -> str:
    """`0.741`, `−0.128`; large ones in groups of thousands, tiny ones as `2.1e-05`, whole numbers of int type as they are."""
    if value is None:
        return NONE
    if isinstance(value, int):
        return thousands(value)
    size = abs(value)
    if size == float("inf"):
        return "∞" if value > 0 else f"{_MINUS}∞"
    if size >= 1000:
        return thousands(round(value)) if size < 1e15 else f"{value:.3e}".replace("-", _MINUS, 1 if value < 0 else 0)
    if 0 < size < 0.5 * 10**-digits:
        return (_MINUS if value < 0 else "") + f"{size:.1e}"
    text = f"{size:.{digits}f}"
    return _MINUS + text if value < 0 else text


def signed(value: float | None, digits: int = 3) -> str:
    """A difference: `+0.004`, `−0.128`."""
    text = number(value, digits)
    return f"+{text}" if value is not None and value > 0 else text


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """`0.652 – 0.830`; – where there is none."""
    if low is None or high is None:
        return NONE
    return f"{number(float(low), digits)} – {number(float(high), digits)}"


def percent(share: float | None, digits: int = 0) -> str:
    """A share of 1 as `18 %`."""
    return NONE if share is None else f"{100 * share:.{digits}f} %".replace("-", _MINUS)


def thousands(count: int | None) -> str:
    """`12 480`."""
    return NONE if count is None else f"{count:,}".replace(",", " ").replace("-", _MINUS)


def compact(count: int | None) -> str:
    """A count of tokens or bytes in three or four characters: `950`, `214k`, `1.2M`."""
    if count is None:
        return NONE
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            units = count / size
            return f"{units:.1f}{letter}" if units < 9.95 else f"{units:.0f}{letter}"
    return str(count)


def usd(amount: float | None) -> str:
    """US dollars without a sign: `0`, `0.05`, `0.0004`, `12.30`; – where no price is known."""
    if amount is None:
        return NONE
    if amount == 0:
        return "0"
    return f"{amount:.2f}" if amount >= 0.01 else f"{amount:.1g}"


def duration(seconds: float) -> str:
    """`0.8 s`, `42 s`, `3 min`, `2 h 05 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def counted(count: int, one: str, many: str = "") -> str:
    """`1 row`, `1 200 rows`."""
    return f"{thousands(count)} {one if count == 1 else many or f'{one}s'}"
