"""A cassette: recorded calls as JSON Lines for git. The first line is a manifest; each other one a call, in the order of first use.

No time, no host and no key stands in it, and requests only where they are asked for: a call recorded again changes its own line and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from attrs import frozen

from measurand.core.errors import DataError, Problem
from measurand.run.store.place import shown_path
from measurand.run.store.strict_json import dumps, escape_surrogates, loads
from measurand.run.store.values import CALL_KINDS, CALL_STATUSES, GIVEN_UP, OF_THE_RUN, NewCall, Recorded, StoredCall

FORMAT: Final = "measurand-cassette"
VERSION: Final = 1

_LINE_LIMIT: Final = 64_000_000
_KEY_LENGTH: Final = 200
_TEXTS: Final = ("key", "kind", "model", "status")
_TABLES: Final = ("usage", "reply")
_OPTIONAL: Final = ("served", "request")


@frozen
class Written:
    """What a cassette was made of."""

    calls: int
    without_reply: int
    """Calls that were left out, as `[run] content` kept no reply."""


def write_cassette(calls: Iterable[StoredCall], stream: IO[bytes], *, with_requests: bool = False) -> Written:
    """Write the calls, in their order, each once; what was given up or has no reply is left out."""
    stream.write(_line({"format": FORMAT, "version": VERSION}))
    written = without_reply = 0
    for call in calls:
        if all(use[1] == GIVEN_UP and use != OF_THE_RUN for use in call.uses):
            continue
        if call.reply is None:
            without_reply += 1
            continue
        stream.write(_line(_as_json(call, with_requests=with_requests)))
        written += 1
    return Written(written, without_reply)


def _as_json(call: StoredCall, *, with_requests: bool) -> dict[str, Any]:
    names = ("key", "kind", "model", "status", "reply", "usage", "served", *(("request",) if with_requests else ()))
    kept = {name: getattr(call, name) for name in names}
    return {name: value for name, value in kept.items() if value is not None}


def _line(value: dict[str, Any]) -> bytes:
    return f"{escape_surrogates(dumps(value))}\n".encode()


class Cassette:
    """A cassette's calls by key, read-only. All of it is checked when it is opened; replies are read when they are asked for.

    DataError with file and line for a line that is torn, malformed or no call, and for a file that is no cassette.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.calls = 0
        self._last: dict[bytes, int] = {}
        self._last_ok: dict[bytes, int] = {}  # only where the last call of the key is not ok
        for at, key, call in self._read():
            self.calls += 1
            self._place(key.encode(), at, ok=call.status == "ok")

    def find(self, key: str, *, only_ok: bool) -> NewCall | None:
        """The last call of this key; with `only_ok` the last complete readable one."""
        packed = key.encode()
        at = self._last_ok.get(packed, self._last.get(packed)) if only_ok else self._last.get(packed)
        if at is None:
            return None
        call = self._call_at(at)
        return None if only_ok and call.status != "ok" else call

    def recorded(self, key: str) -> Recorded | None:
        """The last complete readable reply to a request, for whoever only looks."""
        call = self.find(key, only_ok=True)
        if call is None or call.reply is None:
            return None
        return Recorded(0, call.status, call.reply, call.usage, call.kind, True, call.served)

    def __iter__(self) -> Iterator[tuple[str, NewCall]]:
        """Keys and calls, in the order of the file."""
        return ((key, call) for _, key, call in self._read())

    def close(self) -> None:
        """Forget the calls; nothing answers from here any more. No file stays open between two answers."""
        self._last.clear()
        self._last_ok.clear()

    def _place(self, key: bytes, at: int, *, ok: bool) -> None:
        before = self._last_ok.pop(key, self._last.get(key)) if not ok else None
        self._last_ok.pop(key, None)
        if before is not None:
            self._last_ok[key] = before
        self._last[key] = at

    def _call_at(self, at: int) -> NewCall:
        try:
            with self.path.open("rb") as stream:
                stream.seek(at)
                return _checked(loads(stream.readline(_LINE_LIMIT).decode()))[1]
        except (OSError, ValueError) as error:
            raise DataError(Problem("bad_cassette", shown_path(self.path), f"changed while it was in use: {error}", "type the same command again")) from None

    def _read(self) -> Iterator[tuple[int, str, NewCall]]:
        number = at = 0
        try:
            with self.path.open("rb") as stream:
                while line := stream.readline(_LINE_LIMIT):
                    number += 1
                    value = self._value(line, number)
                    if number == 1:
                        self._check_manifest(value)
                    else:
                        yield (at, *self._checked(value, number))
                    at += len(line)
        except OSError as error:
            raise self._wrong(0, f"cannot be read: {(error.strerror or str(error)).lower()}", "") from None
        if number == 0:
            raise self._wrong(0, "is empty: it has no manifest")

    def _value(self, line: bytes, number: int) -> Any:
        if not line.endswith(b"\n"):
            raise self._wrong(number, "this line is cut off" if len(line) < _LINE_LIMIT else f"this line is longer than {_LINE_LIMIT:,} bytes")
        try:
            return loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            raise self._wrong(number, "this line is no JSON") from None

    def _check_manifest(self, value: Any) -> None:
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise self._wrong(1, f'is no cassette: its first line is not {{"format": "{FORMAT}", "version": {VERSION}}}')
        if value.get("version") != VERSION:
            raise self._wrong(1, f"has version {value.get('version')!r}; this measurand reads {VERSION}", "upgrade measurand")

    def _checked(self, value: Any, number: int) -> tuple[str, NewCall]:
        try:
            return _checked(value)
        except ValueError as error:
            raise self._wrong(number, f"this line is no recorded call: {error}") from None

    def _wrong(self, number: int, message: str, hint: str = "take the file from git, or export it again with `metrics cache export FILE`") -> DataError:
        where = shown_path(self.path)
        return DataError(Problem("bad_cassette", f"{where}:{number}" if number else where, message, hint))


def _checked(value: Any) -> tuple[str, NewCall]:
    """The key and the call of a line. ValueError says what is wrong."""
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  # one kind of error for the whole line
    unknown = sorted(value.keys() - {*_TEXTS, *_TABLES, *_OPTIONAL})
    missing = [name for name in (*_TEXTS, *_TABLES) if name not in value]
    if unknown or missing:
        raise ValueError(f"it has no {missing[0]!r}" if missing else f"it has {unknown[0]!r}, which no call has")
    if not all(isinstance(value[name], str) and value[name] for name in _TEXTS):
        raise ValueError(f"{', '.join(_TEXTS)} are texts")
    if not (value["key"].isascii() and value["key"].isprintable() and len(value["key"]) <= _KEY_LENGTH):
        raise ValueError("key is a hash")
    if not all(isinstance(value[name], dict) for name in (*_TABLES, *_OPTIONAL) if name in value):
        raise ValueError(f"{', '.join((*_TABLES, *_OPTIONAL))} are objects")
    if value["kind"] not in CALL_KINDS or value["status"] not in CALL_STATUSES:
        raise ValueError(f"kind is one of {', '.join(CALL_KINDS)}, status one of {', '.join(CALL_STATUSES)}")
    _check_usage(value["usage"])
    _check_reply(value["kind"], value["reply"])
    return value["key"], NewCall(**{name: entry for name, entry in value.items() if name != "key"})


def _check_usage(usage: dict[str, Any]) -> None:
    counts = [usage.get(name, 0) for name in ("input_tokens", "output_tokens", "cached_tokens", "calls")]
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("tokens and calls in usage are counts")
    amounts = [amount for name in ("cost_usd", "latency_s") if (amount := usage.get(name)) is not None]
    if not all(type(amount) in (int, float) and amount >= 0 for amount in amounts):
        raise ValueError("cost_usd and latency_s in usage are amounts")


def _check_reply(kind: str, reply: dict[str, Any]) -> None:
    """Strangers write cassettes: what a run would stumble over is told here."""
    from measurand.run.record_json import completion_of, vector_of

    if "error" in reply:
        error = reply["error"]
        if not isinstance(error, dict) or not all(isinstance(error.get(name), str) for name in ("code", "message")):
            raise ValueError("an error in a reply has a code and a message")
        return
    if kind == "chat" and "answer" in reply:
        _check_answer(reply["answer"])
        return
    try:
        if kind in ("chat", "probe"):
            completion_of(reply)
        elif kind == "embedding":
            vector_of(reply)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"its reply cannot be read ({type(error).__name__}: {error})") from None


def _check_answer(answer: Any) -> None:
    """One question's own answer out of several that were asked together: probabilities, several of those, or texts."""
    parts = answer if isinstance(answer, list) else [answer]
    if not all(_is_distribution(part) or (isinstance(part, str) and parts is answer) for part in parts):
        raise ValueError("an answer in a reply is probabilities, a list of them, or a list of texts")


def _is_distribution(part: Any) -> bool:
    return isinstance(part, dict) and bool(part) and all(type(share) in (int, float) and 0 <= share <= 1 for share in part.values())
