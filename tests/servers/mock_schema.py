"""A value that satisfies a JSON Schema and looks like a judge's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.servers.mock_settings import Settings
from tests.servers.mock_text import first_of, last_question, numbered_items, sentences

Schema = Mapping[str, Any]
Says = Callable[[str], bool]


class Filler:
    """Fills one reply. `says(item)` decides yes or no for what is asked."""

    def __init__(self, settings: Settings, prompt: str, says: Says) -> None:
        self._settings = settings
        self._prompt = prompt
        self._says = says
        self._items = numbered_items(prompt)
        self._root: Schema = {}

    def filled(self, schema: Schema) -> Any:
        self._root = schema
        return self._value(schema, "", 0)

    def _value(self, schema: Schema, name: str, index: int) -> Any:
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._one_of(schema["enum"], name, index)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = first_of([one for one in kind if one != "null"], ("object", "array"))
        if kind == "object":
            return {key: self._value(part, key, index) for key, part in schema.get("properties", {}).items()}
        if kind == "array":
            return self._list(schema, name)
        if kind == "boolean":
            return self._says(self._asked(name, index))
        if kind in {"integer", "number"}:
            return self._number(schema, kind)
        return self._text(name, index)

    def _resolved(self, schema: Schema) -> Schema:
        for _ in range(20):
            if "$ref" in schema:
                target: Any = self._root
                for part in str(schema["$ref"]).removeprefix("#/").split("/"):
                    target = target[part]
                schema = target
            elif "anyOf" in schema or "oneOf" in schema:
                schema = next(one for one in schema.get("anyOf") or schema["oneOf"] if one.get("type") != "null")
            else:
                break
        return schema

    def _one_of(self, options: list[Any], name: str, index: int) -> Any:
        folded = {str(one).lower() for one in options}
        if {"yes", "no"} <= folded:
            word = "yes" if self._says(self._asked(name, index)) else "no"
            return next(one for one in options if str(one).lower() == word)
        if self._settings.score is not None:
            wanted = f"{self._settings.score:g}"
            return next((one for one in options if str(one) == wanted), options[0])
        return options[max(0, len(options) - 2)]

    def _list(self, schema: Schema, name: str) -> list[Any]:
        item = self._resolved(schema.get("items", {"type": "string"}))
        least = schema.get("minItems", 0)
        most = schema.get("maxItems", 1_000_000)
        length = max(least, min(self._settings.list_len, most))
        if item.get("type") == "string" and "enum" not in item and "question" not in name and "text" not in name:
            found = sentences(self._prompt, length)
            return found if len(found) >= least else (found * (least + 1))[:length]
        return [self._value(item, name, index) for index in range(length)]

    def _number(self, schema: Schema, kind: str) -> float | int:
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        value = self._settings.score if self._settings.score is not None else low + (high - low) * 0.8
        return int(value) if kind == "integer" else value

    def _text(self, name: str, index: int) -> str:
        if "verdict" in name:
            return "yes" if self._says(self._asked(name, index)) else "no"
        if "question" in name or "text" in name:
            return last_question(self._prompt)
        return "The text supports this point directly."

    def _asked(self, name: str, index: int) -> str:
        return self._items[index] if index < len(self._items) else f"{name} {index}"
