"""What readers give: rows and bad rows, each with its place; and what may be set about reading."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from attrs import frozen

from measurand.core.fields import Json
from measurand.core.jsontext import JsonTextError, compact_json, parse_json

MAX_ROW_BYTES: Final = 16_000_000
MAX_FIELD_CHARS: Final = 1_000_000
FORMATS: Final = ("jsonl", "json", "csv", "tsv", "parquet")


@frozen
class ReadOptions:
    """How to read: `format` None follows the file's suffix, `delimiter` None is `,` (csv) or tab (tsv); sizes are after decompression."""

    format: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    max_row_bytes: int = MAX_ROW_BYTES
    max_field_chars: int = MAX_FIELD_CHARS


class Row(NamedTuple):
    """One row as it stands in the data. `raw` are the bytes the fingerprint covers; `cells` means that every value is a text (csv, tsv)."""

    source: str
    line: int
    values: dict[str, Json]
    raw: bytes
    unit: str = "line"
    cells: bool = False

    @property
    def where(self) -> str:
        """`file:line`, or `file row 3` where rows are no lines."""
        return place(self.source, self.line, self.unit)


class BadRow(NamedTuple):
    """A row that cannot be read: what was found there, and what to do about it."""

    source: str
    line: int
    message: str
    hint: str = ""
    unit: str = "line"

    @property
    def where(self) -> str:
        """`file:line`, or `file row 3` where rows are no lines."""
        return place(self.source, self.line, self.unit)


def place(source: str, number: int, unit: str) -> str:
    """Where a row stands, as people and editors write it."""
    return f"{source}:{number}" if unit == "line" else f"{source} {unit} {number}"


def too_long(values: dict[str, Json], limit: int) -> str | None:
    """What is said of a row that holds a text of more than `limit` characters; None when none is as long."""
    stack: list[tuple[str, Any]] = list(values.items())
    while stack:
        name, value = stack.pop()
        if isinstance(value, str):
            if len(value) > limit:
                return f"{name} has {len(value)} characters, more than max_field_chars {limit}"
        elif isinstance(value, dict):
            stack.extend((name, item) for item in value.values())
        elif isinstance(value, list):
            stack.extend((name, item) for item in value)
    return None


def row_of(source: str, number: int, unit: str, values: object, options: ReadOptions) -> Row | BadRow:
    """A row from any mapping: native JSON values only, within the limits; a bad row that says what is not."""
    if not isinstance(values, dict):
        return BadRow(source, number, f"the row is {type(values).__name__}, not an object", "a row is an object: field → value", unit)
    wrong = next((key for key in values if not isinstance(key, str)), None)
    if wrong is not None:
        return BadRow(source, number, f"the column {wrong!r} is no text", "column names are texts", unit)
    try:
        text = compact_json(values)
        native = parse_json(text)
        raw = text.encode()
    except JsonTextError as error:
        return BadRow(source, number, str(error), "", unit)
    except UnicodeEncodeError as error:
        return BadRow(source, number, f"\\u{ord(error.object[error.start]):04x} is half of a character (a lone surrogate)", "", unit)
    except RecursionError:
        return BadRow(source, number, "nested too deeply", "", unit)
    except (ValueError, TypeError) as error:
        return BadRow(source, number, f"{_column_of_fault(values)}: {error}", "a value that is not there is null", unit)
    return limited(Row(source, number, native, raw, unit), options)


def limited(row: Row, options: ReadOptions) -> Row | BadRow:
    """The row itself, or a bad row when it is larger than the limits allow."""
    if len(row.raw) > options.max_row_bytes:
        message = f"the row has {len(row.raw)} bytes, more than max_row_bytes {options.max_row_bytes}"
        return BadRow(row.source, row.line, message, "set [data] max_row_bytes", row.unit)
    if len(row.raw) > options.max_field_chars:
        message_or_none = too_long(row.values, options.max_field_chars)
        if message_or_none:
            return BadRow(row.source, row.line, message_or_none, "set [data] max_field_chars", row.unit)
    return row


def _column_of_fault(values: dict[str, Any]) -> str:
    for name, value in values.items():
        try:
            compact_json(value)
        except (ValueError, TypeError):
            return name
    return "the row"
