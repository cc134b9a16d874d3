"""metrics.toml → Settings: read, lay over what it extends, apply `--set`, check everything, say every problem at once."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import tomli
from attrs import evolve
from pydantic import ValidationError

from measurand.config.bounds import Bounds, check_bounds, confined
from measurand.config.locate import MAX_DEPTH, TooDeepError, locate
from measurand.config.overrides import apply_overrides
from measurand.config.problems import MAX_OF_A_KIND, bounded, described, path_of, unexpanded
from measurand.config.references import reference_problems
from measurand.config.settings import STDIN, STORED_RUN, Settings
from measurand.config.tree import Node, grow, merge, where, without
from measurand.core.errors import ConfigError, Problem

MAX_BYTES: Final = 1_000_000
MAX_EXTENDS: Final = 3
_ATTEMPTS: Final = 20
_SQLITE = "sqlite:///"
_PATH_KEYS = (("data", "path"), ("anchors", "data"))
_RUNTIME_PATH_KEYS = ("ca_file", "client_cert_file", "client_key_file")


def load(path: Path, overrides: Sequence[str] = (), *, environ: Mapping[str, str]) -> Settings:
    """The settings of a file. `overrides` are `--set` options, read as if they stood in the file; `environ` holds the operator's bounds.

    Raises ConfigError with every problem found: what the file says, what its tables name, and what the bounds forbid.
    """
    bounds = Bounds.from_environ(environ)
    files = [path]
    root, problems = _chain(path, files, bounds)
    return _settled(root, problems, tuple(overrides), path.parent, tuple(files), bounds)


def from_mapping(mapping: Mapping[str, Any], base: Path, overrides: Sequence[str] = (), *, environ: Mapping[str, str], source: str = "") -> Settings:
    """The settings of a mapping with the tables of metrics.toml as keys, e.g. from Python; paths are relative to `base`.

    `source` names it in problems. Raises ConfigError like `load`.
    """
    bounds = Bounds.from_environ(environ)
    files = [base / "metrics.toml"]
    grown = grow(mapping, source, {})
    root, problems = _extended(grown.root, grown.problems, files, bounds)
    return _settled(root, problems, tuple(overrides), base, tuple(files[1:]), bounds)


def _settled(root: Node, problems: list[Problem], overrides: tuple[str, ...], base: Path, files: tuple[Path, ...], bounds: Bounds) -> Settings:
    if any(problem.code == "too_large" for problem in problems):
        raise ConfigError(bounded(problems))
    root, wrong_overrides = apply_overrides(root, overrides)
    root, twice = _one_ragas(root)
    found = [*problems, *wrong_overrides, *twice, *unexpanded(root)]
    try:
        settings = Settings._built(root.plain(), root, base, files)
    except ValidationError as error:
        problems = [*found, *described(root, error, Settings), *reference_problems(root)]
        raise _wrong(problems, _salvaged(root, error, base, files), bounds) from None
    found += reference_problems(root)
    if found:
        raise _wrong(found, settings, bounds)
    outside = check_bounds(settings, bounds, Path.cwd())
    if outside:
        raise ConfigError(bounded(outside))
    return settings


def _wrong(problems: list[Problem], partial: Settings | None, bounds: Bounds) -> ConfigError:
    """The error, with what of the settings can be used for further checks: nothing where they reach further than the operator allows."""
    outside = check_bounds(partial, bounds, Path.cwd()) if partial is not None else []
    error = ConfigError(bounded([*problems, *outside]))
    error.partial = None if outside else partial
    return error


def _salvaged(root: Node, error: ValidationError, base: Path, files: tuple[Path, ...]) -> Settings | None:
    """The settings without what is wrong with them; None when that does not come to an end soon."""
    for _ in range(_ATTEMPTS):
        for one in error.errors(include_url=False)[:MAX_OF_A_KIND]:
            root = without(root, path_of(one))
        try:
            return Settings._built(root.plain(), root, base, files)
        except ValidationError as again:
            error = again
    return None


def _chain(path: Path, files: list[Path], bounds: Bounds) -> tuple[Node, list[Problem]]:
    """The tree of a file laid over the files it extends; appends those to `files`."""
    name = _shown(path)
    text = _text(path, name)
    try:
        plain = tomli.loads(text)
        grown = grow(plain, name, locate(text))
    except tomli.TOMLDecodeError as error:
        raise _refused("invalid_toml", f"{name}:{error.lineno}:{error.colno}", _lowered(error.msg), _toml_hint(text, error.lineno)) from None
    except RecursionError as error:
        raise _refused("invalid_toml", name, _lowered(str(error)), f"at most {MAX_DEPTH} levels") from None
    except TooDeepError as error:
        raise _refused("invalid_toml", f"{name}:{error.line}", f"is nested more than {MAX_DEPTH} levels deep", "no key of a config goes that deep") from None
    except ValueError:
        raise _refused("invalid_toml", name, "holds a number of more than 4300 digits", "write a smaller one") from None
    return _extended(grown.root, grown.problems, files, bounds)


def _extended(root: Node, problems: list[Problem], files: list[Path], bounds: Bounds) -> tuple[Node, list[Problem]]:
    root, twice = _one_ragas(root)
    problems = [*problems, *twice]
    named = root.child("extends")
    if named is None or not isinstance(named.content, str) or not named.content:
        return root, problems
    here = files[-1]
    target = Path(os.path.normpath(here.parent / named.content))
    place = where(root, ("extends",))
    _may_extend(named.content, target, place, files, bounds)
    files.append(target)
    below, below_problems = _chain(target, files, bounds)
    moved = _rebased(below, os.path.relpath(target.parent, here.parent))
    return merge(without(moved, ("extends",)), root), [*problems, *below_problems]


def _may_extend(written: str, target: Path, place: str, files: list[Path], bounds: Bounds) -> None:
    if "://" in written:
        raise _refused("invalid_value", place, "is no local path", 'a file beside this one, e.g. "../base.toml"')
    if any(target.resolve() == one.resolve() for one in files):
        raise _refused("cycle", place, f"the files extend each other: {' → '.join(_shown(one) for one in (*files, target))}", "take one extends out")
    if len(files) > MAX_EXTENDS:
        raise _refused("too_deep", place, f"goes more than {MAX_EXTENDS} deep: {' → '.join(_shown(one) for one in (*files, target))}", "merge two of them")
    refused = confined(target, Path.cwd(), place) if bounds.confine else None
    if refused:
        raise ConfigError(refused)
    if not target.exists():
        raise _refused("no_config", place, f"there is no file {_shown(target)}", "the path is relative to the file it stands in")


def _one_ragas(root: Node) -> tuple[Node, list[Problem]]:
    """[eval.ragas] moved to [ragas]; both in one file are a problem."""
    content = root.content if isinstance(root.content, dict) else {}
    table = content.get("eval")
    inner = table.child("ragas") if table is not None else None
    if table is None or inner is None or not isinstance(table.content, dict):
        return root, []
    rest = {key: one for key, one in table.content.items() if key != "ragas"}
    kept = {key: one for key, one in content.items() if key != "eval"} | ({"eval": evolve(table, content=rest)} if rest else {})
    if "ragas" not in kept:
        return evolve(root, content={**kept, "ragas": evolve(inner, header="eval.ragas")}), []
    if inner.place.file.startswith("--set"):
        return evolve(root, content={**kept, "ragas": merge(kept["ragas"], inner)}), []
    same = f"is the same table as {where(root, ('ragas',))}"
    both = Problem("conflicting_keys", where(root, ("eval", "ragas")), same, "keep one of [ragas] and [eval.ragas]")
    return evolve(root, content=kept), [both]


def _rebased(root: Node, prefix: str) -> Node:
    """The tree with its relative paths rewritten to be relative to the file that extends it."""
    if prefix == ".":
        return root
    paths: list[tuple[str | int, ...]] = list(_PATH_KEYS)
    for section in ("models", "embeddings"):
        table = root.child(section)
        paths += [(section, name, key) for name, _ in (table.children() if table else ()) for key in _RUNTIME_PATH_KEYS]
    for path in paths:
        root = _changed(root, path, lambda text: _joined(prefix, text))
    return _changed(root, ("run", "store"), lambda text: _SQLITE + _joined(prefix, text[len(_SQLITE) :]) if _is_sqlite_file(text) else text)


def _is_sqlite_file(url: str) -> bool:
    return url.startswith(_SQLITE) and len(url) > len(_SQLITE)


def _joined(prefix: str, path: str) -> str:
    if path == STDIN or path.startswith((STORED_RUN, "~")) or Path(path).is_absolute():
        return path
    return os.path.normpath(Path(prefix, path))


def _changed(node: Node, path: tuple[str | int, ...], change: Callable[[str], str]) -> Node:
    if path:
        child = node.child(path[0])
        if child is None or not isinstance(node.content, dict):
            return node
        return evolve(node, content={**node.content, str(path[0]): _changed(child, path[1:], change)})
    if isinstance(node.content, list):
        return evolve(node, content=[_changed(one, (), change) for one in node.content])
    return evolve(node, content=change(node.content)) if isinstance(node.content, str) and node.content else node


def _text(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _refused("no_config", name, "there is no such file", "write one with `metrics init`, or name another with -c FILE") from None
    except IsADirectoryError:
        raise _refused("unreadable_config", name, "is a directory", f"name the file in it: {Path(name, 'metrics.toml')}") from None
    except (OSError, ValueError) as error:
        raise _refused("unreadable_config", name, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > MAX_BYTES:
        hint = "a config is a few KB; data goes into a file that [data] path names"
        raise _refused("unreadable_config", name, f"is larger than {MAX_BYTES // 1_000_000} MB", hint)
    return _decoded(raw, name)


def _decoded(raw: bytes, name: str) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise _refused("unreadable_config", f"{name}:1", "is UTF-16", "save it as UTF-8")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        raise _refused("unreadable_config", f"{name}:{line}:{column}", f"the byte 0x{raw[error.start]:02x} is not UTF-8", "save the file as UTF-8") from None


def _shown(path: Path) -> str:
    """A path as messages show it: relative where that is shorter to read."""
    text = str(path)
    if path.is_absolute():
        relative = os.path.relpath(text)
        text = text if relative.startswith("..") else relative
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _toml_hint(text: str, line: int) -> str:
    """What is mostly meant by what TOML does not take."""
    found = text.split("\n")[line - 1].strip() if 0 < line <= text.count("\n") + 1 else ""
    key, equals, value = found.partition("=")
    word = value.strip()
    if equals and word in {"True", "False", "None", "null"}:
        return "true and false are small, and a key without value is left out"
    if equals and word[:1].isalpha() and key.isprintable():
        return f'a text stands in quotes: {key.strip()[:40]} = "…"'
    if found.endswith(":") or (":" in found and not equals):
        return "this is TOML: key = value, and tables begin with [name]"
    return ""


def _lowered(text: str) -> str:
    return text[:200] if text[1:2].isupper() else text[:1].lower() + text[1:200]


def _refused(code: str, place: str, message: str, hint: str = "") -> ConfigError:
    return ConfigError(Problem(code, place, message, hint))
