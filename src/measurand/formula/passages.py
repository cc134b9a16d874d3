"""Which passages are the same: by id, else by text, else by the tokens they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from measurand.core.effort import still_time
from measurand.formula.normalise import folded, tokens
from measurand.formula.overlap import Overlap, f1, jaccard
from measurand.formula.ranking import Ranked

if TYPE_CHECKING:
    from measurand.core.record import Context


def judge(found: Sequence[Context], references: Sequence[Context], min_overlap: float) -> Ranked:
    """The passages found, in rank order, against the judged ones.

    Two passages with an id are the same when the ids are equal. Where one of them has none: when their texts are equal but for letter case and
    spacing, else when their token F1 is at least `min_overlap`. A bare text of ASCII characters without a space is read as an id and compared exactly.
    A reference's grade is its score, 1 without one, the highest where it is listed twice. Each counts once, at its first rank.
    """
    ranked = _judge_by_id(found, references)
    return _judge_by_likeness(found, references, min_overlap) if ranked is None else ranked


def _judge_by_id(found: Sequence[Context], references: Sequence[Context]) -> Ranked | None:
    """The same where every passage has an id, which is the usual case and many times as fast; None where one has none."""
    known: dict[str, float] = {}
    for one in references:
        name = one.id
        if name is None:
            return None
        grade = 1.0 if one.score is None else float(one.score)
        if grade > known.setdefault(name, grade):
            known[name] = grade
    names = [one.id for one in found if one.id is not None]
    if len(names) < len(found):
        return None
    copies = _repeats(names) if len(set(names)) < len(names) else frozenset()
    return Ranked(tuple(map(known.get, names)), copies, tuple(known.values()))


def _repeats(names: Sequence[str]) -> frozenset[int]:
    """The ranks, from 0, of names that stand earlier in the list too."""
    seen: set[str] = set()
    repeats: list[int] = []
    for rank, name in enumerate(names):
        if name in seen:
            repeats.append(rank)
        seen.add(name)
    return frozenset(repeats)


def _judge_by_likeness(found: Sequence[Context], references: Sequence[Context], min_overlap: float) -> Ranked:
    known = _References(references)
    grades: list[float | None] = []
    copies: set[int] = set()
    seen: set[Hashable] = set()
    for rank, passage in enumerate(found):
        index = known.find(passage, min_overlap, seen)
        identity = _identity(passage) if index is None else index
        if identity in seen:
            copies.add(rank)
        seen.add(identity)
        grades.append(None if index is None else known.grades[index])
    return Ranked(tuple(grades), frozenset(copies), tuple(known.grades))


def comparable(found: Sequence[Context], references: Sequence[Context]) -> bool:
    """Whether anything of the two lists can be compared: both have ids, or both have texts. Empty lists can."""
    if not found or not references or (found[0].id is not None and references[0].id is not None):
        return True
    ids = any(_id_of(one) is not None for one in found) and any(_id_of(one) is not None for one in references)
    return ids or (any(one.text is not None for one in found) and any(one.text is not None for one in references))


def redundant(passages: Sequence[Context], min_overlap: float) -> int:
    """How many passages are much like an earlier one: the same id, or Jaccard of their token sets ≥ `min_overlap` (two empty texts: 1)."""
    ids: set[str] = set()
    earlier: list[frozenset[str]] = []
    count = 0
    for passage in passages:
        words = None if passage.text is None else frozenset(tokens(passage.text))
        count += passage.id in ids or (words is not None and any(_alike(words, other, min_overlap) for other in earlier))
        if passage.id is not None:
            ids.add(passage.id)
        if words is not None:
            earlier.append(words)
    return count


def _alike(words: frozenset[str], other: frozenset[str], min_overlap: float) -> bool:
    still_time()
    return jaccard(words, other) >= min_overlap


class _References:
    def __init__(self, references: Iterable[Context]) -> None:
        self.grades: list[float] = []
        self._passages: list[Context] = []
        self._bags: list[Counter[str] | None] = []
        self._by_identity: dict[Hashable, int] = {}
        self._by_text: dict[str, list[int]] = {}
        for one in references:
            self._add(one)

    def _add(self, one: Context) -> None:
        grade = 1.0 if one.score is None else float(one.score)
        identity = _identity(one)
        index = self._by_identity.setdefault(identity, len(self.grades))
        if index < len(self.grades):
            self.grades[index] = max(self.grades[index], grade)
            return
        self.grades.append(grade)
        self._passages.append(one)
        self._bags.append(None)
        if one.text is not None:
            self._by_text.setdefault(_text_key(one.text), []).append(index)

    def find(self, passage: Context, min_overlap: float, taken: set[Hashable]) -> int | None:
        """The reference that a passage is, one not taken yet where there is a choice; None when it is none of them."""
        index = self._by_identity.get(_identity(passage))
        if index is not None or passage.text is None:
            return index
        same = [index for index in self._by_text.get(_text_key(passage.text), ()) if self._comparable(passage, index)]
        if not same and not _is_bare_id(passage.text):
            same = self._overlapping(passage, min_overlap)
        return next((index for index in same if index not in taken), same[0] if same else None)

    def _comparable(self, passage: Context, index: int) -> bool:
        return passage.id is None or self._passages[index].id is None

    def _overlapping(self, passage: Context, min_overlap: float) -> list[int]:
        candidates = [index for index, one in enumerate(self._passages) if self._is_prose(one) and self._comparable(passage, index)]
        if not candidates:
            return []
        bag = Counter(tokens(passage.text or ""))
        scored = sorted(((_token_f1(bag, self._bag(index)), -index) for index in candidates), reverse=True)
        return [-index for score, index in scored if score >= min_overlap and score > 0]

    def _is_prose(self, one: Context) -> bool:
        return one.text is not None and not _is_bare_id(one.text)

    def _bag(self, index: int) -> Counter[str]:
        bag = self._bags[index]
        if bag is None:
            bag = self._bags[index] = Counter(tokens(self._passages[index].text or ""))
        return bag


def _identity(passage: Context) -> Hashable:
    name = _id_of(passage)
    if name is not None:
        return ("id", name)
    return object() if passage.text is None else ("text", _text_key(passage.text))


def _id_of(passage: Context) -> str | None:
    if passage.id is not None:
        return passage.id
    return passage.text if passage.text is not None and _is_bare_id(passage.text) else None


def _is_bare_id(text: str) -> bool:
    return text.isascii() and len(text.split()) == 1 and text == text.strip()


def _text_key(text: str) -> str:
    return text if _is_bare_id(text) else " ".join(folded(text).split())


def _token_f1(one: Counter[str], other: Counter[str]) -> float:
    still_time()
    return f1(Overlap((one & other).total(), one.total(), other.total())) if one and other else 0.0
