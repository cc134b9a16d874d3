"""What a dataset can feed, as text: the three blocks of `metrics list --for`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from measurand.core.errors import nearest
from measurand.core.fields import FIELDS
from measurand.core.metric import Metric
from measurand.report import terminal
from measurand.report.visible import columns, padded, safe, wrapped


@frozen
class Lacking:
    """A metric that a dataset cannot feed, and what it lacks."""

    metric: Metric[Any]
    missing: tuple[str, ...]


@frozen
class Feed:
    """What a dataset can feed: metrics with the rows that can, those that lack something, and how its columns are read."""

    rows: int
    feedable: tuple[tuple[Metric[Any], int], ...]
    lacking: tuple[Lacking, ...]
    mapping: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()


_MARGIN: Final = 22


def feed_lines(feed: Feed, width: int) -> list[str]:
    """What can be measured, what lacks one thing and what lacks more, and the mapping of columns to fields."""
    almost = [one for one in feed.lacking if len(one.missing) == 1]
    further: dict[tuple[str, ...], list[str]] = {}
    for one in feed.lacking:
        if len(one.missing) > 1:
            further.setdefault(one.missing, []).append(one.metric.name)
    lines = _block(f"can be measured ({len(feed.feedable)})", ", ".join(_fed(one, rows, feed.rows) for one, rows in feed.feedable) or "none", width)
    margin = max((columns(safe(one.metric.name)) for one in almost), default=0)
    for index, one in enumerate(almost):
        head = f"almost ({len(almost)})" if index == 0 else ""
        lines += _block(head, f"needs {_missing(one.missing[0], feed)}", width, padded(safe(one.metric.name), margin))
    for index, (missing, names) in enumerate(further.items()):
        head = f"not ({sum(map(len, further.values()))})" if index == 0 else ""
        lines += _block(head, f"need {' and '.join(need.replace('|', ' or ') for need in missing)}: {', '.join(names)}", width)
    return [*lines, *_block("mapping", mapping_line(feed.mapping) or "none", width), *(line for note in feed.notes for line in _block("note", note, width))]


def _block(head: str, text: str, width: int, label: str = "") -> list[str]:
    start = f"{head:<{_MARGIN}} {label}{'  ' if label else ''}"
    indent = " " * columns(start)
    first, *rest = wrapped(safe(text), width, indent)
    return [f"{start}{first[len(indent) :]}".rstrip(), *rest]


def _fed(one: Metric[Any], rows: int, of: int) -> str:
    said = [] if rows == of else [f"{terminal.thousands(rows)} of {terminal.thousands(of)} rows"]
    if one.needs_options:
        said.append(f"set {', '.join(one.needs_options)}")
    return f"{one.name} ({'; '.join(said)})" if said else one.name


def _missing(need: str, feed: Feed) -> str:
    words = [word for name in need.split("|") if name in FIELDS for word in (name, *FIELDS[name].aliases)]
    unused = [str(one["column"]) for one in feed.mapping if one["how"] == "metadata" and one["column"]]
    near = next((found for word in words for found in nearest(word, unused, 1)), None) or next((one for one in unused if _akin(one, words)), None)
    wanted = need.replace("|", " or ")
    return f'{wanted} (no column; nearest: "{near}")' if near else f"{wanted} (no column)"


def _akin(column: str, words: Sequence[str]) -> bool:
    """`Docs` beside `documents`: one begins as the other."""
    short = column.casefold().rstrip("s")
    return len(short) >= 3 and any(part.startswith(short) or short.startswith(part) for word in words for part in word.split("_") if len(part) >= 3)


def mapping_line(mapping: Sequence[Mapping[str, Any]]) -> str:
    """`input ← Question · output ← Answer · metadata ← Docs, Lang`."""
    read = [f"{one['field']} ← {one['column']}" for one in mapping if one["how"] not in ("metadata", "derived")]
    read += [f"{one['field']} ← derived from {one['column']}" if one["column"] else f"{one['field']} ← derived" for one in mapping if one["how"] == "derived"]
    unread = [str(one["column"]) for one in mapping if one["how"] == "metadata"]
    return " · ".join([*read, *([f"metadata ← {', '.join(unread)}"] if unread else [])])
