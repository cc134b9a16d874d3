r"""Ids, tasks and clusters come from data and may hold what a database column cannot: NUL (PostgreSQL), lone surrogates (both).

Such a text is stored as a mark and its ASCII JSON; so is one that contains the mark, which makes the encoding reversible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from measurand.run.store.strict_json import dumps_ascii, loads
from measurand.run.store.values import SampleRow

MARK = "\x1a"


def is_plain(text: str) -> bool:
    """Whether a column can hold the text as it is."""
    if "\0" in text or MARK in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def to_column(text: str) -> str:
    """What to store for `text`."""
    return text if is_plain(text) else MARK + dumps_ascii(text)


def from_column(stored: str) -> str:
    """The text that `to_column` was given."""
    if stored[:1] != MARK:
        return stored
    text: str = loads(stored[1:])
    return text


def optional(text: str | None, change: Callable[[str], str]) -> str | None:
    """`change` of a text that may be absent."""
    return None if text is None else change(text)


def storable(samples: Sequence[SampleRow]) -> Sequence[SampleRow]:
    """The same sample rows with every text such that a column can hold it. One look at the whole group, as nearly all are plain."""
    texts = "".join([f"{sample[1]}{sample[2]}{sample[4] or ''}" for sample in samples])
    return samples if is_plain(texts) else [_storable(sample) for sample in samples]


def _storable(sample: SampleRow) -> SampleRow:
    ordinal, sample_id, task, trial, cluster, hashes, tags, slices, row = sample
    return ordinal, to_column(sample_id), to_column(task), trial, optional(cluster, to_column), hashes, tags, slices, row
