"""What a row is: its id, its task, which repetition. What the row does not say itself follows from its task part."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from measurand.core.coerce import Invalid
from measurand.core.fields import TASK_PART
from measurand.core.jsontext import canonical_json
from measurand.core.plain import plain

_HASH_BYTES: Final = 8


class Identity(NamedTuple):
    """What a row says of itself, with the task's default. `id` and `trial` None: they follow from the other rows."""

    id: str | None
    task: str
    trial: int | None
    hashes: dict[str, str]


class NoTaskPartError(Exception):
    """A row without id, task and task part: nothing tells it from others."""


def task_hashes(fields: Mapping[str, Any]) -> dict[str, str]:
    """A hash of each field of the task part that the row has: 16 hex digits, equal for equal values whatever file they came from."""
    hashes: dict[str, str] = {}
    for name in TASK_PART:
        if name in fields:
            value = fields[name]
            text = f"t{value}" if type(value) is str else _canonical(value)
            hashes[name] = blake2b(text.encode(), digest_size=_HASH_BYTES).hexdigest()
    return hashes


def _canonical(value: Any) -> str:
    return f"invalid {value.message}" if isinstance(value, Invalid) else canonical_json(plain(value))


def task_of(hashes: Mapping[str, str]) -> str:
    """The default task: the hash of the whole task part. Raises `NoTaskPartError` when there is none."""
    if not hashes:
        raise NoTaskPartError
    return blake2b("".join(map("{}={};".format, hashes, hashes.values())).encode(), digest_size=_HASH_BYTES).hexdigest()


def identify(fields: Mapping[str, Any], position: int, id_order: bool) -> Identity:
    """Own values first; the task is the row's own id where it has one and no trial, else the hash of the task part.

    `id_order`: a row without id has its position as its id. Raises `NoTaskPartError`.
    """
    own: str | None = fields.get("id")
    if own is None and id_order:
        own = str(position)
    trial: int | None = fields.get("trial")
    task: str | None = fields.get("task")
    hashes = task_hashes(fields)
    if task is None:
        if own is not None and (trial is None or (id_order and not hashes)):
            task = own
        else:
            task = task_of(hashes)
    return Identity(own, task, trial, hashes)


class Hashes:
    """64-bit hashes of names, 8 bytes each: which of a million names occur again, without holding the names.

    Python's keyed string hash is used, so hashes are comparable within one process only.
    """

    def __init__(self) -> None:
        self._all = array("q")
        self.add = self._all.append

    def __len__(self) -> int:
        return len(self._all)

    def repeated(self) -> array[int]:
        """The hashes that occur more than once, sorted."""
        import numpy as np

        every = np.frombuffer(self._all, dtype=np.int64) if self._all else np.empty(0, dtype=np.int64)
        every.sort()  # in place: their order is of no use to anyone
        again = every[1:][every[1:] == every[:-1]]
        return array("q", np.unique(again).tobytes())


class Occurrences:
    """Counts how often each of the repeated tasks has come up: 12 bytes a task."""

    def __init__(self, repeated: array[int]) -> None:
        self._repeated = repeated
        self._counts = array("I", bytes(array("I").itemsize * len(repeated)))

    def __len__(self) -> int:
        return len(self._repeated)

    def next(self, task: str) -> int:
        """Which occurrence of the task this is, from 0."""
        if not self._repeated:
            return 0
        wanted = hash(task)
        at = bisect_left(self._repeated, wanted)
        if at == len(self._repeated) or self._repeated[at] != wanted:
            return 0
        seen = self._counts[at]
        self._counts[at] = seen + 1
        return seen
