"""Bytes of a file as numbered lines of bounded size, whatever the file holds."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

from measurand.core.errors import DataError, Problem

_GZIP: Final = b"\x1f\x8b"
_UTF8_BOM: Final = codecs.BOM_UTF8
_SKIP: Final = 1 << 20
_PIECE: Final = 1 << 16
_WIDE: Final = ("utf-16", "utf-32", "utf-7", "utf16", "utf32", "utf7")


class LineStream(Protocol):
    """Anything that gives a line of at most so many bytes."""

    def readline(self, size: int = -1, /) -> bytes: ...


def open_binary(path: Path) -> BinaryIO:
    """The bytes of a file, decompressed when they are gzip (by what they are, not by the name)."""
    stream = path.open("rb")
    if stream.peek(2)[:2] != _GZIP:
        return stream
    stream.close()
    return _buffered(gzip.GzipFile(path, mode="rb"))


def decompressed(stream: BinaryIO) -> BinaryIO:
    """The stream's bytes, gunzipped when they are gzip."""
    peekable = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", stream))
    if peekable.peek(2)[:2] != _GZIP:
        return peekable
    return _buffered(gzip.GzipFile(fileobj=peekable, mode="rb"))


def _buffered(stream: object) -> BinaryIO:
    return cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", stream), 1 << 16))


@contextmanager
def reading(label: str) -> Iterator[None]:
    """Turns what can go wrong while bytes are read into a `DataError` about this file."""
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(Problem("unreadable", label, f"the gzip data is damaged ({error})", "compress or copy it again")) from None
    except OSError as error:
        raise DataError(Problem("unreadable", label, f"it cannot be read: {error.strerror or error}")) from None


def known_encoding(encoding: str) -> Problem | None:
    """What is wrong with an encoding's name; None when it is one."""
    try:
        codecs.lookup(encoding)
        "a".encode(encoding)
    except (LookupError, ValueError):
        return Problem("bad_encoding", "[data] encoding", f"'{encoding}' is no text encoding", "utf-8 (the default), cp1252, latin-1, utf-16, shift_jis …")
    return None


def numbered_lines(stream: BinaryIO, encoding: str, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """(number from 1, line with its end); None for a line of more than `limit` bytes, which is skipped without being held."""
    source: LineStream = _Recoded(stream, encoding) if encoding.casefold().startswith(_WIDE) else stream
    most = limit + 2
    number = 0
    while line := source.readline(most):
        number += 1
        if number == 1 and line.startswith(_UTF8_BOM):
            line = line[3:]
            if not line:
                continue
        if len(line) > limit and len(line.rstrip(b"\r\n")) > limit:
            yield number, None
            while line and not line.endswith(b"\n"):
                line = source.readline(_SKIP)
            continue
        yield number, line


def byte_encoding(encoding: str) -> str:
    """How the bytes of a line are decoded: wide encodings are recoded to UTF-8 before lines are cut."""
    return "utf-8" if encoding.casefold().startswith(_WIDE) else encoding


class UndecodableError(Exception):
    """A line that is not of the encoding; the message says which byte."""

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def decoded(line: bytes, encoding: str) -> str:
    """The text of a line. Raises `UndecodableError` with the byte's place; nothing is ever replaced."""
    try:
        return str(line, encoding)
    except UnicodeDecodeError as error:
        wide = line[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        guess = "utf-16" if wide else "cp1252"
        byte = f"0x{line[error.start]:02x}" if error.start < len(line) else "the end"
        raise UndecodableError(
            f"byte {error.start + 1} of the line ({byte}) is not {encoding}: the file has another encoding", f'set [data] encoding, e.g. encoding = "{guess}"'
        ) from None


class _Recoded:
    """Lines of a stream in an encoding whose line ends are not the byte 0x0a, as UTF-8. `size` counts characters."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._text = ""
        self._ended = False

    def readline(self, size: int = -1, /) -> bytes:
        while not self._ended and "\n" not in self._text and (size < 0 or len(self._text) < size):
            self._text += self._more()
        end = self._text.find("\n") + 1 or len(self._text)
        if 0 <= size < end:
            end = size
        line, self._text = self._text[:end], self._text[end:]
        return line.encode()

    def _more(self) -> str:
        piece = self._stream.read(_PIECE)
        self._ended = not piece
        try:
            return self._decoder.decode(piece, final=self._ended)
        except UnicodeError as error:
            problem = Problem("bad_encoding", "[data] encoding", f"the file is not {self._encoding} ({error})", "name the encoding it was written in")
            raise DataError(problem) from None
