"""What a terminal shows of a text: hostile characters made visible, widths in columns, cutting to fit."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_PICTURES: Final = 0x2400  # U+2400 SYMBOL FOR NULL and the 31 after it
_ELLIPSIS: Final = "…"


@cache
def _unseen() -> re.Pattern[str]:
    """Controls, marks that reorder or hide text, halves of characters. Joiners stay: scripts and emoji need them."""
    marks = "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\U000e0000-\U000e00ff"
    return re.compile(f"[\x00-\x1f\x7f-\x9f{marks}\ud800-\udfff]")


def safe(text: str) -> str:
    """One line of text in which nothing moves the cursor, colours, reorders or hides: ESC is shown as ␛, a line break as ␊, U+202E as <U+202E>."""
    return text if text.isprintable() else _unseen().sub(_shown, text)


def safe_lines(text: str) -> str:
    """`safe` for text of several lines: line breaks stay."""
    return "\n".join(safe(line) for line in text.replace("\r\n", "\n").split("\n"))


def escaped(json_text: str) -> str:
    r"""JSON text with the characters that act on a terminal written as \u escapes: the same JSON, safe to show. Line breaks between values stay."""
    return json_text if json_text.isascii() and "\x7f" not in json_text else _unseen().sub(_escape, json_text)


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return found[0]  # json wrote those of strings as escapes already
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def columns(text: str) -> int:
    """How many columns a text takes: CJK and most emoji two, combining marks and joiners none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if character < "\u0300" or "\u2010" <= character < "\u2300":
        return 1  # what our own sentences are written with, without loading the Unicode tables
    import unicodedata

    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, its end replaced by … where it does not fit."""
    if columns(text) <= width:
        return text
    kept: list[str] = []
    left = width - 1
    for character in text:
        left -= _columns_of(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + _ELLIPSIS if width > 0 else ""


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up with spaces to `width` columns."""
    space = " " * (width - columns(text))
    return space + text if right else text + space


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The text in lines of at most `width` columns, each beginning with `indent`; a word longer than a line stands alone. Line breaks stay."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = indent
        for word in paragraph.split(" "):
            joined = f"{line}{word}" if line == indent else f"{line} {word}"
            if columns(joined) > width and line != indent:
                lines.append(line)
                joined = f"{indent}{word}"
            line = joined
        lines.append(line.rstrip())
    return lines
