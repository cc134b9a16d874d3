"""What pydantic found, in our words: where it stands, what is there, what may stand there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import is_typeddict

from measurand.config.locate import Path
from measurand.config.secrets import is_secret, is_suspect, redact
from measurand.config.table import Table
from measurand.config.tree import Node, dotted, key_text, where
from measurand.config.work import CODE_HINT
from measurand.core.errors import Problem, did_you_mean

MAX_PROBLEMS: Final = 50
MAX_OF_A_KIND: Final = 200  # looked into for one message, so that a hostile file costs no minutes

_TYPES = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_LIMITS = {"greater_than": ("gt", "above"), "greater_than_equal": ("ge", "at least"), "less_than": ("lt", "below"), "less_than_equal": ("le", "at most")}
_EXPANSION = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,127})(?::[^}]*)?\}")
_PRIVATE = frozenset({"headers", "query", "extra_body"})  # whatever their keys are called
_UNSAID = frozenset({"secret_in_config", "not_a_variable", "bad_header"})
_LINE = re.compile(r"(.+?):(\d+)(?::|$)")
_CODE_KEYS = frozenset({"load", "import", "imports", "plugins", "plugin", "python", "exec", "script", "module", "modules"})


def described(root: Node, error: ValidationError, model: type[Table]) -> list[Problem]:
    """Every error of a validation as a problem, in the order of the file."""
    found = []
    for one in error.errors(include_url=False)[:MAX_OF_A_KIND]:
        path = path_of(one)
        code, message, hint = _sentence(one, path, model)
        place = where(root, path[:-1] if one["type"] == "missing" else path)
        found.append(Problem(code, place, redact(message), redact(hint)))
    return found


def path_of(one: ErrorDetails) -> Path:
    """Where an error stands in the config."""
    path: Path = tuple(part for part in one["loc"] if part != "[key]")
    key = one.get("ctx", {}).get("key")
    return (*path, key) if key is not None else path


def bounded(problems: Iterable[Problem]) -> list[Problem]:
    """At most MAX_PROBLEMS problems, each once, in the order of the files; the last says that there are more."""
    every = in_order(list(dict.fromkeys(islice(problems, 4 * MAX_OF_A_KIND))))
    if len(every) <= MAX_PROBLEMS:
        return every
    return [*every[:MAX_PROBLEMS], Problem("too_many_problems", "", f"and at least {len(every) - MAX_PROBLEMS} more problems", "mend these first")]


def in_order(problems: list[Problem]) -> list[Problem]:
    """File by file as they were first met, by line within each."""
    places = [_LINE.match(problem.where) for problem in problems]
    files = list(dict.fromkeys(place[1] if place else "" for place in places))
    ranked = sorted(zip(problems, places, strict=True), key=lambda pair: (files.index(pair[1][1]), int(pair[1][2])) if pair[1] else (files.index(""), 0))
    return [problem for problem, _ in ranked]


def shown(value: Any, path: Path) -> str:
    """A value as a message may show it: short, escaped, and not at all where its key is named like a secret."""
    names = [part for part in path if isinstance(part, str)]
    if not _PRIVATE.isdisjoint(names) or any(is_suspect(name) for name in names[-1:]):
        return "a value that is not shown"
    if isinstance(value, str):
        return repr(redact(value if len(value) <= 60 else value[:57] + "…"))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.6g}" if isinstance(value, float) else (str(value) if value.bit_length() < 200 else "a very long number")
    return "nothing" if value is None else "a table" if isinstance(value, Mapping) else "a list" if isinstance(value, list | tuple) else type(value).__name__


def _sentence(one: ErrorDetails, path: Path, model: type[Table]) -> tuple[str, str, str]:
    kind, ctx, value = one["type"], one.get("ctx", {}), one["input"]
    if kind == "refused":
        quoted = f"{shown(value, path)} " if ctx["key"] is None and isinstance(value, str) and ctx["code"] not in _UNSAID else ""
        return ctx["code"], quoted + ctx["message"], ctx["hint"]
    if kind == "extra_forbidden":
        return _unknown_key(path, model)
    if kind == "missing":
        return "missing_key", f"{key_text(path[-1])} is missing", f"write {key_text(path[-1])} = …"
    if kind == "literal_error":
        allowed = [part.strip("'") for part in str(ctx["expected"]).replace(" or ", ", ").split(", ")]
        near = did_you_mean(value, allowed) if isinstance(value, str) else ""
        return "invalid_value", f"is {shown(value, path)}", f"{near} allowed: {', '.join(allowed)}".strip()
    if kind in _LIMITS:
        limit, word = _LIMITS[kind]
        return "invalid_value", f"is {shown(value, path)}", f"allowed: a number {word} {ctx[limit]:g}"
    if kind in _TYPES:
        return "invalid_value", *_wrong_type(_TYPES[kind], value, path)
    if kind in {"string_too_short", "string_too_long"}:
        return "invalid_value", f"is {shown(value, path)}", "write one character" if path[-1] == "delimiter" else "write a text that is not empty"
    return "invalid_value", f"is {shown(value, path)}: {one['msg'][:1].lower()}{one['msg'][1:]}", ""


def _wrong_type(wanted: str, value: Any, path: Path) -> tuple[str, str]:
    if path == ("metrics",) and isinstance(value, list):
        code = any(isinstance(one, str) and ".py" in one for one in value)
        hint = 'the list of metrics is a key of [run]: metrics = ["NAME"]'
        return "is a list, and [metrics.NAME] are tables", f"{hint}; a config never runs code: {CODE_HINT}" if code else hint
    quotes = isinstance(value, str) and wanted in {"a number", "a whole number", "true or false"}
    return f"is {shown(value, path)}", f"write {wanted}{', without quotes' if quotes else ''}"


def _unknown_key(path: Path, model: type[Table]) -> tuple[str, str, str]:
    key = str(path[-1])
    here = model_at(model, path[:-1])
    allowed = keys_of(here) if here else []
    if is_secret(key) and not is_suspect_known(key, allowed):
        env = "api_key_env" if "api_key_env" in allowed else "api_key_env of its [models.NAME]"
        return "secret_in_config", f"unknown key {key_text(key)}: a secret may not stand in a file", f'write {env} = "NAME_OF_A_VARIABLE" and set that variable'
    if key.lower() in _CODE_KEYS:
        return "unknown_key", f"unknown key {key_text(key)}: a config never runs code", CODE_HINT
    near = did_you_mean(key, allowed)
    elsewhere = [] if near else sorted(section for section, keys in sections(model).items() if key in keys)
    hint = near or (f"it is a key of {' and of '.join(elsewhere)}" if elsewhere else f"allowed: {', '.join(allowed)}")
    return "unknown_key", f"unknown key {key_text(key)}", hint


def is_suspect_known(key: str, allowed: Iterable[str]) -> bool:
    """Whether a secret-like key is only a misspelt allowed one, e.g. api_key_en."""
    return key.lower().startswith("api_key_") and bool(did_you_mean(key, allowed))


def keys_of(model: type[Any]) -> list[str]:
    """The keys a table takes, as they are typed."""
    return list(model.model_fields if issubclass(model, BaseModel) else model.__annotations__)


def model_at(model: type[BaseModel], path: Path) -> type[Any] | None:
    """Which table stands at a path, None when it is no table of ours."""
    here: Any = model
    for part in path:
        table = _table_in(here)
        if table is None:
            return None
        field = here.model_fields.get(str(part)) if isinstance(here, type) and issubclass(here, BaseModel) else None
        here = field.annotation if field is not None else _inner(here)
    return _table_in(here) if not _is_mapping(here) else None


def _is_mapping(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) is dict


def _inner(annotation: Any) -> Any:
    return next((part for part in reversed(get_args(annotation)) if _table_in(part) is not None), None)


def _table_in(annotation: Any) -> type[Any] | None:
    if isinstance(annotation, type) and (is_typeddict(annotation) or issubclass(annotation, BaseModel)):
        return annotation
    return next((found for part in get_args(annotation) if (found := _table_in(part)) is not None), None)


def sections(model: type[BaseModel]) -> dict[str, list[str]]:
    """Each table of the file by its header → the keys it takes: to say where a misplaced key belongs."""
    found = {"the top of the file, above the first [table]": keys_of(model)}
    for name, field in model.model_fields.items():
        table = _table_in(field.annotation)
        if table is None:
            continue
        header = f"[[{name}]]" if name == "questions" else f"[{name}.NAME]" if _is_mapping(field.annotation) else f"[{name}]"
        found[header] = keys_of(table)
        for inner, part in table.model_fields.items() if name == "gate" else ():
            if _is_mapping(part.annotation) and (deeper := _table_in(part.annotation)) is not None:
                found[f"[{name}.{inner}.NAME]"] = keys_of(deeper)
    return found


def unexpanded(root: Node) -> Iterable[Problem]:
    """A problem for each ${VAR}: nothing is expanded, and nothing that looks expanded is sent."""
    pending: list[tuple[Path, Node]] = [((), root)]
    while pending:
        path, node = pending.pop()
        pending += reversed([((*path, key), child) for key, child in node.children()])
        variable = _variable_in(node.content)
        if variable:
            yield Problem("variable_expansion", where(root, path), f"holds ${{{variable}}}, and no variable is expanded here", _expansion_hint(path, variable))


def _variable_in(value: Any) -> str:
    found = _EXPANSION.search(value) if isinstance(value, str) else None
    return found[1] if found else ""


def _expansion_hint(path: Path, variable: str) -> str:
    if "headers" in path:
        return f'write headers_env = {{ {key_text(path[-1])} = "{variable}" }}'
    if path == ("run", "store"):
        return f'write store_env = "{variable}"'
    if path and is_suspect(str(path[-1])):
        return f'write api_key_env = "{variable}"'
    return f"write the value itself, or give it when running: --set '{dotted(path)}=…'; keys are named by api_key_env"
