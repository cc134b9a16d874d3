"""Names that must agree across tables. Works on the tree, so that these problems appear beside those of the values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from measurand.config.locate import Path
from measurand.config.problems import MAX_OF_A_KIND
from measurand.config.tree import Node, key_text, where
from measurand.core.errors import Problem, did_you_mean


def reference_problems(root: Node) -> list[Problem]:
    """Judges and embeddings that do not exist, instances under undotted names, questions of one name, suites that contain themselves."""
    kinds = (_runtime_problems(root), _instance_problems(root), _question_problems(root), _suite_problems(root))
    return [problem for kind in kinds for problem in islice(kind, MAX_OF_A_KIND)]


def _at(root: Node, path: Path) -> Node | None:
    node: Node | None = root
    for key in path:
        node = node.child(key) if node is not None else None
    return node


def _keys(root: Node, path: Path) -> list[str | int]:
    node = _at(root, path)
    return [key for key, _ in node.children()] if node else []


def _runtime_problems(root: Node) -> Iterator[Problem]:
    tables: list[Path] = [("run",), *(("metrics", name) for name in _keys(root, ("metrics",))), *(("questions", at) for at in _keys(root, ("questions",)))]
    for table in tables:
        yield from _unknown_names(root, (*table, "judge"), "models")
        yield from _unknown_names(root, (*table, "embedding"), "embeddings")
    yield from _unknown_names(root, ("ragas", "model"), "models")
    yield from _unknown_names(root, ("ragas", "embedding"), "embeddings")


def _unknown_names(root: Node, path: Path, section: str) -> Iterator[Problem]:
    node = _at(root, path)
    known = [str(name) for name in _keys(root, (section,))]
    for at, name in [((), node.content), *(((index,), one.content) for index, one in node.children())] if node else []:
        if isinstance(name, str) and name not in known:
            near = did_you_mean(name[:100], known[:1000]) or (f"there are: {', '.join(known[:20])}" if known else f"write a table [{section}.{key_text(name)}]")
            yield Problem("unknown_reference", where(root, (*path, *at)), f"there is no [{section}.{key_text(name)}]", near)


def _instance_problems(root: Node) -> Iterator[Problem]:
    for name in _keys(root, ("metrics",)):
        table = _at(root, ("metrics", name))
        has_use = table is not None and table.child("use") is not None
        if has_use and "." not in str(name):
            hint = f'an instance has a dotted, quoted name: [metrics."house.{str(name)[:40]}"]'
            yield Problem("invalid_value", where(root, ("metrics", name)), "use makes it an instance, and names without a dot are the built-in metrics'", hint)
        for key, child in table.children() if table else ():
            if isinstance(child.content, dict):
                hint = f'an instance\'s dotted name is quoted: [metrics."{name}.{key}"]'
                yield Problem("invalid_value", where(root, ("metrics", name, key)), "is a table, and an option takes none", hint)


def _question_problems(root: Node) -> Iterator[Problem]:
    first: dict[str, Path] = {}
    for index in _keys(root, ("questions",)):
        path: Path = ("questions", index, "name")
        node = _at(root, path)
        name = node.content if node else None
        if isinstance(name, str) and name in first:
            message = f"another question has this name: {where(root, first[name])}"
            yield Problem("duplicate_name", where(root, path), message, "give each its own")
        elif isinstance(name, str):
            first[name] = path


def _suite_problems(root: Node) -> Iterator[Problem]:
    members = {str(name): _suites_in(_at(root, ("suites", name))) for name in _keys(root, ("suites",))}
    settled: set[str] = set()
    for start in members:
        cycle = _cycle_from(start, members, settled)
        if cycle:
            yield Problem("cycle", where(root, ("suites", cycle[0])), f"the suite contains itself: {' → '.join(cycle)}", "take one of these out")


def _suites_in(node: Node | None) -> list[str]:
    texts = [one.content for _, one in node.children()] if node else []
    return [text.removeprefix("suite:").strip() for text in texts if isinstance(text, str) and text.startswith("suite:")]


def _cycle_from(start: str, members: dict[str, list[str]], settled: set[str]) -> list[str]:
    """The first cycle met from `start`, its first name repeated at its end; suites seen to be clean (or told of) are added to `settled`."""
    trail: list[str] = []
    pending: list[tuple[str, int]] = [(start, 0)]
    while pending:
        name, depth = pending.pop()
        settled.update(trail[depth:])
        del trail[depth:]
        if name in trail:
            settled.update(trail)
            return [*trail[trail.index(name) :], name]
        if name in members and name not in settled:
            trail.append(name)
            pending += [(inner, depth + 1) for inner in members[name]]
    settled.update(trail)
    return []
