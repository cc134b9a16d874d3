"""`--set SECTION.KEY=VALUE`: one key of the config, written on the command line as it would stand in the file."""

from __future__ import annotations

import shlex
from typing import Any, Final

import tomli
from attrs import frozen

from measurand.config.secrets import is_suspect, redact
from measurand.config.tree import Node, dotted, grow, put
from measurand.core.errors import ConfigError, Problem

MAX_CHARACTERS: Final = 100_000
_FORM: Final = "write SECTION.KEY=VALUE, e.g. --set run.draws=3 or --set 'run.mode=\"live\"'"


@frozen
class Override:
    """One `--set`: the key's path and its value, a TOML value."""

    path: tuple[str, ...]
    value: Any


def parse_override(text: str) -> Override:
    """Read one `--set`. Raises ConfigError that shows what to type."""
    key_part, equals, value_part = _split(text)
    if not equals:
        raise ConfigError(Problem("invalid_override", "--set", f"{_short(text)!r} has no '='", _FORM))
    path = _path(key_part)
    if path == ("extends",):
        raise ConfigError(Problem("invalid_override", "--set extends", "only a file can extend another", "write extends in the file"))
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(Problem("invalid_override", f"--set {dotted(path)}", f"is longer than {MAX_CHARACTERS} characters", "write it in the file"))
    return Override(path, _value(path, value_part))


def apply_overrides(root: Node, texts: tuple[str, ...]) -> tuple[Node, list[Problem]]:
    """The tree with every `--set` laid over it, the last of one key winning, and what was wrong with them."""
    problems: list[Problem] = []
    for text in texts:
        try:
            override = parse_override(text)
        except ConfigError as error:
            problems += error.problems
            continue
        name = f"--set {dotted(override.path)}"
        grown = grow({"value": override.value}, name, {})
        problems += [Problem(one.code, name, one.message, one.hint) for one in grown.problems]
        node = grown.root.child("value")
        if node is None:
            continue
        changed = put(root, override.path, node)
        if changed is None:
            problems.append(Problem("invalid_override", name, "goes into something that is no table", _FORM))
        root = changed if changed is not None else root
    return root, problems


def _split(text: str) -> tuple[str, str, str]:
    """Key and value at the first equals sign outside quotes."""
    quote = ""
    for at, character in enumerate(text[:1000]):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "=":
            return text[:at], "=", text[at + 1 :]
    return text, "", ""


def _path(key: str) -> tuple[str, ...]:
    where = f"--set {_short(key)}"
    try:
        table: Any = tomli.loads(f"{key} = 0")
    except (ValueError, RecursionError):
        raise ConfigError(Problem("invalid_override", where, f"{_short(key)!r} is no key", _FORM)) from None
    path: list[str] = []
    while isinstance(table, dict):
        if len(table) != 1 or len(path) > 32:
            raise ConfigError(Problem("invalid_override", where, f"{_short(key)!r} is not one key", _FORM))
        ((name, table),) = table.items()
        path.append(name)
    return tuple(path)


def _value(path: tuple[str, ...], text: str) -> Any:
    try:
        table = tomli.loads(f"value = {text}")
        if set(table) == {"value"}:
            return table["value"]
    except (ValueError, RecursionError):
        pass
    key = dotted(path)
    secret = is_suspect(path[-1])
    shown = "the value" if secret else repr(_short(redact(text)))
    typed = "…" if secret else redact(text).strip()
    quoted = '"' + typed.replace("\\", "\\\\").replace('"', '\\"') + '"'
    fits = len(typed) <= 200 and typed.isprintable()
    hint = f"a text is quoted: --set {shlex.quote(f'{key}={quoted}')}" if fits else "a text is quoted, and the whole in single quotes for the shell"
    raise ConfigError(Problem("invalid_override", f"--set {key}", f"{shown} is no TOML value", hint))


def _short(text: str) -> str:
    shown = text if len(text) <= 60 else text[:57] + "…"
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in redact(shown))
