"""A config as a tree whose every value knows where it was written, so that files can be merged and a problem still names its line."""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from attrs import evolve, frozen

from measurand.config.locate import MAX_DEPTH, Path
from measurand.core.errors import Problem

Content: TypeAlias = "dict[str, Node] | list[Node] | str | int | float | bool | None"

MAX_VALUES: Final = 20_000
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]{1,100}")
_LISTED_BY_NAME = ("questions",)
_TABLES = ("data", "models", "embeddings", "run", "metrics", "suites", "ragas", "anchors", "gate")
_HEADER_DEPTH = {"models": 2, "embeddings": 2, "metrics": 2}


@frozen
class Place:
    """Where something was written: a file's name as shown ("" for a mapping from Python), its line if known, or a `--set` option."""

    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line is not None else self.file


@frozen
class Node:
    """One value and its place. `header` is set where the file's own header differs from ours ([eval.ragas] for [ragas])."""

    content: Content
    place: Place
    header: str = ""

    def children(self) -> Iterator[tuple[str | int, Node]]:
        """Key or index, and the value there; nothing for a scalar."""
        if isinstance(self.content, dict):
            yield from self.content.items()
        elif isinstance(self.content, list):
            yield from enumerate(self.content)

    def child(self, key: str | int) -> Node | None:
        """The value under a key or index, None when there is none."""
        if isinstance(self.content, dict) and isinstance(key, str):
            return self.content.get(key)
        if isinstance(self.content, list) and isinstance(key, int) and 0 <= key < len(self.content):
            return self.content[key]
        return None

    def plain(self) -> Any:
        """The value without places."""
        if isinstance(self.content, dict):
            return {key: one.plain() for key, one in self.content.items()}
        if isinstance(self.content, list):
            return [one.plain() for one in self.content]
        return self.content


def key_text(key: str | int) -> str:
    """A key as one types it in TOML: bare where it can be, else quoted; unprintable characters escaped, long ones cut."""
    if isinstance(key, int) or _BARE_KEY.fullmatch(key):
        return str(key)
    shown = key if len(key) <= 100 else key[:97] + "…"
    return '"' + repr(shown)[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'


def dotted(path: Path) -> str:
    """A path as one types it for --set."""
    return ".".join(key_text(key) for key in path)


def label(root: Node, path: Path) -> str:
    """A path as the file shows it: "[models.judge] base_url", "[run]", "project"."""
    depth = _header_depth(root, path)
    head = path[:depth]
    if path and path[0] in _LISTED_BY_NAME and len(path) > 1:
        head, rest = path[:2], path[2:]
        header = f"[[{path[0]}]] {_name_of(root, head)}"
    else:
        rest = path[depth:]
        header = f"[{_said(root, head)}]" if head else ""
    key = dotted(tuple(part for part in rest if isinstance(part, str)))
    return " ".join(part for part in (header, key) if part)


def _header_depth(root: Node, path: Path) -> int:
    depth = _HEADER_DEPTH.get(str(path[0]), 1) if path else 0
    if path[:2] == ("gate", "metrics"):
        depth = 3
    elif path[:2] == ("data", "columns"):
        depth = 2
    while depth and (depth > len(path) or not _is_table(root, path[:depth])):
        depth -= 1
    return depth


def _is_table(root: Node, path: Path) -> bool:
    node: Node | None = root
    for key in path:
        node = node.child(key) if node else None
    if node is None:
        return len(path) == 1 and path[0] in _TABLES
    return isinstance(node.content, dict)


def _name_of(root: Node, path: Path) -> str:
    node: Node | None = root
    for key in (*path, "name"):
        node = node.child(key) if node else None
    name = node.content if node else None
    return name if isinstance(name, str) and _BARE_KEY.fullmatch(name.replace(".", "_")) else f"no. {cast(int, path[1]) + 1}"


def _said(root: Node, head: Path) -> str:
    node = root.child(head[0])
    first = node.header if node and node.header else key_text(head[0])
    return ".".join([first, *(key_text(key) for key in head[1:])])


def place_of(root: Node, path: Path) -> Place:
    """Where the value at `path` was written, or the nearest table around it."""
    node = root
    for key in path:
        found = node.child(key)
        if found is None:
            break
        node = found
    return node.place


def where(root: Node, path: Path) -> str:
    """File, line and key of a path: "metrics.toml:14: [run] metrics"."""
    place, name = place_of(root, path), label(root, path)
    if place.file.startswith("--set"):
        return place.file
    return ": ".join(part for part in (str(place), name) if part)


@frozen
class Grown:
    """A tree, and what could not be taken into it."""

    root: Node
    problems: list[Problem]


def grow(value: Mapping[str, Any], file: str, lines: Mapping[Path, int]) -> Grown:
    """Values and lines of one file (or a mapping: no lines) as a tree. What is no JSON value is reported and left out."""
    grower = _Grower(file, lines)
    root = grower.node(value, ())
    if grower.count > MAX_VALUES:
        grower.problems.insert(0, Problem("too_large", file, f"has more than {MAX_VALUES} keys and items", "data goes into a file that [data] path names"))
    return Grown(root or Node({}, Place(file)), grower.problems)


class _Grower:
    def __init__(self, file: str, lines: Mapping[Path, int]) -> None:
        self.file = file
        self.lines = lines
        self.problems: list[Problem] = []
        self.count = 0

    def node(self, value: Any, path: Path) -> Node | None:
        self.count += 1
        if self.count > MAX_VALUES:
            return None
        refusal = _refusal(value, path)
        if refusal is not None:
            self.refuse(path, *refusal)
            return None
        place = Place(self.file, self.lines.get(path))
        if isinstance(value, Mapping):
            keys = [key for key in value if self.is_text(key, path)]
            return Node({key: node for key in keys if (node := self.node(value[key], (*path, key)))}, place)
        if isinstance(value, list | tuple):
            return Node([node for index, one in enumerate(value) if (node := self.node(one, (*path, index)))], place)
        return Node(os.fspath(value) if isinstance(value, os.PathLike) else value, place)

    def is_text(self, key: Any, path: Path) -> bool:
        if not isinstance(key, str):
            self.refuse(path, f"has a key that is a Python {type(key).__name__}", "keys are texts")
        return isinstance(key, str)

    def refuse(self, path: Path, message: str, hint: str) -> None:
        place = str(Place(self.file, self.lines.get(path)))
        shown = dotted(path[:4]) + (" …" if len(path) > 4 else "")
        self.problems.append(Problem("invalid_value", ": ".join(part for part in (place, shown) if part), message, hint))


def _refusal(value: Any, path: Path) -> tuple[str, str] | None:
    """Message and hint where a value cannot stand in a config."""
    if isinstance(value, Mapping | list | tuple):
        too_deep = len(path) > MAX_DEPTH
        return (f"is nested more than {MAX_DEPTH} levels deep", "no key of a config goes that deep") if too_deep else None
    if isinstance(value, dt.date | dt.time):
        return "is a date or time, which no key takes", f'quote it: "{value}"'
    if isinstance(value, float) and not math.isfinite(value):
        return f"is {value}, which is no number", "a finite number, or leave the key out"
    if value is not None and not isinstance(value, str | int | float | bool | os.PathLike):
        return f"is a Python {type(value).__name__}", "a text, a number, true or false, a list or a table"
    return None


def merge(below: Node, above: Node) -> Node:
    """`above` laid over `below`: tables by key, [[questions]] by name, anything else is replaced."""
    merged = dict(below.content) if isinstance(below.content, dict) else {}
    for key, node in cast("dict[str, Node]", above.content).items():
        old = merged.get(key)
        if old is not None and isinstance(old.content, dict) and isinstance(node.content, dict):
            merged[key] = merge(old, node)
        elif old is not None and key in _LISTED_BY_NAME and isinstance(old.content, list) and isinstance(node.content, list):
            merged[key] = evolve(node, content=_merge_by_name(old.content, node.content))
        else:
            merged[key] = node
    return evolve(above, content=merged)


def _merge_by_name(below: list[Node], above: list[Node]) -> list[Node]:
    merged = list(below)
    at = {name: index for index, node in enumerate(below) if (name := _name(node)) is not None}
    for node in above:
        name = _name(node)
        if name is not None and name in at and isinstance(node.content, dict):
            merged[at[name]] = merge(merged[at[name]], node)
        else:
            merged.append(node)
    return merged


def _name(node: Node) -> str | None:
    name = node.child("name")
    return name.content if name is not None and isinstance(name.content, str) else None


def put(root: Node, path: tuple[str, ...], node: Node) -> Node | None:
    """The tree with `node` at `path`; tables on the way are made, a question is found by its name. None when something on the way is no table."""
    if not path:
        return node
    content = root.content
    if isinstance(content, list):
        index = next((at for at, one in enumerate(content) if _name(one) == path[0]), None)
        changed = put(content[index], path[1:], node) if index is not None else None
        return evolve(root, content=[changed if at == index else one for at, one in enumerate(content)]) if changed is not None else None
    if not isinstance(content, dict):
        return None
    old = content.get(path[0], Node({}, node.place))
    changed = put(old, path[1:], node)
    return evolve(root, content={**content, path[0]: changed}) if changed is not None else None


def without(root: Node, path: Path) -> Node:
    """The tree without what stands at `path`, or without the nearest table around it where nothing does."""
    if not path:
        return root
    child = root.child(path[0])
    if child is None:
        return root
    deeper = path[1:]
    if deeper and child.child(deeper[0]) is not None:
        kept = without(child, deeper)
        if isinstance(root.content, dict):
            return evolve(root, content={**root.content, str(path[0]): kept})
        return evolve(root, content=[kept if at == path[0] else one for at, one in root.children()])
    if isinstance(root.content, dict):
        return evolve(root, content={key: one for key, one in root.content.items() if key != path[0]})
    return evolve(root, content=[one for at, one in root.children() if at != path[0]])
