"""The tolerant reader of replies. It forgives form, never content: what is not plainly one of the allowed answers is `Unreadable`.

A reply may quote the data it judges, and the data may hold what looks like a verdict. So an answer counts only where a verdict stands: as the whole
reply, as its first word, or as its end; answers that contradict each other, and an answer that is found in the data too, decide nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from measurand.core.errors import RefusedError
from measurand.core.exchange import Completion
from measurand.judge.almost_json import LONGEST, Found, NoJson, objects, whole_object
from measurand.judge.exchange import Unreadable

YES_NO: Final = {"yes": "yes", "no": "no"}

_TOKEN_LIMIT: Final = "it was cut off by the token limit (max_tokens)"  # noqa: S105  # tokens of a model
_THOUGHTS: Final = r"(?:think|thinking|thoughts?|reasoning|analysis|reflection|scratchpad)"
_OPEN: Final = re.compile(rf"<{_THOUGHTS}\b[^<>\n]{{0,80}}>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>analysis", re.IGNORECASE)
_CLOSE: Final = re.compile(rf"</{_THOUGHTS}\s*>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>", re.IGNORECASE)
"""How models set their reasoning apart from what they answer."""


# ---------------------------------------------------------------- before the answer


def said(completion: Completion, *, cut_is_fine: bool = False) -> str:
    """The text of a reply. Raises `RefusedError`, or `Unreadable` for an empty one and one that the token limit cut."""
    if completion.finish == "filtered":
        raise RefusedError("a content filter withheld the judge's reply")
    if completion.finish == "refused":
        raise RefusedError("the judge refused to answer")
    text = completion.text
    if completion.finish == "length" and not cut_is_fine:
        raise Unreadable(f"its reasoning did not end: {_TOKEN_LIMIT}" if _reasons_on(text) else f"{_TOKEN_LIMIT}, so it is truncated")
    if not text or not text.strip():
        raise Unreadable("it is empty")
    return text


def _reasons_on(text: str) -> bool:
    opened = [found.end() for found in _OPEN.finditer(text)]
    closed = [found.start() for found in _CLOSE.finditer(text)]
    return bool(opened) and (not closed or closed[-1] < opened[-1])


def answer_start(text: str) -> int:
    """Where the answer begins: after the model's reasoning. Raises `Unreadable` when the reasoning does not end."""
    if _reasons_on(text):
        raise Unreadable("its reasoning did not end, so there is no answer")
    ends = [found.end() for found in _CLOSE.finditer(text)]
    return ends[-1] if ends else 0


def answer_of(text: str, data: str) -> tuple[int, bool]:
    """Where the answer begins, and whether the end of reasoning before it may be a quotation: it was never begun, or ends more than once.

    Raises `Unreadable` when the reasoning does not end, when such an end stands in the data too, and for what is longer than any answer.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"it is longer than {LONGEST} characters, and no JSON")
    start = answer_start(text)
    closes = len(_CLOSE.findall(text))
    doubtful = closes > 1 or (closes == 1 and _OPEN.match(text.lstrip()) is None)
    if doubtful and _CLOSE.search(data) is not None:
        raise Unreadable("the end of its reasoning may be a quotation; the answer must stand alone")
    return start, doubtful


# ---------------------------------------------------------------- JSON


def read_json(text: str, *keys: str, data: str = "") -> dict[str, Any]:
    """The object of a reply that has one of these keys. `data`: what the judge was shown; what is quoted from there is no answer.

    Raises `Unreadable` when there is none, when it cannot be told from a quotation, and when two say different things.
    """
    bare = text.strip()
    try:
        whole = whole_object(bare[1:-1].strip() if bare[:1] == "[" and bare[-1:] == "]" else bare)
        if whole is not None and not whole.keys().isdisjoint(keys):
            return whole
        start, doubtful = answer_of(bare, data)
        return _placed(bare[start:], keys, data, doubtful=doubtful)
    except NoJson as error:
        raise Unreadable(f"it is no JSON that can be read: {error}") from None


def _placed(text: str, keys: Sequence[str], data: str, *, doubtful: bool) -> dict[str, Any]:
    if not text.strip():
        raise Unreadable("it is empty after the reasoning")
    found = [one for one in objects(text) if not one.value.keys().isdisjoint(keys)]
    if not found:
        what = "has no key" if "{" in text else "holds no JSON object with"
        raise Unreadable(f"it {what} {' or '.join(repr(key) for key in keys)}")
    last = found[-1]
    ends = not text[last.end :].strip(_AFTER_END)
    alone = [one for one in found if _stands_alone(text, one)]
    if doubtful and not ends:
        raise Unreadable("it goes on after the answer, which may be a quotation")
    if any(one.value != last.value for one in found) and not (ends and alone == [last]):
        raise Unreadable("it gives more than one answer")
    if not (ends or last in alone):
        raise Unreadable("the JSON in it may be a quotation; it must stand alone")
    if _is_quoted(text[last.start : last.end], text, data):
        raise Unreadable("the JSON in it stands in the data too; the answer must stand alone")
    return last.value


_AFTER_END: Final = " \t\r\n`~.;"
_LABEL: Final = re.compile(r"(?:[\s>*_#`~-]|json|answer|verdict|final|result|:)*", re.IGNORECASE)


def _stands_alone(text: str, one: Found) -> bool:
    """Whether an object has its lines for itself, but for fences and a label."""
    line = text.rfind("\n", 0, one.start) + 1
    end = text.find("\n", one.end)
    after = text[one.end : len(text) if end < 0 else end]
    return not after.strip(_AFTER_END) and _LABEL.fullmatch(text, line, one.start) is not None


def _is_quoted(part: str, text: str, data: str) -> bool:
    """Whether a part of a reply is found in the data, white space aside. A reply that is nothing but this part is an answer all the same."""
    if not data or _LABEL.sub("", text.replace(part, "", 1)).strip(_AFTER_END) == "":
        return False
    return "".join(part.split()) in "".join(data.split())


# ---------------------------------------------------------------- words


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """A short answer without case, width, punctuation, markdown and the marks that some tokenizers write for a space."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    bare = normal.strip(_NOISE)
    if bare[:1].isdecimal() and normal.lstrip(_SPACE)[:1] in {".", ","}:
        return normal  # .5 is not 5
    return bare


_INVISIBLE: Final = "\u200b\u200c\u200d\u2060\ufeff"
_SPACE: Final = " \t\r\n\v\f\u00a0\u2581\u0120\u010a" + _INVISIBLE
_NOISE: Final = _SPACE + "*_`~#>\"'“”‘’«»()[]{}.,:;!?。、，：；！"


def folded(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels as they are compared → option; an option's own name answers too. Empty where that would make two labels one: they answer as they stand."""
    options = {fold(label): option for label, option in labels.items()}
    if len(options) < len(labels) or "" in options:
        return {}
    for option in labels.values():
        options.setdefault(fold(option), option)
    return options


def named(text: str, labels: Mapping[str, str], options: Mapping[str, str]) -> str | None:
    """The option that a short text names, `options` being the folded labels; None when it names none."""
    return labels.get(text.strip()) or options.get(fold(text))


def read_word(text: str, labels: Mapping[str, str], data: str = "") -> str:
    """The one answer of a reply in words. Raises `Unreadable`."""
    start, doubtful = answer_of(text, data)
    return placed_word(text[start:], labels, data, doubtful=doubtful)[0]


def placed_word(text: str, labels: Mapping[str, str], data: str = "", *, doubtful: bool = False) -> tuple[str, int]:
    """The one answer of a text and where it begins. Raises `Unreadable`."""
    if not text.strip():
        raise Unreadable("it is empty")
    if doubtful and _QUOTE.search(text) is not None:
        raise Unreadable("the end of its reasoning may be a quotation; the answer must stand alone")
    options = folded(labels)
    whole = named(text, labels, options) if len(text) < _LONGEST else None
    if whole is not None:
        return whole, _first_solid(text)
    if not options:
        raise Unreadable(f"it is none of the answers {_some(labels)}")
    pattern = _word(tuple(options), all(label.isdecimal() for label in labels))
    flat = _flat(text)
    first = None if doubtful else pattern.match(flat)
    last = _final(flat, pattern, data)
    others = () if first is None else (pattern.match(flat, end.end()) for end in _SENTENCE_END.finditer(flat, first.end("label")))
    beside = None if first is None else _beside(tuple(options)).match(flat, first.end("label"))
    answers = {options[fold(found.group("label"))] for found in (first, last, beside, *others) if found is not None}
    if len(answers) > 1:
        raise Unreadable("it gives more than one answer")
    if not answers:
        raise Unreadable(f"it is none of the answers {_some(labels)}")
    place = first or last
    assert place is not None
    return answers.pop(), place.start("label")


_LONGEST: Final = 200  # characters of an answer that is the whole reply


def _flat(text: str) -> str:
    """The text in full-width forms folded, character for character."""
    if text.isascii():
        return text
    return "".join(chr(ord(c) - 0xFEE0) if "\uff01" <= c <= "\uff5e" else " " if c == "\u3000" or c in _INVISIBLE else c for c in text)


def _first_solid(text: str) -> int:
    return next((at for at, character in enumerate(text) if character not in _NOISE), 0)


@lru_cache(maxsize=256)
def _word(options: tuple[str, ...], digits: bool) -> re.Pattern[str]:
    """An answer where a verdict stands: after marks of emphasis only, and before a mark of punctuation, the end of the line, or "because"."""
    names = "|".join(re.escape(option) for option in sorted(options, key=len, reverse=True))
    top = max((int(option) for option in options if option.isdecimal()), default=0)
    out_of = rf"(?:[ \t]*(?:/|out of)[ \t]*{top}(?![\d.,]*\d))?" if digits else ""
    bullet, stop = ("", r"[.!。！]\s*(?:$|\n)|[,;，；]") if digits else ("-", "[.,;:!。，；：！]")  # "1. First, …" is no level
    return re.compile(
        rf"[\s*_`#>~(\[{bullet}]{{0,60}}+(?P<label>{names}){out_of}(?!\w)(?![.,/-]\d)[*_`)\]~]*+(?=\s*(?:$|\n|{stop}|[–—-][ \t])|\s+because\b)",
        re.IGNORECASE,
    )


@lru_cache(maxsize=256)
def _beside(options: tuple[str, ...]) -> re.Pattern[str]:
    """A second answer right after the first: "7, 8", "yes – no", "A, B or C"."""
    names = "|".join(re.escape(option) for option in sorted(options, key=len, reverse=True))
    return re.compile(rf"[*_`]*\s*[,:;–—-]\s*[*_`]*(?P<label>{names})(?=\s*(?:$|[^\w\s'’]|or\b|and\b))", re.IGNORECASE)


_LABELLED: Final = re.compile(r"(?:^|[\s*_#>(])(?:answer|verdict|rating|score|level|choice|grade)[*_`]*\s*(?:is|:|=)[ \t]*", re.IGNORECASE)
_QUOTE: Final = re.compile('["“”«»]')
_SENTENCE_END: Final = re.compile(r"[.!?;\n]\s")
_MARKER: Final = re.compile(r"\[\[([^\[\]]{1,60})\]\]")


def _final(flat: str, pattern: re.Pattern[str], data: str) -> re.Match[str] | None:
    """The answer that a reply comes to: its last [[marker]]; else a label with an answer at its end ("Answer: no"), or the one line that is an answer."""
    markers = list(_MARKER.finditer(flat))
    if markers:
        if markers[-1].group() in data:
            raise Unreadable(_IN_DATA_TOO)
        return pattern.match(flat, markers[-1].start())
    for label in _LABELLED.finditer(flat):
        found = pattern.match(flat, label.end())
        if found is not None and not flat[found.end() :].strip(_AFTER_WORD):
            if _folded_space(flat[label.start() : found.end("label")]) in _folded_space(data):
                raise Unreadable(_IN_DATA_TOO)
            return found
    lines = [found for at in _line_starts(flat) if (found := pattern.match(flat, at)) is not None and _ends_line(flat, found.end())]
    if len({found.group("label").casefold() for found in lines}) > 1:
        raise Unreadable("it gives more than one answer")
    return _not_quoted(lines[-1], flat, data) if lines else None


_IN_DATA_TOO: Final = "what looks like the answer in it stands in the data too; the answer must stand alone"


def _line_starts(text: str) -> list[int]:
    return [found.end() for found in re.finditer(r"\n\s*", text)]


def _ends_line(text: str, at: int) -> bool:
    end = text.find("\n", at)
    return not text[at : len(text) if end < 0 else end].strip(_AFTER_WORD)


def _not_quoted(found: re.Match[str], flat: str, data: str) -> re.Match[str]:
    """The match, unless its line is one of the data's."""
    start = flat.rfind("\n", 0, found.start("label")) + 1
    line = _folded_space(flat[start : found.end()])
    if any(line == _folded_space(given) for given in data.splitlines()):
        raise Unreadable(_IN_DATA_TOO)
    return found


def _folded_space(text: str) -> str:
    return " ".join(text.split()).strip(_AFTER_WORD)


_AFTER_WORD: Final = " \t\r\n`~.;!*_)"


# ---------------------------------------------------------------- answers


def option_of(value: Any, labels: Mapping[str, str]) -> str:
    """The option that a JSON value names. Raises `Unreadable` for one that is not allowed, numbers out of range and NaN included."""
    options = folded(labels)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    elif isinstance(value, float) and value.is_integer():
        value = str(int(value))
    elif isinstance(value, int):
        value = _digits(value)
    if isinstance(value, str):
        value = _without_top(value, options)
        option = named(value, labels, options) or (_TRUTH.get(fold(value)) if _is_yes_no(labels) else None)
        if option is not None:
            return option
    raise Unreadable(f"an answer in it is none of {_some(labels)}")


_OUT_OF: Final = re.compile(r"\s*(?:/|out of)\s*(\d{1,6})\s*\Z")


def _without_top(value: str, options: Mapping[str, str]) -> str:
    """A level of a scale without what it is out of: "7/10" of a scale that ends at 10."""
    found = _OUT_OF.search(value) if len(value) < _LONGEST and all(option.isdecimal() for option in options) else None
    return value[: found.start()] if found is not None and int(found[1]) == max(map(int, options), default=-1) else value


_TRUTH: Final = {"true": "yes", "false": "no"}


def _is_yes_no(labels: Mapping[str, str]) -> bool:
    return labels.keys() == YES_NO.keys()


def _digits(value: int) -> str:
    return str(value) if abs(value) < 10**18 else ""


def _some(labels: Mapping[str, str]) -> str:
    names = list(labels)
    return f"{names[0]} to {names[-1]}" if all(name.isdecimal() for name in names) else ", ".join(names)


def read_answer(text: str, labels: Mapping[str, str], key: str = "answer", data: str = "") -> str:
    """The option of a reply that is asked for as `{key: option}`; a reply in words is read too, true and false as yes and no. Raises `Unreadable`."""
    if _is_yes_no(labels):
        labels = {**labels, **_TRUTH}
    if "{" not in text:
        return read_word(text, labels, data)
    option = option_of(_key(read_json(text, key, data=data), key), labels)
    try:
        after = read_word("\n" + text[text.rfind("}") + 1 :], labels, data)
    except Unreadable:
        return option
    if after != option:
        raise Unreadable("it gives more than one answer")
    return option


def _key(found: Mapping[str, Any], key: str) -> Any:
    if key not in found:
        raise Unreadable(f"it has no key '{key}'")
    return found[key]


def read_yes_no(text: str, key: str = "answer", data: str = "") -> str:
    """The answer yes or no. Raises `Unreadable`."""
    return read_answer(text, YES_NO, key, data)


def read_scale(text: str, levels: int, key: str = "answer", data: str = "") -> int:
    """A level from 0 to `levels` - 1. Raises `Unreadable`, also for a number outside."""
    return int(read_answer(text, {str(level): str(level) for level in range(levels)}, key, data))


def read_choice(text: str, options: Sequence[str], key: str = "answer", data: str = "") -> str:
    """One of the options. Raises `Unreadable`."""
    return read_answer(text, {option: option for option in options}, key, data)


def options_of(value: Any, labels: Mapping[str, str], n: int) -> list[str]:
    """The `n` options that a list names. Raises `Unreadable` for another number of them."""
    if not isinstance(value, list):
        raise Unreadable("its answers are no list")
    if len(value) != n:
        raise Unreadable(f"it gives {len(value)} answers for {n} items")
    return [option_of(one, labels) for one in value]


def texts_of(value: Any, n: int | None = None) -> list[str]:
    """The texts of a list, blank ones left out; exactly `n` where a number was asked for. Raises `Unreadable`."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Unreadable("it gives no list of texts")
    texts = [one.strip() for one in value if one.strip()]
    if n is not None and len(texts) != n:
        raise Unreadable(f"it gives {len(texts)} texts, {n} were asked for")
    if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
        raise Unreadable("a text in it holds half of a character")
    return texts
