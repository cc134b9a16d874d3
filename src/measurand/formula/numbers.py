"""Numbers in texts: the final or marked one, read exactly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from measurand.formula.marked import marked_answer
from measurand.formula.normalise import joins_words

if TYPE_CHECKING:
    from fractions import Fraction

_LONGEST: Final = 400  # characters of one number
_LARGEST_EXPONENT: Final = 400
_SIGNIFICANT: Final = 12  # digits


class Number(NamedTuple):
    """A number as it was written. `value` is what stands there: 35 for 35 %, whose `scale` is 100."""

    value: Fraction
    scale: int = 1

    @property
    def plain(self) -> Fraction:
        """The value without a percent sign: 7/20 for 35 %."""
        return self.value / self.scale

    def __str__(self) -> str:
        number = str(self.value.numerator) if self.value.denominator == 1 else f"{float(self.value):.12g}"
        return number + {100: "%", 1000: "‰"}.get(self.scale, "")


def final_numbers(text: str) -> tuple[Number, ...]:
    """The readings of the marked answer's number, else of the last number; more than one where a space may group digits. Empty without a number.

    Letters glued to digits are part of a name, not of a number (58abc, x2, GPT-4); dates, times and versions are no numbers.
    """
    marked = marked_answer(text)
    if marked is not None:
        first = next(_numbers(_right_of_equals(_plain(marked.text))), ())
        if first or marked.binding:
            return first
    last: tuple[Number, ...] = ()
    for readings in _numbers(_plain(text)):
        last = readings
    return last


def reference_numbers(text: str) -> tuple[Number, ...]:
    r"""As `final_numbers`, for a reference: empty also for a formula or a list, whose last number would be a wrong answer (2**(1/4), 8\sqrt{6}, "1, 2, 3")."""
    marked = marked_answer(text)
    bare = _number().sub("#", _right_of_equals(_plain(marked.text if marked else text)))
    if _formula().search(bare) or _list().fullmatch(bare):
        return ()
    alone_and_joined = final_numbers(text)
    return alone_and_joined[1:] or alone_and_joined


def same_number(given: Number, wanted: Number, *, abs_tolerance: float, rel_tolerance: float, percent: str) -> bool:
    """Whether two numbers are equal within |given − wanted| ≤ max(abs_tolerance, rel_tolerance · |wanted|).

    With both tolerances 0: equal, or not both whole and equal to 12 significant digits. `percent = "either"` lets 35% equal 35 too.
    """
    if given.scale == wanted.scale:
        return _close(given.value, wanted.value, abs_tolerance, rel_tolerance)
    if _close(given.plain, wanted.plain, abs_tolerance, rel_tolerance):
        return True
    return percent == "either" and _close(given.value, wanted.value, abs_tolerance, rel_tolerance)


def _close(given: Fraction, wanted: Fraction, abs_tolerance: float, rel_tolerance: float) -> bool:
    if given == wanted:
        return True
    from fractions import Fraction

    relative = Fraction(rel_tolerance)
    if not abs_tolerance and not rel_tolerance and not (given.denominator == 1 and wanted.denominator == 1):
        relative = Fraction(1, 10**_SIGNIFICANT)
    return abs(given - wanted) <= max(Fraction(abs_tolerance), relative * abs(wanted))


# ---------------------------------------------------------------- finding


def _numbers(plain: str) -> Iterator[tuple[Number, ...]]:
    for match in _number().finditer(plain):
        if match["body"] is None or len(match[0]) > _LONGEST:
            continue
        sign = _sign(plain, match.start())
        if sign and not _continues(plain, match.end()):
            scale = 1 if match["percent"] is None else 1000 if "‰" in match["percent"] else 100
            readings = tuple(Number(sign * value, scale) for value in _values(match))
            if readings:
                yield readings


def _continues(plain: str, end: int) -> bool:
    r"""Whether a name or a formula goes on behind the digits: 58abc, 8\sqrt{6}."""
    after = plain[end : end + 2]
    return bool(after) and (joins_words(after[0]) or (after[0] == "\\" and after[1:].isalpha()))


def _sign(plain: str, start: int) -> int:
    """1 or −1; 0 when what stands before makes it part of a name, a power or a larger number."""
    glued, further = plain[start - 1 : start], plain[max(start - 2, 0) : max(start - 1, 0)]
    if glued and (joins_words(glued) or glued == "^" or (glued in ".:/," and further.isdigit())):
        return 0
    if glued in ("{", "[") and _function().search(plain, max(start - 20, 0), start):
        return 0
    minus = _minus().search(plain, max(start - 12, 0), start)
    if minus is None:
        return 1
    before, apart = minus["before"], bool(minus["gap"])
    if before in ("=", "("):
        return -1
    word = bool(before) and joins_words(before)
    if not apart and (word or before in (")", "]", "}", "%", "-")):
        return 0 if before.isalpha() else 1
    is_bullet_or_range = minus["space"] or (minus["sign"] == "–" and word)
    return 1 if is_bullet_or_range else -1


@cache
def _function() -> re.Pattern[str]:
    """The opening of an argument, index or exponent in LaTeX: the number inside is not the value."""
    return re.compile(r"(?:\\[a-zA-Z]+(?:\[\w*\])?|[_^}])[{\[]$")


@cache
def _minus() -> re.Pattern[str]:
    return re.compile(r"(?P<before>[\w)\]}%=(\-]?)(?P<gap>\s*)(?P<sign>[-–])(?P<space>\s?)[$€£¥₹₽₩]?\s?$")


def _values(match: re.Match[str]) -> Iterator[Fraction]:
    pieces = match["body"].split(" ")
    if match["lead"]:
        pieces[0] = "." + pieces[0]
    if match["under"]:
        yield from _quotient(pieces, match["under"])
        return
    last = _piece(pieces[-1])
    if last is None:
        return
    power = match["power"] or match["raised"]
    if power is not None and not match["ten"]:
        if abs(int(power)) <= _LARGEST_EXPONENT and len(pieces[-1]) <= 20 and (last or int(power) > 0):
            yield last ** int(power)
        return
    exponent = int(match["exponent"] or match["ten"] or 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        return
    shift = _fraction("10") ** exponent
    joined = list(_joined(pieces))
    if not (joined and pieces[-1][:1] == "0"):
        yield last * shift
    for value in joined:
        yield value * shift


def _quotient(pieces: list[str], under: str) -> Iterator[Fraction]:
    """a/b, or the mixed number w a/b."""
    above, below = _piece(pieces[-1]), _piece(under)
    if above is None or not below:
        return
    whole = _piece(pieces[-2]) if len(pieces) > 1 else None
    if whole is not None and whole.denominator == 1 and above < below:
        yield whole + above / below
    else:
        yield above / below


def _joined(pieces: list[str]) -> Iterator[Fraction]:
    """Readings in which spaces group digits by three: 10 000, 1 234 567.5."""
    if len(pieces) < 2 or not _last_group().fullmatch(pieces[-1]):
        return
    tail = pieces[-1]
    for piece in reversed(pieces[:-1]):
        if not piece.isdigit() or len(piece) > 3:
            return
        tail = piece + tail
        value = _piece(tail)
        if value is not None:
            yield value
        if len(piece) != 3:
            return


def _piece(piece: str) -> Fraction | None:
    """The value of digits with separators but no spaces; None when it is no number (a version, an address)."""
    if piece.isdigit():
        return _fraction(piece)
    shape = next((name for name, pattern in _shapes().items() if pattern.fullmatch(piece)), None)
    if shape == "grouped":
        return _fraction(re.sub(r"[^\d.]", "", piece))
    if shape == "continental":
        return _fraction(re.sub(r"[^\d,]", "", piece).replace(",", "."))
    if shape == "point":
        return _fraction(piece)
    if shape == "comma":
        return _fraction(piece.replace(",", "."))
    listed = re.split("[,'’_\u00a0\u202f\u2009]", piece)[-1]
    return None if listed == piece else _piece(listed)


def _fraction(digits: str) -> Fraction:
    from fractions import Fraction

    return Fraction(digits)


@cache
def _shapes() -> dict[str, re.Pattern[str]]:
    """Ways to write a number, tried in this order."""
    return {
        "grouped": re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d+)?|[1-9]\d{0,2}(?:['’_\u00a0\u202f\u2009]\d{3})+(?:\.\d+)?"),
        "continental": re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}|[1-9]\d{0,2}(?:['’\u00a0\u202f\u2009]\d{3})+,\d+"),
        "point": re.compile(r"\d*\.\d+"),
        "comma": re.compile(r"\d+,\d+"),
    }


@cache
def _last_group() -> re.Pattern[str]:
    return re.compile(r"\d{3}(?:[.,]\d+)?")


@cache
def _number() -> re.Pattern[str]:
    """A number with what belongs to it, or a date, time or chain of slashes, which has no `body`."""
    return re.compile(
        r"\d+(?:/\d+){2,}|0\d/(?:19|20)\d\d(?!\d)|\d{4}-\d\d?-\d\d?(?!\d)|\d\d?-\d\d?-\d{4}(?!\d)|\d+(?::\d+)+"
        r"|(?P<lead>(?<![\w.])\.)?(?P<body>\d+(?:[.,'’_ \u00a0\u202f\u2009]\d+)*)"
        r"(?:[eE](?P<exponent>[+-]?\d{1,5})(?!\w))?"
        r"(?:\s?/\s?(?P<under>\d+(?:\.\d+)?))?"
        r"(?:\^(?:\{(?P<power>[+-]?\d{1,5})\}|(?P<raised>[+-]?\d{1,5})))?"
        r"(?:\s?[×x*·]\s?10\^\{?(?P<ten>[+-]?\d{1,4})\}?)?"
        r"(?P<percent>\s?%|\s?‰|\s(?:per\s?cent|pct)(?!\w))?"
    )


# ---------------------------------------------------------------- reading


def _right_of_equals(answer: str) -> str:
    """What an equation comes to: "3 + 4 = 7" → "7". Prose before the sign leaves the answer as it is."""
    left, sign, right = answer.rpartition("=")
    return right if sign and not _prose().search(left) else answer


@cache
def _formula() -> re.Pattern[str]:
    """Two operands with an operator between; `#` stands for a number."""
    operand = r"(?:#|\)|(?<![^\W\d_])[^\W\d_](?![^\W\d_]))"
    return re.compile(rf"{operand}\s*(?:\*\*?|\^|\+|×|·|/)\s*(?:{operand}|[({{])|#\s*-\s*[#(]|\\sqrt")


@cache
def _list() -> re.Pattern[str]:
    return re.compile(r"[^\w#]*#(?:\s*[,;]\s*#)+[^\w#]*")


@cache
def _prose() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_]{2}")


def _plain(text: str) -> str:
    """The text with ASCII digits, signs and slashes, and without LaTeX around numbers."""
    if not text.isascii():
        text = _whole_and_part().sub(r"\1 ", text).translate(_spellings())
        text = _raised().sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]).replace("\u2212", "-"), text)
    if "\\" in text or "{" in text:
        for pattern, becomes in _latex():
            text = pattern.sub(becomes, text)
    return text


class _Spellings(dict[int, "str | int"]):
    def __missing__(self, code: int) -> str | int:
        character = chr(code)
        value = unicodedata.decimal(character, None) if unicodedata.category(character) == "Nd" else None
        becomes: str | int = code if value is None else str(value)
        if unicodedata.decomposition(character).startswith("<fraction>"):
            becomes = unicodedata.normalize("NFKD", character).replace("\u2044", "/")
        self[code] = becomes
        return becomes


@cache
def _spellings() -> _Spellings:
    return _Spellings({ord(a): b for a, b in zip("−﹣－⁄％٪٫٬＋．，", "---/%%.,+.,", strict=True)})


@cache
def _whole_and_part() -> re.Pattern[str]:
    return re.compile(r"(\d)(?=[¼½¾⅐-⅞])")


@cache
def _raised() -> re.Pattern[str]:
    return re.compile("[⁺⁻]?[⁰¹²³⁴-⁹]+")


@cache
def _latex() -> tuple[tuple[re.Pattern[str], str], ...]:
    number = r"-?[\d.,]{1,40}"
    rules = (
        (r"\{,\}", ","),
        (r"\\!", ""),
        (r"\\,(?=\d)", "\u2009"),
        (r"\\[,;: ]|\\q?quad(?![a-z])|\\(?:left|right|displaystyle)(?![a-z])", " "),
        (r"\\([$%#&_])", r"\1"),
        (r"\\times(?![a-z])", "×"),
        (r"\\cdot(?![a-z])", "·"),
        (r"\^\{?\\circ\}?", "°"),
        (rf"(-?)\\[dt]?frac\{{\s?({number})\s?\}}\{{\s?({number})\s?\}}", r"\1\2/\3"),
        (r"(-?)\\[dt]?frac(\d)(\d)", r"\1\2/\3"),
        (r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]{0,200})\}", r" \1"),
    )
    return tuple((re.compile(pattern), becomes) for pattern, becomes in rules)
