"""CSV and TSV: streaming, strict about what does not fit the header, every cell a text."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, Final

from measurand.core.errors import DataError, Problem
from measurand.core.jsontext import compact_json
from measurand.data.lines import UndecodableError, byte_encoding, decoded, numbered_lines
from measurand.data.rows import BadRow, ReadOptions, Row, limited

_OTHER_DELIMITERS: Final = {";": ";", "\t": "\\t", "|": "|", ",": ","}


class _BadLineError(Exception):
    """A line that ends the record it stands in; `fatal` when what follows cannot be told apart any more."""

    def __init__(self, line: int, message: str, hint: str, fatal: bool = False) -> None:
        self.line = line
        self.message = message
        self.hint = hint
        self.fatal = fatal
        super().__init__(message)


class _Lines:
    """The text lines that the csv module asks for, counted and bounded by record: a quote left open must not swallow the file."""

    def __init__(self, stream: BinaryIO, options: ReadOptions) -> None:
        self._lines = numbered_lines(stream, options.encoding, options.max_row_bytes)
        self._encoding = byte_encoding(options.encoding)
        self._limit = options.max_row_bytes
        self._held = 0
        self.first = 0

    def begin(self) -> None:
        """A new record begins with the next line."""
        self._held = 0
        self.first = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        self.first = self.first or number
        if line is None:
            raise _BadLineError(number, f"the line has more than max_row_bytes {self._limit}", "set [data] max_row_bytes", self._held > 0)
        self._held += len(line)
        if self._held > self._limit:
            raise _BadLineError(
                self.first, f"a quote opens in this row and is not closed within max_row_bytes {self._limit}", 'write " inside a cell as ""', True
            )
        try:
            text = decoded(line, self._encoding)
        except UndecodableError as error:
            raise _BadLineError(number, error.message, error.hint) from None
        if "\0" in text:
            raise _BadLineError(number, "the line holds NUL bytes: a binary file, or text in another encoding", 'set [data] encoding, e.g. encoding = "utf-16"')
        return text


def read_table(stream: BinaryIO, label: str, options: ReadOptions, default_delimiter: str) -> Iterator[Row | BadRow]:
    """Rows of a table. Raises `DataError` for a header that names a column twice or was cut by the wrong delimiter."""
    csv.field_size_limit(max(csv.field_size_limit(), options.max_row_bytes))  # the module's one limit is the process's: only ever raised
    delimiter = options.delimiter or default_delimiter
    lines = _Lines(stream, options)
    records = csv.reader(lines, delimiter=delimiter, strict=True)
    header = _header(records, label, delimiter)
    if header is None:
        return
    width = len(header)
    while True:
        lines.begin()
        try:
            cells = next(records)
        except StopIteration:
            return
        except _BadLineError as bad:
            yield BadRow(label, bad.line, bad.message, bad.hint)
            if bad.fatal:
                return
            continue
        except csv.Error as error:
            yield BadRow(label, lines.first, _in_words(error), 'a cell with the delimiter, a quote or a line break stands in quotes, and " in it is ""')
            continue
        if len(cells) != width:
            if any(cell.strip() for cell in cells):
                yield _wrong_width(label, lines.first, len(cells), width)
            continue
        values = dict(zip(header, cells, strict=True))
        yield limited(Row(label, lines.first, values, compact_json(values).encode(), "line", True), options)


def _header(records: Iterator[list[str]], label: str, delimiter: str) -> list[str] | None:
    try:
        cells = next((cells for cells in records if any(cell.strip() for cell in cells)), None)
    except _BadLineError as bad:
        raise DataError(Problem("bad_row", f"{label}:{bad.line}", bad.message, bad.hint)) from None
    except csv.Error as error:
        raise DataError(Problem("bad_row", f"{label}:1", f"the header cannot be read: {_in_words(error)}")) from None
    if cells is None:
        return None
    names = [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, 1)]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(Problem("duplicate_column", f"{label}:1", f"the header names {', '.join(twice[:5])} twice", "give each column its own name"))
    if len(names) == 1:
        other = next((mark for mark in _OTHER_DELIMITERS if mark != delimiter and mark in names[0]), None)
        if other:
            hint = f'set [data] delimiter = "{_OTHER_DELIMITERS[other]}"'
            raise DataError(Problem("wrong_delimiter", f"{label}:1", f"the header is one column, '{names[0][:80]}'", hint))
    return names


def _wrong_width(label: str, line: int, found: int, width: int) -> BadRow:
    hint = "a cell with the delimiter in it stands in quotes" if found > width else "every row has a cell for each column; an empty one is missing"
    return BadRow(label, line, f"the row has {found} cells, the header {width}", hint)


def _in_words(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end of data" in text:
        return "a quote is opened and never closed"
    if "expected after" in text:
        return "something follows a closing quote"
    if "new-line character" in text:
        return "a lone carriage return stands outside quotes"
    return text
